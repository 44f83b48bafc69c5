/** What the bucket returns: objects with and without their octets. */
import { fromHex } from "./convert.ts";
import { showHttpFields, writeHeaders } from "./metadata.ts";
import { dress, illegalInvocation, setFields, Uncloneable } from "./platform-object.ts";
import type { Habit } from "./lending.ts";
import {
  ALGORITHMS,
  type Algorithm,
  type LentOctets,
  type Octets,
  type WireObject,
} from "./protocol.ts";
import { StoredBody } from "./stored-body.ts";
import type { StorageClass, StoreChecksums, StoreHTTPMetadata } from "./types.ts";

/** An object's metadata. The name is the runtime's: messages have it. */
export class HeadResult extends Uncloneable {
  declare readonly key: string;
  declare readonly version: string;
  declare readonly size: number;
  declare readonly etag: string;
  declare readonly httpEtag: string;
  declare readonly uploaded: Date;
  declare readonly httpMetadata?: StoreHTTPMetadata;
  declare readonly customMetadata?: Record<string, string>;
  declare readonly range?: { readonly offset: number; readonly length: number };
  declare readonly checksums: StoreChecksums;
  declare readonly storageClass: StorageClass;
  declare readonly ssecKeyMd5?: string;
  /** As it came, whatever is done to the fields. */
  readonly #object: WireObject;

  static {
    dress(this, "HeadResult");
  }

  constructor(object: WireObject, showsAbsent: boolean, isListed = false) {
    super();
    this.#object = object;
    const fields = fieldsOf(object, showsAbsent);
    // Differs from the original: what a list gives can be assigned to. To forbid it takes longer than all else.
    if (isListed) Object.assign(this, fields);
    else setFields(this, fields);
  }

  static #of(self: unknown): HeadResult {
    if (typeof self === "object" && self !== null && #object in self) return self;
    throw illegalInvocation();
  }

  writeHttpMetadata(...[headers]: unknown[]): void {
    const { http, key } = HeadResult.#of(this).#object;
    if (!(headers instanceof Headers)) {
      throw new TypeError(
        "Failed to execute 'writeHttpMetadata' on 'HeadResult': parameter 1 is not of type 'Headers'.",
      );
    }
    if (http === undefined) {
      throw new TypeError(
        `HTTP metadata unknown for key \`${key}\`. Did you forget to add 'httpMetadata' to \`include\` when listing?`,
      );
    }
    writeHeaders(http, headers);
  }
}

/** In the order in which the original lists them. */
function fieldsOf(object: WireObject, showsAbsent: boolean) {
  const { http, custom, range, etag } = object;
  return {
    ssecKeyMd5: object.ssecKeyMd5,
    storageClass: object.storageClass,
    range: range && {
      offset: range.offset,
      length: range.length,
      ...(showsAbsent && { suffix: undefined }),
    },
    customMetadata: custom && { ...custom },
    httpMetadata: http && showHttpFields(http, showsAbsent),
    uploaded: new Date(object.uploaded),
    checksums: new Checksums(object.checksums),
    httpEtag: `"${etag}"`,
    etag,
    size: object.size,
    version: object.version,
    key: object.key,
  };
}

/** An object with its octets. */
export class GetResult extends HeadResult {
  readonly #body: StoredBody;

  static {
    dress(this, "GetResult");
  }

  constructor(object: WireObject, showsAbsent: boolean, octets: Octets | LentOctets, habit: Habit) {
    super(object, showsAbsent);
    const length = object.range?.length ?? object.size;
    this.#body = new StoredBody(octets, length, object.http?.contentType ?? "", habit);
  }

  static #bodyOf(self: unknown): StoredBody {
    if (typeof self === "object" && self !== null && #body in self) return self.#body;
    throw illegalInvocation();
  }

  get body(): ReadableStream<Uint8Array> {
    return GetResult.#bodyOf(this).stream;
  }

  get bodyUsed(): boolean {
    return GetResult.#bodyOf(this).used;
  }

  arrayBuffer(): Promise<ArrayBuffer> {
    return GetResult.#bodyOf(this).arrayBuffer();
  }

  bytes(): Promise<Uint8Array> {
    return GetResult.#bodyOf(this).bytes();
  }

  text(): Promise<string> {
    return GetResult.#bodyOf(this).text();
  }

  json<T>(): Promise<T> {
    return GetResult.#bodyOf(this).json<T>();
  }

  blob(): Promise<Blob> {
    return GetResult.#bodyOf(this).blob();
  }
}

/** All five names are there, in the original's order; those that are known have octets. */
class Checksums extends Uncloneable {
  declare readonly sha512: ArrayBuffer | undefined;
  declare readonly sha384: ArrayBuffer | undefined;
  declare readonly sha256: ArrayBuffer | undefined;
  declare readonly sha1: ArrayBuffer | undefined;
  declare readonly md5: ArrayBuffer | undefined;
  readonly #hex: Partial<Record<Algorithm, string>>;

  static {
    dress(this, "Checksums");
  }

  constructor(hex: Partial<Record<Algorithm, string>>) {
    super();
    this.#hex = hex;
    const { sha512, sha384, sha256, sha1, md5 } = hex;
    this.sha512 = sha512 === undefined ? undefined : fromHex(sha512);
    this.sha384 = sha384 === undefined ? undefined : fromHex(sha384);
    this.sha256 = sha256 === undefined ? undefined : fromHex(sha256);
    this.sha1 = sha1 === undefined ? undefined : fromHex(sha1);
    this.md5 = md5 === undefined ? undefined : fromHex(md5);
  }

  static #hexOf(self: unknown): Partial<Record<Algorithm, string>> {
    if (typeof self === "object" && self !== null && #hex in self) return self.#hex;
    throw illegalInvocation();
  }

  toJSON(): Partial<Record<Algorithm, string>> {
    const hex = Checksums.#hexOf(this);
    const known = ALGORITHMS.filter((algorithm) => hex[algorithm] !== undefined);
    return Object.fromEntries(known.map((algorithm) => [algorithm, hex[algorithm]!]));
  }
}
