/** The handle of a multipart upload. */
import { call } from "./call.ts";
import { toInt, toOptions, toText, wrongElement, wrongParameter } from "./convert.ts";
import type { StoreTransport, WireObject } from "./protocol.ts";
import { HeadResult } from "./results.ts";
import { illegalInvocation } from "./this.ts";
import type { StoreObject, StoreUploadedPart } from "./types.ts";
import { toBody } from "./value.ts";

const ON = "StoreMultipartUpload";
const MAX_PARTS = 10_000;

export class MultipartUpload {
  declare readonly key: string;
  declare readonly uploadId: string;
  readonly #transport: StoreTransport;

  constructor(transport: StoreTransport, key: string, uploadId: string) {
    this.#transport = transport;
    for (const [name, value] of Object.entries({ uploadId, key })) {
      Object.defineProperty(this, name, { get: () => value, enumerable: true, configurable: true });
    }
  }

  uploadPart(...args: unknown[]): Promise<StoreUploadedPart> {
    if (!(#transport in this)) throw illegalInvocation();
    return this.#uploadPart(args);
  }

  abort(): Promise<void> {
    if (!(#transport in this)) throw illegalInvocation();
    return this.#abort();
  }

  complete(...args: unknown[]): Promise<StoreObject> {
    if (!(#transport in this)) throw illegalInvocation();
    return this.#complete(args);
  }

  async #uploadPart(args: unknown[]): Promise<StoreUploadedPart> {
    if (args.length === 0) throw wrongParameter("uploadPart", 1, "int", ON);
    const partNumber = checkedPartNumber(toInt(args[0]));
    const body = toBody(args[1], { method: "uploadPart", on: ON, mayBeNull: false });
    toOptions(args[2], "UploadPartOptions", "uploadPart", 3, ON);
    const { key, uploadId } = this;
    const answer = await call(
      this.#transport,
      { method: "uploadPart", key, uploadId, partNumber },
      body,
    );
    const { etag } = (answer as { result: { etag: string } }).result;
    return { partNumber, etag };
  }

  async #abort(): Promise<void> {
    const { key, uploadId } = this;
    await call(this.#transport, { method: "abortMultipartUpload", key, uploadId });
  }

  async #complete(args: unknown[]): Promise<StoreObject> {
    const [given] = args;
    if (!Array.isArray(given)) throw wrongParameter("complete", 1, "Array", ON);
    const parts = given.map((part: unknown, i) => {
      if (typeof part !== "object" && typeof part !== "function")
        throw wrongElement(i, "UploadedPart");
      if (part === null) throw wrongElement(i, "UploadedPart");
      const { partNumber, etag } = part as { partNumber: unknown; etag: unknown };
      return { partNumber: toInt(partNumber), etag: toText(etag) };
    });
    for (const { partNumber } of parts) checkedPartNumber(partNumber);
    const { key, uploadId } = this;
    const request = { method: "completeMultipartUpload", key, uploadId, parts } as const;
    const answer = await call(this.#transport, request);
    return new HeadResult((answer as { result: WireObject }).result) as StoreObject;
  }

  get [Symbol.toStringTag](): string {
    return ON;
  }
}

function checkedPartNumber(partNumber: number): number {
  if (partNumber >= 1 && partNumber <= MAX_PARTS) return partNumber;
  throw new TypeError(
    `Part number must be between 1 and ${MAX_PARTS} (inclusive). Actual value was: ${partNumber}`,
  );
}
