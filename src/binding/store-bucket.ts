/**
 * The bucket that scripts and programs hold. One class for every place: what differs is the transport.
 * Arguments are checked here, before anything is sent: first all of their types, then what they say.
 * What needs stored state, the store checks.
 */
import { call } from "./call.ts";
import { toChecksum } from "./checksum.ts";
import { toConditions } from "./conditional.ts";
import { toText, wrongParameter } from "./convert.ts";
import { Habit } from "./lending.ts";
import { MultipartUpload } from "./multipart.ts";
import {
  readGetOptions,
  readListOptions,
  readMultipartOptions,
  readPutOptions,
} from "./options.ts";
import { dress, illegalInvocation, Uncloneable } from "./platform-object.ts";
import type { StoreTransport, WireList, WireObject } from "./protocol.ts";
import { toRange } from "./range.ts";
import { GetResult, HeadResult } from "./results.ts";
import { toSsecKey } from "./ssec-key.ts";
import type * as types from "./types.ts";
import { cancelValue, readValue, toBody } from "./value.ts";

/** What the compatibility date and flags of a script decide. */
export interface Compatibility {
  /** `include` of a list counts; else both kinds of metadata always come. */
  readonly honorsInclude: boolean;
  /** Prefixes of a list end in the delimiter. */
  readonly keepsDelimiter: boolean;
  /** Fields that a result may lack are there and undefined: `cursor`, those of `httpMetadata`. */
  readonly showsAbsent: boolean;
}

/** Of programs. */
const usual: Compatibility = { honorsInclude: true, keepsDelimiter: false, showsAbsent: false };

type Include = "httpMetadata" | "customMetadata";
const EVERYTHING: readonly Include[] = ["httpMetadata", "customMetadata"];

class StoreBucket extends Uncloneable {
  readonly #transport: StoreTransport;
  readonly #compatibility: Compatibility;
  readonly #habit = new Habit();

  static {
    dress(this, "StoreBucket");
  }

  constructor(transport?: StoreTransport, compatibility: Compatibility = usual) {
    if (transport === undefined) throw new TypeError("Illegal constructor");
    super();
    this.#transport = transport;
    this.#compatibility = compatibility;
  }

  /** A method that lost its object throws at once; all else that is wrong is a rejection. */
  static #of(self: unknown): StoreBucket {
    if (typeof self === "object" && self !== null && #transport in self) return self;
    throw illegalInvocation();
  }

  head(...args: unknown[]): Promise<types.StoreObject | null> {
    return StoreBucket.#of(this).#head(args);
  }

  get(...args: unknown[]): Promise<types.StoreObjectBody | types.StoreObject | null> {
    return StoreBucket.#of(this).#get(args);
  }

  put(...args: unknown[]): Promise<types.StoreObject | null> {
    return StoreBucket.#of(this).#put(args);
  }

  createMultipartUpload(...args: unknown[]): Promise<types.StoreMultipartUpload> {
    return StoreBucket.#of(this).#createMultipartUpload(args);
  }

  resumeMultipartUpload(...args: unknown[]): types.StoreMultipartUpload {
    const self = StoreBucket.#of(this);
    const key = keyOf(args, "resumeMultipartUpload");
    if (args.length < 2) throw wrongParameter("resumeMultipartUpload", 2, "string");
    return self.#upload(key, toText(args[1]));
  }

  delete(...args: unknown[]): Promise<void> {
    return StoreBucket.#of(this).#delete(args);
  }

  list(...args: unknown[]): Promise<types.StoreObjects> {
    return StoreBucket.#of(this).#list(args);
  }

  async #head(args: unknown[]): Promise<types.StoreObject | null> {
    const answer = await call(this.#transport, { method: "head", key: keyOf(args, "head") });
    return answer.kind === "done" ? this.#object(answer.result) : null;
  }

  async #get(args: unknown[]): Promise<types.StoreObjectBody | types.StoreObject | null> {
    const key = keyOf(args, "get");
    const { onlyIf, range, ssecKey } = readGetOptions(args[1]);
    const asked = { ...toConditions(onlyIf), ...toRange(range), ...toSsecKey(ssecKey) };
    const lends = this.#transport.lends === true && this.#habit.passesOn;
    const request = { method: "get", key, ...asked, ...(lends && { lends }) } as const;
    const answer = await call(this.#transport, request);
    if (answer.kind === "missing") return null;
    if (answer.kind === "condition failed") return this.#object(answer.result);
    const { showsAbsent } = this.#compatibility;
    const body = answer.body ?? new Uint8Array(0);
    return new GetResult(answer.result as WireObject, showsAbsent, body, this.#habit);
  }

  async #put(args: unknown[]): Promise<types.StoreObject | null> {
    const key = keyOf(args, "put");
    const value = readValue(args, "put");
    const options = readPutOptions(args[2]);
    let request;
    try {
      request = {
        method: "put",
        key,
        ...toConditions(options.onlyIf),
        ...options.metadata,
        ...toChecksum(options.checksums),
        ...(options.storageClass !== undefined && { storageClass: options.storageClass }),
        ...toSsecKey(options.ssecKey),
      } as const;
    } catch (error) {
      cancelValue(value);
      throw error;
    }
    const answer = await call(this.#transport, request, toBody(value));
    return answer.kind === "done" ? this.#object(answer.result) : null;
  }

  async #createMultipartUpload(args: unknown[]): Promise<types.StoreMultipartUpload> {
    const key = keyOf(args, "createMultipartUpload");
    const { metadata, storageClass, ssecKey } = readMultipartOptions(args[1]);
    const answer = await call(this.#transport, {
      method: "createMultipartUpload",
      key,
      ...metadata,
      ...(storageClass !== undefined && { storageClass }),
      ...toSsecKey(ssecKey),
    });
    const { uploadId } = (answer as { result: { uploadId: string } }).result;
    return this.#upload(key, uploadId);
  }

  async #delete(args: unknown[]): Promise<void> {
    if (args.length === 0) throw wrongParameter("delete", 1, "string or Array");
    const [given] = args;
    const keys = Array.isArray(given) ? Array.from(given, toText) : [toText(given)];
    await call(this.#transport, { method: "delete", keys });
  }

  async #list(args: unknown[]): Promise<types.StoreObjects> {
    const { limit, include, ...texts } = readListOptions(args[0]);
    const included = checkInclude(include);
    const { honorsInclude, keepsDelimiter, showsAbsent } = this.#compatibility;
    const given = Object.entries(texts).filter(([, text]) => text !== undefined && text !== "");
    const answer = await call(this.#transport, {
      method: "list",
      ...(limit !== undefined && { limit }),
      ...Object.fromEntries(given),
      include: honorsInclude ? included : [...EVERYTHING],
    });
    const { objects, truncated, cursor, prefixes } = (answer as { result: WireList }).result;
    const tail = keepsDelimiter ? 0 : (texts.delimiter ?? "").length;
    return {
      objects: objects.map((object) => new HeadResult(object, showsAbsent, true)),
      truncated,
      ...((cursor !== undefined || showsAbsent) && { cursor: cursor as string }),
      delimitedPrefixes: prefixes.map((prefix) => prefix.slice(0, prefix.length - tail)),
    };
  }

  #object(result: unknown): types.StoreObject {
    const { showsAbsent } = this.#compatibility;
    return new HeadResult(result as WireObject, showsAbsent);
  }

  #upload(key: string, uploadId: string): types.StoreMultipartUpload {
    const { showsAbsent } = this.#compatibility;
    const transport = this.#transport;
    return new MultipartUpload(transport, key, uploadId, showsAbsent);
  }
}

function keyOf(args: readonly unknown[], method: string): string {
  if (args.length === 0) throw wrongParameter(method, 1, "string");
  return toText(args[0]);
}

function checkInclude(values: readonly string[]): Include[] {
  return values.map((value) => {
    const known = EVERYTHING.find((one) => one === value);
    if (known === undefined) throw new RangeError(`Unsupported include value ${value}`);
    return known;
  });
}

/** The bucket behind a transport. */
export function bucketOver(
  transport: StoreTransport,
  compatibility?: Compatibility,
): types.StoreBucket {
  return new StoreBucket(transport, compatibility) as types.StoreBucket;
}
