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
    // Differs from the original: what a list gives can be assigned to. To forbid it takes longer than all else.
    if (isListed) assignFields(this, fieldsOf(object, showsAbsent));
    else setFields(this, fieldsOf(object, showsAbsent));
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

type Fields = ReturnType<typeof fieldsOf>;

/** One by one: `Object.assign` takes twice as long. */
function assignFields(object: object, fields: Fields): void {
  const into = object as Fields;
  into.ssecKeyMd5 = fields.ssecKeyMd5;
  into.storageClass = fields.storageClass;
  into.range = fields.range;
  into.customMetadata = fields.customMetadata;
  into.httpMetadata = fields.httpMetadata;
  into.uploaded = fields.uploaded;
  into.checksums = fields.checksums;
  into.httpEtag = fields.httpEtag;
  into.etag = fields.etag;
  into.size = fields.size;
  into.version = fields.version;
  into.key = fields.key;
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
  /** Made when they are asked for: in a list they would cost a third of all. */
  #octets: Partial<Record<Algorithm, ArrayBuffer>> | null = null;

  static {
    dress(this, "Checksums");
  }

  /** The same for all: V8 then knows the shape that an object gets by them. */
  static readonly #fields = Object.fromEntries(
    ALGORITHMS.map((name) => [
      name,
      {
        get(this: unknown) {
          return Checksums.#of(this).#octetsOf(name);
        },
        enumerable: true,
        configurable: true,
      },
    ]),
  ) as Record<Algorithm, PropertyDescriptor>;

  constructor(hex: Partial<Record<Algorithm, string>>) {
    super();
    this.#hex = hex;
    const fields = Checksums.#fields;
    // One by one, and not by a loop: V8 then knows the names, which takes a fifth of the time.
    const { sha512, sha384, sha256, sha1, md5 } = hex;
    if (sha512 === undefined) this.sha512 = undefined;
    else Object.defineProperty(this, "sha512", fields.sha512);
    if (sha384 === undefined) this.sha384 = undefined;
    else Object.defineProperty(this, "sha384", fields.sha384);
    if (sha256 === undefined) this.sha256 = undefined;
    else Object.defineProperty(this, "sha256", fields.sha256);
    if (sha1 === undefined) this.sha1 = undefined;
    else Object.defineProperty(this, "sha1", fields.sha1);
    if (md5 === undefined) this.md5 = undefined;
    else Object.defineProperty(this, "md5", fields.md5);
  }

  static #of(self: unknown): Checksums {
    if (typeof self === "object" && self !== null && #hex in self) return self;
    throw illegalInvocation();
  }

  #octetsOf(name: Algorithm): ArrayBuffer {
    this.#octets ??= {};
    return (this.#octets[name] ??= fromHex(this.#hex[name]!));
  }

  toJSON(): Partial<Record<Algorithm, string>> {
    const hex = Checksums.#of(this).#hex;
    const known = ALGORITHMS.filter((algorithm) => hex[algorithm] !== undefined);
    return Object.fromEntries(known.map((algorithm) => [algorithm, hex[algorithm]!]));
  }
}
