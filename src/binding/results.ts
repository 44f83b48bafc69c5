/** What the bucket returns: objects with and without their octets. */
import { fromHex } from "./convert.ts";
import { showHttpFields, writeHeaders } from "./metadata.ts";
import { dress, illegalInvocation, setFields, Uncloneable } from "./platform-object.ts";
import { ALGORITHMS, type Algorithm, type WireObject } from "./protocol.ts";
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

  constructor(object: WireObject, showsAbsent: boolean) {
    super();
    this.#object = object;
    const { http, custom, range } = object;
    setFields(this, {
      // In the order in which the original lists them.
      ssecKeyMd5: undefined,
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
      httpEtag: `"${object.etag}"`,
      etag: object.etag,
      size: object.size,
      version: object.version,
      key: object.key,
    });
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

/** An object with its octets. */
export class GetResult extends HeadResult {
  readonly #body: StoredBody;

  static {
    dress(this, "GetResult");
  }

  constructor(
    object: WireObject,
    showsAbsent: boolean,
    octets: ReadableStream<Uint8Array> | Uint8Array,
  ) {
    super(object, showsAbsent);
    this.#body = new StoredBody(octets, object.http?.contentType ?? "");
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
  sha512: ArrayBuffer | undefined;
  sha384: ArrayBuffer | undefined;
  sha256: ArrayBuffer | undefined;
  sha1: ArrayBuffer | undefined;
  md5: ArrayBuffer | undefined;
  readonly #hex: Partial<Record<Algorithm, string>>;

  static {
    dress(this, "Checksums");
  }

  constructor(hex: Partial<Record<Algorithm, string>>) {
    super();
    this.#hex = hex;
    for (const algorithm of ALGORITHMS) {
      const known = hex[algorithm];
      if (known !== undefined) this[algorithm] = fromHex(known);
    }
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
