/** The handle of a multipart upload. */
import { call } from "./call.ts";
import { isObject, toInt, toText, wrongElement, wrongParameter } from "./convert.ts";
import { readUploadPartOptions } from "./options.ts";
import { dress, illegalInvocation, setFields, Uncloneable } from "./platform-object.ts";
import type { StoreTransport, WireObject } from "./protocol.ts";
import { HeadResult } from "./results.ts";
import { toSsecKey } from "./ssec-key.ts";
import type { StoreObject, StoreUploadedPart } from "./types.ts";
import { readValue, toBody } from "./value.ts";

const TAG = "StoreMultipartUpload";
const MAX_PARTS = 10_000;

export class MultipartUpload extends Uncloneable {
  declare readonly key: string;
  declare readonly uploadId: string;
  readonly #transport: StoreTransport;
  readonly #ids: { readonly key: string; readonly uploadId: string };
  readonly #showsAbsent: boolean;

  static {
    dress(this, TAG);
  }

  constructor(transport: StoreTransport, key: string, uploadId: string, showsAbsent: boolean) {
    super();
    this.#transport = transport;
    this.#ids = { key, uploadId };
    this.#showsAbsent = showsAbsent;
    setFields(this, { uploadId, key });
  }

  static #of(self: unknown): MultipartUpload {
    if (typeof self === "object" && self !== null && #transport in self) return self;
    throw illegalInvocation();
  }

  uploadPart(...args: unknown[]): Promise<StoreUploadedPart> {
    return MultipartUpload.#of(this).#uploadPart(args);
  }

  abort(): Promise<void> {
    return MultipartUpload.#of(this).#abort();
  }

  complete(...args: unknown[]): Promise<StoreObject> {
    return MultipartUpload.#of(this).#complete(args);
  }

  async #uploadPart(args: unknown[]): Promise<StoreUploadedPart> {
    if (args.length === 0) throw wrongParameter("uploadPart", 1, "integer", TAG);
    const partNumber = toInt(args[0]);
    const value = readValue(args, "uploadPart");
    const { ssecKey } = readUploadPartOptions(args[2]);
    checkPartNumber(partNumber);
    const key = toSsecKey(ssecKey);
    const request = { method: "uploadPart", ...this.#ids, partNumber, ...key } as const;
    const answer = await call(this.#transport, request, toBody(value));
    const { etag } = (answer as { result: { etag: string } }).result;
    return { partNumber, etag };
  }

  async #abort(): Promise<void> {
    await call(this.#transport, { method: "abortMultipartUpload", ...this.#ids });
  }

  async #complete(args: unknown[]): Promise<StoreObject> {
    const parts = readParts(args[0]);
    for (const { partNumber } of parts) checkPartNumber(partNumber);
    const request = { method: "completeMultipartUpload", ...this.#ids, parts } as const;
    const answer = await call(this.#transport, request);
    const { result } = answer as { result: WireObject };
    return new HeadResult(result, this.#showsAbsent);
  }
}

function readParts(given: unknown): StoreUploadedPart[] {
  if (!Array.isArray(given)) throw wrongParameter("complete", 1, "Array", TAG);
  return Array.from(given, (part: unknown, i) => {
    if (!isObject(part)) throw wrongElement(i, "UploadedPart");
    const { partNumber, etag } = part;
    return { partNumber: toInt(partNumber), etag: toText(etag) };
  });
}

function checkPartNumber(partNumber: number): void {
  if (partNumber >= 1 && partNumber <= MAX_PARTS) return;
  throw new TypeError(
    `Part number must be between 1 and ${MAX_PARTS} (inclusive). Actual value was: ${partNumber}`,
  );
}
