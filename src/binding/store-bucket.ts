/**
 * The bucket that scripts and programs hold. One class for every place: what differs is the transport.
 * Arguments are checked here, before anything is sent; what needs stored state, the store checks.
 */
import { call } from "./call.ts";
import { textField, toInt, toOptions, toText, wrongField, wrongParameter } from "./convert.ts";
import { toConditions } from "./conditional.ts";
import { toChecksum, toStorageClass, toWrite } from "./metadata.ts";
import { MultipartUpload } from "./multipart.ts";
import type { StoreRequest, StoreTransport, WireList, WireObject } from "./protocol.ts";
import { toRange } from "./range.ts";
import { GetResult, HeadResult } from "./results.ts";
import { illegalInvocation } from "./this.ts";
import type * as types from "./types.ts";
import { cancelValue, toBody } from "./value.ts";

/** What the compatibility date and flags of a script decide. */
export interface Compatibility {
  /** `include` of a list counts; else both kinds of metadata always come. */
  readonly honorsInclude: boolean;
  /** Prefixes of a list end in the delimiter. */
  readonly keepsDelimiter: boolean;
  /** A list's `cursor` is there, undefined, even when nothing remains. */
  readonly showsAbsent: boolean;
}

/** Of programs, and of scripts of today. */
export const newest: Compatibility = {
  honorsInclude: true,
  keepsDelimiter: false,
  showsAbsent: true,
};

type Include = "httpMetadata" | "customMetadata";
const EVERYTHING: Include[] = ["httpMetadata", "customMetadata"];

export class Bucket {
  readonly #transport: StoreTransport;
  readonly #compatibility: Compatibility;

  constructor(transport: StoreTransport, compatibility: Compatibility = newest) {
    this.#transport = transport;
    this.#compatibility = compatibility;
  }

  // A method that lost its object throws at once; all else that is wrong is a rejection.

  head(...args: unknown[]): Promise<types.StoreObject | null> {
    if (!(#transport in this)) throw illegalInvocation();
    return this.#head(args);
  }

  get(...args: unknown[]): Promise<types.StoreObjectBody | types.StoreObject | null> {
    if (!(#transport in this)) throw illegalInvocation();
    return this.#get(args);
  }

  put(...args: unknown[]): Promise<types.StoreObject | null> {
    if (!(#transport in this)) throw illegalInvocation();
    return this.#put(args);
  }

  delete(...args: unknown[]): Promise<void> {
    if (!(#transport in this)) throw illegalInvocation();
    return this.#delete(args);
  }

  list(...args: unknown[]): Promise<types.StoreObjects> {
    if (!(#transport in this)) throw illegalInvocation();
    return this.#list(args);
  }

  createMultipartUpload(...args: unknown[]): Promise<types.StoreMultipartUpload> {
    if (!(#transport in this)) throw illegalInvocation();
    return this.#createMultipartUpload(args);
  }

  resumeMultipartUpload(...args: unknown[]): types.StoreMultipartUpload {
    if (!(#transport in this)) throw illegalInvocation();
    if (args.length < 2) throw wrongParameter("resumeMultipartUpload", args.length + 1, "string");
    return this.#upload(toText(args[0]), toText(args[1]));
  }

  get [Symbol.toStringTag](): string {
    return "StoreBucket";
  }

  async #head(args: unknown[]): Promise<types.StoreObject | null> {
    const answer = await call(this.#transport, { method: "head", key: keyOf(args, "head") });
    if (answer.kind !== "done") return null;
    return new HeadResult(answer.result as WireObject) as types.StoreObject;
  }

  async #get(args: unknown[]): Promise<types.StoreObjectBody | types.StoreObject | null> {
    const key = keyOf(args, "get");
    const options = toOptions(args[1], "GetOptions", "get", 2);
    const onlyIf = toConditions(options["onlyIf"], "GetOptions");
    const range = toRange(options["range"]);
    const request: StoreRequest = { method: "get", key, ...(onlyIf && { onlyIf }), ...range };
    const answer = await call(this.#transport, request);
    if (answer.kind === "missing") return null;
    const object = answer.result as WireObject;
    if (answer.kind === "condition failed") return new HeadResult(object) as types.StoreObject;
    return new GetResult(object, answer.body ?? new Uint8Array(0)) as types.StoreObjectBody;
  }

  async #put(args: unknown[]): Promise<types.StoreObject | null> {
    const [, value] = args;
    let request: StoreRequest;
    try {
      const key = keyOf(args, "put");
      if (args.length < 2)
        toBody(undefined, { method: "put", on: "StoreBucket", mayBeNull: false });
      const options = toOptions(args[2], "PutOptions", "put", 3);
      const onlyIf = toConditions(options["onlyIf"], "PutOptions");
      const write = toWrite(options, "PutOptions");
      const checksum = toChecksum(options);
      request = {
        method: "put",
        key,
        ...(onlyIf && { onlyIf }),
        ...write,
        ...(checksum && { checksum }),
        ...toStorageClass(options),
      };
    } catch (error) {
      cancelValue(value);
      throw error;
    }
    const body = toBody(value, { method: "put", on: "StoreBucket", mayBeNull: true });
    const answer = await call(this.#transport, request, body);
    if (answer.kind !== "done") return null;
    return new HeadResult(answer.result as WireObject) as types.StoreObject;
  }

  async #delete(args: unknown[]): Promise<void> {
    if (args.length === 0) throw wrongParameter("delete", 1, "string or Array");
    const [given] = args;
    const keys = Array.isArray(given) ? given.map(toText) : [toText(given)];
    await call(this.#transport, { method: "delete", keys });
  }

  async #list(args: unknown[]): Promise<types.StoreObjects> {
    const options = toOptions(args[0], "ListOptions", "list", 1);
    const limit = options["limit"] === undefined ? undefined : toInt(options["limit"]);
    const texts: Record<string, string> = {};
    for (const field of ["prefix", "cursor", "delimiter", "startAfter"]) {
      const text = textField(options[field], field, "ListOptions");
      if (text !== undefined && text !== "") texts[field] = text;
    }
    const included = toInclude(options["include"]);
    const { honorsInclude, keepsDelimiter, showsAbsent } = this.#compatibility;
    const answer = await call(this.#transport, {
      method: "list",
      ...(limit !== undefined && { limit }),
      ...texts,
      include: honorsInclude ? included : EVERYTHING,
    });
    const { objects, truncated, cursor, prefixes } = (answer as { result: WireList }).result;
    const tail = keepsDelimiter ? 0 : (texts["delimiter"]?.length ?? 0);
    return {
      objects: objects.map((object) => new HeadResult(object) as types.StoreObject),
      truncated,
      ...((cursor !== undefined || showsAbsent) && { cursor: cursor as string }),
      delimitedPrefixes: prefixes.map((prefix) => prefix.slice(0, prefix.length - tail)),
    };
  }

  async #createMultipartUpload(args: unknown[]): Promise<types.StoreMultipartUpload> {
    const key = keyOf(args, "createMultipartUpload");
    const options = toOptions(args[1], "MultipartOptions", "createMultipartUpload", 2);
    const write = toWrite(options, "MultipartOptions");
    const storageClass = toStorageClass(options);
    const request: StoreRequest = {
      method: "createMultipartUpload",
      key,
      ...write,
      ...storageClass,
    };
    const answer = await call(this.#transport, request);
    const { uploadId } = (answer as { result: { uploadId: string } }).result;
    return this.#upload(key, uploadId);
  }

  #upload(key: string, uploadId: string): types.StoreMultipartUpload {
    return new MultipartUpload(this.#transport, key, uploadId) as types.StoreMultipartUpload;
  }
}

function keyOf(args: readonly unknown[], method: string): string {
  if (args.length === 0) throw wrongParameter(method, 1, "string");
  return toText(args[0]);
}

function toInclude(value: unknown): Include[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw wrongField("include", "ListOptions", "Array");
  return value.map((one: unknown) => {
    const text = toText(one);
    if (!EVERYTHING.includes(text as Include))
      throw new RangeError(`Unsupported include value ${text}`);
    return text as Include;
  });
}

/** The bucket behind a transport. */
export function bucketOver(
  transport: StoreTransport,
  compatibility?: Compatibility,
): types.StoreBucket {
  return new Bucket(transport, compatibility) as types.StoreBucket;
}
