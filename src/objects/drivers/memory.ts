/** Blobs in memory, for tests. */
import type { BlobDriver, OpenBlob } from "../driver.ts";
import type { Body, ByteRange } from "../model.ts";
import { assertBlobId } from "./blob-id.ts";

/** Small enough that tests meet bodies of several chunks. */
const CHUNK_BYTES = 64 * 1024;

export function memoryDriver(now: () => number = Date.now): BlobDriver {
  const blobs = new Map<string, { bytes: Uint8Array; writtenAt: number }>();
  return {
    async put(id, body) {
      assertBlobId(id);
      const chunks: Buffer[] = [];
      for await (const chunk of body) chunks.push(Buffer.from(chunk));
      blobs.set(id, { bytes: Buffer.concat(chunks), writtenAt: now() });
    },
    async open(id) {
      assertBlobId(id);
      const blob = blobs.get(id);
      return blob === undefined ? null : openBytes(blob.bytes);
    },
    async delete(ids) {
      for (const id of ids) blobs.delete(id);
    },
    async *list() {
      for (const [id, { writtenAt }] of blobs) yield { id, writtenAt };
    },
    async [Symbol.asyncDispose]() {
      blobs.clear();
    },
  };
}

function openBytes(bytes: Uint8Array): OpenBlob {
  return {
    size: bytes.length,
    read: (range) => chunksOf(bytes, range),
    async [Symbol.asyncDispose]() {},
  };
}

async function* chunksOf(bytes: Uint8Array, { offset, length }: ByteRange): Body {
  const end = offset + length;
  for (let at = offset; at < end; at += CHUNK_BYTES) {
    yield bytes.slice(at, Math.min(at + CHUNK_BYTES, end));
  }
}
