/**
 * Blobs in a bucket of an S3-compatible service, each under the prefix and its id. Differs from files: opening
 * pins nothing, so a blob that is deleted while somebody reads it breaks off. The store must wait with
 * deleting until readers are done.
 */
import type { IncomingMessage } from "node:http";
import { atMost } from "#kit/at-once.ts";
import { childText, type XmlElement } from "#kit/xml.ts";
import type { BlobDriver, OpenBlob } from "../driver.ts";
import type { Body, ByteRange } from "../model.ts";
import { assertBlobId, isBlobId } from "./blob-id.ts";
import { S3Client, type S3ClientOptions } from "./s3-client.ts";
import { isMissing, mayPass, S3Fault, storeFault, whyOf } from "./s3-fault.ts";
import { upload } from "./s3-upload.ts";

/** Deletes under way at once. One request each: not every service takes many ids in one. */
const DELETES_AT_ONCE = 16;
/** Times in a row that a read may begin and break off without an octet. */
const EMPTY_READS = 3;

/** Asks the bucket first: a wrong key or name shall be known at the start. */
export async function openS3(options: S3ClientOptions): Promise<BlobDriver> {
  const client = new S3Client(options);
  const { bucket, endpoint, prefix } = options.location;
  const query = { "list-type": "2", "max-keys": "1", prefix };
  try {
    await client.askXml({ method: "GET", key: "", query });
  } catch (cause) {
    client[Symbol.dispose]();
    const where = `bucket ${bucket} at ${endpoint.origin}`;
    throw new Error(`Cannot use the ${where} (--blobs): ${whyOf(cause)}.`, { cause });
  }
  return new S3Blobs(client);
}

class S3Blobs implements BlobDriver {
  readonly #client: S3Client;

  constructor(client: S3Client) {
    this.#client = client;
  }

  async put(id: string, body: Body): Promise<void> {
    await upload(this.#client, this.#keyOf(id), body);
  }

  async open(id: string): Promise<OpenBlob | null> {
    const key = this.#keyOf(id);
    try {
      const { headers } = await this.#client.ask({ method: "HEAD", key });
      const size = Number(headers["content-length"] ?? "none");
      if (!Number.isSafeInteger(size)) throw new S3Fault(0, null, "the answer has no length");
      return {
        size,
        read: (range) => this.#read(key, range),
        async [Symbol.asyncDispose]() {},
      };
    } catch (cause) {
      if (isMissing(cause)) return null;
      throw storeFault("open", cause);
    }
  }

  /** A blob never changes, so a read that breaks off goes on where it was. */
  async *#read(key: string, { offset, length }: ByteRange): Body {
    const end = offset + length;
    let at = offset;
    for (let inVain = 0; at < end; inVain++) {
      const answer = await this.#request(key, at, end);
      try {
        for await (const chunk of this.#client.octetsOf(answer)) {
          const some = chunk.subarray(0, end - at); // Some answer with more than was asked for.
          if (some.length === 0) break;
          at += some.length;
          inVain = 0;
          yield some;
        }
        if (at < end) throw Object.assign(new Error("the answer ended early"), { code: "EPIPE" });
      } catch (cause) {
        if (inVain === EMPTY_READS || !mayPass(cause)) throw storeFault("read", cause);
        await this.#client.wait(inVain);
      }
    }
  }

  async #request(key: string, at: number, end: number): Promise<IncomingMessage> {
    const headers = { range: `bytes=${at}-${end - 1}` };
    try {
      const answer = await this.#client.stream({ method: "GET", key, headers });
      const starts = /^bytes (\d+)-/.exec(answer.headers["content-range"] ?? "bytes 0-")?.[1];
      if (Number(starts) === at) return answer;
      answer.destroy();
      throw new S3Fault(0, null, "the answer has another range");
    } catch (cause) {
      throw storeFault("read", cause);
    }
  }

  async delete(ids: readonly string[]): Promise<void> {
    await atMost(DELETES_AT_ONCE, ids, async (id) => {
      try {
        await this.#client.ask({ method: "DELETE", key: this.#keyOf(id) });
      } catch (cause) {
        if (!isMissing(cause)) throw storeFault("delete", cause);
      }
    });
  }

  async *list(): AsyncIterable<{ readonly id: string; readonly writtenAt: number }> {
    const { prefix } = this.#client.location;
    for (let token: string | null = ""; token !== null;) {
      const query = {
        "list-type": "2",
        "encoding-type": "url", // Keys that are not ours may have characters that XML cannot hold.
        prefix,
        ...(token === "" ? {} : { "continuation-token": token }),
      };
      const page: XmlElement = await this.#client
        .askXml({ method: "GET", key: "", query })
        .catch((cause: unknown) => {
          throw storeFault("list", cause);
        });
      token = nextToken(page, token);
      yield* blobsOn(page, prefix);
    }
  }

  #keyOf(id: string): string {
    assertBlobId(id);
    return this.#client.location.prefix + id;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client[Symbol.dispose]();
  }
}

function* blobsOn(page: XmlElement, prefix: string) {
  const isEscaped = childText(page, "EncodingType") === "url";
  for (const entry of page.children) {
    if (entry.name !== "Contents") continue;
    const written = childText(entry, "Key") ?? "";
    // Ours have nothing to escape but the slashes of the prefix.
    const key = isEscaped ? written.replaceAll(/%2f/gi, "/") : written;
    const id = key.slice(prefix.length);
    if (!key.startsWith(prefix) || !isBlobId(id)) continue;
    const writtenAt = Date.parse(childText(entry, "LastModified") ?? "");
    if (Number.isNaN(writtenAt)) throw strangeList("a key has no time");
    yield { id, writtenAt };
  }
}

/** Null on the last page. A list that leads nowhere would end the sweep early, or never. */
function nextToken(page: XmlElement, last: string): string | null {
  if (page.name !== "ListBucketResult") throw strangeList(`it is a ${page.name}`);
  if (childText(page, "IsTruncated") !== "true") return null;
  const token = childText(page, "NextContinuationToken") ?? "";
  if (token === "" || token === last) throw strangeList("it does not go on");
  return token;
}

function strangeList(why: string) {
  return storeFault("list", new S3Fault(0, null, `the list cannot be read: ${why}`));
}
