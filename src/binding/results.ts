/** What the bucket returns: objects with and without their octets. */
import { fromHex } from "./convert.ts";
import { showHttpFields, writeHeaders } from "./metadata.ts";
import { ALGORITHMS, type Algorithm, type WireObject } from "./protocol.ts";
import type { StorageClass, StoreChecksums, StoreHTTPMetadata } from "./types.ts";

/** An object's metadata. The name is the runtime's: messages have it. */
export class HeadResult {
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

  constructor(object: WireObject) {
    const fields = {
      // In the order in which the original lists them.
      ssecKeyMd5: undefined,
      storageClass: object.storageClass,
      range: object.range && { offset: object.range.offset, length: object.range.length },
      customMetadata: object.custom && { ...object.custom },
      httpMetadata: object.http && showHttpFields(object.http),
      uploaded: new Date(object.uploaded),
      checksums: new Checksums(object.checksums),
      httpEtag: `"${object.etag}"`,
      etag: object.etag,
      size: object.size,
      version: object.version,
      key: object.key,
    };
    for (const [name, value] of Object.entries(fields)) {
      // Without a setter: an assignment throws, as for the runtime's own.
      Object.defineProperty(this, name, { get: () => value, enumerable: true, configurable: true });
    }
  }

  writeHttpMetadata(...[headers]: unknown[]): void {
    if (!(headers instanceof Headers)) {
      throw new TypeError(
        "Failed to execute 'writeHttpMetadata' on 'HeadResult': parameter 1 is not of type 'Headers'.",
      );
    }
    if (this.httpMetadata === undefined) {
      throw new TypeError(
        `HTTP metadata unknown for key \`${this.key}\`. Did you forget to add 'httpMetadata' to \`include\` when listing?`,
      );
    }
    writeHeaders(this.httpMetadata, headers);
  }
}

const USED =
  "Body has already been used. It can only be used once. Use tee() first if you need to read it twice.";

/** An object with its octets. */
export class GetResult extends HeadResult {
  readonly #response: Response;

  constructor(object: WireObject, body: ReadableStream<Uint8Array> | Uint8Array) {
    super(object);
    this.#response = new Response(body as Uint8Array<ArrayBuffer>);
  }

  get body(): ReadableStream<Uint8Array> {
    return this.#response.body! as ReadableStream<Uint8Array>;
  }

  get bodyUsed(): boolean {
    return this.#response.bodyUsed;
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    return this.#unread().arrayBuffer();
  }

  async bytes(): Promise<Uint8Array> {
    return new Uint8Array(await this.#unread().arrayBuffer());
  }

  async text(): Promise<string> {
    return this.#unread().text();
  }

  async json<T>(): Promise<T> {
    return JSON.parse(await this.#unread().text()) as T;
  }

  async blob(): Promise<Blob> {
    const type = this.httpMetadata?.contentType ?? "";
    return new Blob([await this.#unread().arrayBuffer()], { type });
  }

  #unread(): Response {
    if (this.#response.bodyUsed) throw new TypeError(USED);
    if (this.#response.body?.locked === true) {
      throw new TypeError("This ReadableStream is currently locked to a reader.");
    }
    return this.#response;
  }
}

/** All five names are there; those that are known have octets. */
class Checksums {
  declare readonly md5?: ArrayBuffer;
  declare readonly sha1?: ArrayBuffer;
  declare readonly sha256?: ArrayBuffer;
  declare readonly sha384?: ArrayBuffer;
  declare readonly sha512?: ArrayBuffer;
  readonly #hex: Partial<Record<Algorithm, string>>;

  constructor(hex: Partial<Record<Algorithm, string>>) {
    this.#hex = hex;
    for (const algorithm of ALGORITHMS) {
      const text = hex[algorithm];
      const value = text === undefined ? undefined : fromHex(text);
      Object.defineProperty(this, algorithm, {
        get: () => value,
        enumerable: true,
        configurable: true,
      });
    }
  }

  toJSON(): Partial<Record<Algorithm, string>> {
    return { ...this.#hex };
  }
}
