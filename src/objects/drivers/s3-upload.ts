/** Sends a body of unknown length: in one piece when it is small, else in parts as they fill. */
import { createHash } from "node:crypto";
import { childText, escapeXml } from "#kit/xml.ts";
import { ObjectFault } from "../fault.ts";
import type { Body } from "../model.ts";
import type { S3Client } from "./s3-client.ts";
import { S3Fault, storeFault } from "./s3-fault.ts";

/** S3 wants 5 MiB at least. A body holds two: one that fills and one that is being sent. */
const PART_BYTES = 8 * 1024 * 1024;
/** Small bodies are the most, and need no more. */
const FIRST_BYTES = 256 * 1024;
/** S3's limit: 78 GiB with our parts. */
const MAX_PARTS = 10_000;

interface Part {
  readonly bytes: Uint8Array;
  readonly sha256: string;
  readonly isLast: boolean;
}

/** Throws the body's own error as it is. */
export async function upload(client: S3Client, key: string, body: Body): Promise<void> {
  let multipart: MultipartUpload | null = null;
  try {
    for await (const part of partsOf(body)) {
      if (multipart === null && part.isLast) return await putWhole(client, key, part);
      multipart ??= await MultipartUpload.begin(client, key);
      await multipart.send(part);
    }
    await multipart!.complete();
  } catch (error) {
    await multipart?.abort();
    throw error;
  }
}

async function putWhole(client: S3Client, key: string, part: Part): Promise<void> {
  await client.ask({ method: "PUT", key, body: part }).catch((cause: unknown) => {
    throw storeFault("write", cause);
  });
}

/** A part's octets are good until the part after the next is asked for. Copies, like the files driver. */
async function* partsOf(body: Body): AsyncIterable<Part> {
  let filling: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  let other: Buffer | null = null;
  let filled = 0;
  let hash = createHash("sha256");
  const part = (isLast: boolean): Part => ({
    bytes: filling.subarray(0, filled),
    sha256: hash.digest("hex"),
    isLast,
  });
  for await (const chunk of body) {
    for (let rest = chunk; rest.length > 0;) {
      if (filled === PART_BYTES) {
        yield part(false);
        [filling, other] = [other ?? Buffer.allocUnsafeSlow(PART_BYTES), filling];
        filled = 0;
        hash = createHash("sha256");
      }
      const some = rest.subarray(0, PART_BYTES - filled);
      filling = withRoom(filling, filled, some.length);
      filling.set(some, filled);
      hash.update(some);
      filled += some.length;
      rest = rest.subarray(some.length);
    }
  }
  yield part(true);
}

function withRoom(buffer: Buffer, filled: number, more: number): Buffer {
  if (filled + more <= buffer.length) return buffer;
  const larger = Buffer.allocUnsafeSlow(
    Math.min(PART_BYTES, Math.max(2 * buffer.length, filled + more)),
  );
  larger.set(buffer.subarray(0, filled));
  return larger;
}

class MultipartUpload {
  readonly #client: S3Client;
  readonly #key: string;
  readonly #uploadId: string;
  readonly #etags: string[] = [];
  #size = 0;
  /** The part on its way, and what came of it: an error must wait until somebody asks. */
  #sending: Promise<unknown> = Promise.resolve(null);

  private constructor(client: S3Client, key: string, uploadId: string) {
    this.#client = client;
    this.#key = key;
    this.#uploadId = uploadId;
  }

  static async begin(client: S3Client, key: string): Promise<MultipartUpload> {
    try {
      const root = await client.askXml({ method: "POST", key, query: { uploads: "" } });
      const uploadId = childText(root, "UploadId") ?? "";
      if (uploadId === "") throw new S3Fault(0, null, "the answer has no UploadId");
      return new MultipartUpload(client, key, uploadId);
    } catch (cause) {
      throw storeFault("write", cause);
    }
  }

  /** Returns when the part before has arrived: then its memory is free. */
  async send(part: Part): Promise<void> {
    await this.#arrival();
    const number = this.#etags.length + 1;
    if (number > MAX_PARTS) {
      throw new ObjectFault("too-large", "Cannot write a blob: it has too many octets.");
    }
    this.#etags.push("");
    this.#size += part.bytes.length;
    this.#sending = this.#sendPart(number, part).then(
      () => null,
      (error: unknown) => error,
    );
  }

  async #sendPart(number: number, body: Part): Promise<void> {
    const query = { partNumber: String(number), uploadId: this.#uploadId };
    const { headers } = await this.#client.ask({ method: "PUT", key: this.#key, query, body });
    if (!headers.etag) throw new S3Fault(0, null, "the answer to a part has no ETag");
    this.#etags[number - 1] = headers.etag;
  }

  async #arrival(): Promise<void> {
    const error = await this.#sending;
    if (error !== null) throw storeFault("write", error);
  }

  async complete(): Promise<void> {
    await this.#arrival();
    const parts = this.#etags.map(
      (etag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${escapeXml(etag)}</ETag></Part>`,
    );
    const namespace = "http://s3.amazonaws.com/doc/2006-03-01/";
    const bytes = Buffer.from(
      `<CompleteMultipartUpload xmlns="${namespace}">${parts.join("")}</CompleteMultipartUpload>`,
    );
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    try {
      await this.#client.askXml({
        method: "POST",
        key: this.#key,
        query: { uploadId: this.#uploadId },
        headers: { "content-type": "application/xml" },
        body: { bytes, sha256 },
      });
    } catch (cause) {
      if (!(await this.#isComplete(cause))) throw storeFault("write", cause);
    }
  }

  /** The answer to an attempt may have been lost, and the next told that there is no such upload. */
  async #isComplete(cause: unknown): Promise<boolean> {
    if (!(cause instanceof S3Fault) || cause.code !== "NoSuchUpload") return false;
    const found = await this.#client.ask({ method: "HEAD", key: this.#key }).catch(() => null);
    return found !== null && Number(found.headers["content-length"]) === this.#size;
  }

  /** As far as it goes. What stays is invisible, and a lifecycle rule of the bucket can remove it. */
  async abort(): Promise<void> {
    await this.#sending;
    const query = { uploadId: this.#uploadId };
    await this.#client.ask({ method: "DELETE", key: this.#key, query }).catch(() => {});
  }
}
