/** Stores a file as an object: a small one in one go, a large one in parts that an interrupted command keeps. */
import { type FileHandle, open, readFile } from "node:fs/promises";
import type { StoreBucket, StoreMultipartOptions, StoreObject } from "#binding";
import { CliFault } from "../fault.ts";
import { fileFault } from "../file-fault.ts";
import type { Progress } from "../progress.ts";
import type { Address } from "./address.ts";
import { Journal } from "./journal.ts";
import {
  eachPart,
  GOES_ON,
  md5Of,
  type Part,
  partSize,
  partsOf,
  persistently,
  tellResumed,
  type Transfer,
} from "./parts.ts";

export interface LocalFile {
  readonly path: string;
  readonly size: number;
  readonly mtimeMs: number;
}

interface UploadHead {
  readonly uploadId: string;
  /** What the upload is of; when that has changed, it is of no use any more. */
  readonly of: string;
}

/** The upload, or one of its parts, is not there any more. */
const GONE = /\((?:10024|10025)\)$/;

export async function uploadFile(
  address: Address,
  file: LocalFile,
  options: StoreMultipartOptions,
  transfer: Transfer,
): Promise<StoreObject> {
  const bucket = transfer.context.bucket(address.bucket);
  if (file.size > partSize(file.size))
    return uploadInParts(bucket, address, file, options, transfer);
  const octets = await readFile(file.path).catch((error: unknown) => {
    throw fileFault("read", file.path, error);
  });
  const checked = { ...options, md5: md5Of(octets) };
  return counted(octets, transfer.progress, (body) => bucket.put(address.key, body, checked));
}

async function uploadInParts(
  bucket: StoreBucket,
  address: Address,
  file: LocalFile,
  options: StoreMultipartOptions,
  transfer: Transfer,
): Promise<StoreObject> {
  const { context, journals } = transfer;
  const what = { direction: "up", server: context.serverUrl, ...address, path: file.path };
  const journal = await Journal.open<UploadHead>(journals, what);
  const of = JSON.stringify([file.size, file.mtimeMs, partSize(file.size), options]);
  if (journal.head !== null && journal.head.of !== of) {
    // Perhaps it is gone already; else the server keeps its parts for a week.
    await bucket
      .resumeMultipartUpload(address.key, journal.head.uploadId)
      .abort()
      .catch(() => {});
    await journal.drop();
  }
  const begin = async () => {
    const { uploadId } = await bucket.createMultipartUpload(address.key, options);
    await journal.begin({ uploadId, of });
  };
  const isResumed = journal.head !== null;
  if (isResumed) tellResumed(context.out, address.key, file.size, journal.parts);
  else await begin();
  try {
    return await sendParts(bucket, address.key, file, transfer, journal);
  } catch (error) {
    if (!isResumed || !GONE.test((error as Error).message)) {
      if (journal.parts.size > 0) context.out.note(GOES_ON);
      throw error;
    }
    // Completed by another, aborted, or too old.
    context.out.note("The server has forgotten the earlier upload; it begins anew.");
    await begin();
    return sendParts(bucket, address.key, file, transfer, journal);
  }
}

async function sendParts(
  bucket: StoreBucket,
  key: string,
  file: LocalFile,
  transfer: Transfer,
  journal: Journal<UploadHead>,
): Promise<StoreObject> {
  const upload = bucket.resumeMultipartUpload(key, journal.head!.uploadId);
  const parts = partsOf(file.size);
  const handle = await open(file.path).catch((error: unknown) => {
    throw fileFault("read", file.path, error);
  });
  await using _ = { [Symbol.asyncDispose]: () => handle.close() };
  await eachPart(parts, transfer, async (part) => {
    const octets = await readPart(handle, part, file);
    const md5 = md5Of(octets);
    if (journal.parts.get(part.number) === md5) {
      transfer.progress.skip(octets.length);
      return;
    }
    // The same again replaces the part.
    const send = (body: ReadableStream<Uint8Array>) => upload.uploadPart(part.number, body);
    const { etag } = await persistently(transfer.context.signal, () =>
      counted(octets, transfer.progress, send),
    );
    if (etag !== md5) {
      throw new CliFault(
        "failed",
        `Part ${part.number} of ${file.path} arrived damaged. Try again.`,
      );
    }
    await journal.add(part.number, etag);
  });
  const { size, mtimeMs } = await handle.stat();
  if (size !== file.size || mtimeMs !== file.mtimeMs) {
    await upload.abort();
    await journal.drop();
    throw changed(file);
  }
  const stored = await upload.complete(
    parts.map(({ number }) => ({ partNumber: number, etag: journal.parts.get(number)! })),
  );
  await journal.drop();
  return stored;
}

/** Small enough that the progress moves, large enough to cost nothing. */
const SLICE_OCTETS = 256 * 1024;

/** Sends octets as a stream that tells how far it has been read; what did not arrive is taken back. */
async function counted<T>(
  octets: Uint8Array,
  progress: Progress,
  send: (body: ReadableStream<Uint8Array>) => Promise<T>,
): Promise<T> {
  let sent = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const slice = octets.slice(sent, sent + SLICE_OCTETS);
      if (slice.length === 0) controller.close();
      else controller.enqueue(slice);
      sent += slice.length;
      progress.add(slice.length);
    },
  });
  try {
    return await send(body);
  } catch (error) {
    progress.add(-sent);
    throw error;
  }
}

async function readPart(handle: FileHandle, part: Part, file: LocalFile): Promise<Uint8Array> {
  const octets = new Uint8Array(part.length);
  for (let read = 0; read < part.length;) {
    const { bytesRead } = await handle.read(octets, read, part.length - read, part.offset + read);
    if (bytesRead === 0) throw changed(file);
    read += bytesRead;
  }
  return octets;
}

function changed({ path }: LocalFile): CliFault {
  return new CliFault(
    "failed",
    `${path} changed while it was sent. Nothing was stored; try again.`,
  );
}
