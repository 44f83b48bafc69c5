/** Fetches an object into a file: under another name until it is whole, in parts that an interrupted command keeps. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { StoreBucket, StoreObject } from "#binding";
import { CliFault } from "../fault.ts";
import { fileFault } from "../file-fault.ts";
import { Journal } from "./journal.ts";
import {
  eachPart,
  GOES_ON,
  md5Of,
  type Part,
  partsOf,
  persistently,
  tellResumed,
  type Transfer,
} from "./parts.ts";

/** Of an object that was put in one go; that of one made of parts has their number after a dash. */
const PLAIN_MD5 = /^[0-9a-f]{32}$/;

/** What the parts are of. */
interface DownloadHead {
  readonly etag: string;
  readonly size: number;
}

export async function downloadFile(
  bucketName: string,
  object: StoreObject,
  path: string,
  transfer: Transfer,
): Promise<void> {
  const { key, etag, size } = object;
  const draft = join(dirname(path), `.${basename(path)}.selvedge-part`);
  const parts = partsOf(size);
  const server = transfer.context.serverUrl;
  const what = { direction: "down", server, bucket: bucketName, key, draft };
  const journal = await Journal.open<DownloadHead>(transfer.journals, what);
  try {
    await mkdir(dirname(path), { recursive: true });
    const isSame = journal.head?.etag === etag && journal.head.size === size;
    if (isSame) tellResumed(transfer.context.out, key, size, journal.parts);
    else if (parts.length > 1) await journal.begin({ etag, size });
    await fillDraft(bucketName, object, draft, parts, transfer, journal);
    await mustMatch(draft, object);
    await rename(draft, path);
  } catch (error) {
    // What is large is kept to go on with, unless it has turned out to be wrong.
    if (parts.length <= 1 || error instanceof Damaged) {
      await rm(draft, { force: true });
      await journal.drop();
    } else if (journal.parts.size > 0) transfer.context.out.note(GOES_ON);
    throw "syscall" in (error as object) ? fileFault("write", path, error) : error;
  }
  await journal.drop();
}

async function fillDraft(
  bucketName: string,
  object: StoreObject,
  draft: string,
  parts: readonly Part[],
  transfer: Transfer,
  journal: Journal<DownloadHead>,
): Promise<void> {
  const bucket = transfer.context.bucket(bucketName);
  const { signal } = transfer.context;
  const isResumed = journal.parts.size > 0;
  const handle = await open(draft, isResumed ? "r+" : "w+").catch(() => open(draft, "w+"));
  await using _ = { [Symbol.asyncDispose]: () => handle.close() };
  await eachPart(parts, transfer, async (part) => {
    const known = journal.parts.get(part.number);
    if (known !== undefined && md5Of(await readPart(handle, part)) === known) {
      transfer.progress.skip(part.length);
      return;
    }
    const octets = await persistently(signal, () => fetchPart(bucket, object, part));
    await handle.write(octets, 0, octets.length, part.offset);
    if (parts.length > 1) await journal.add(part.number, md5Of(octets));
    transfer.progress.add(octets.length);
  });
  await handle.truncate(object.size);
  await handle.sync();
}

async function fetchPart(
  bucket: StoreBucket,
  { key, etag }: StoreObject,
  { offset, length }: Part,
): Promise<Uint8Array> {
  const onlyIf = { etagMatches: etag };
  const found = await bucket.get(key, { range: { offset, length }, onlyIf });
  if (found === null || !("body" in found)) {
    throw new Damaged(`${key} changed while it was fetched. Nothing was written; try again.`);
  }
  const octets = await found.bytes();
  if (octets.length === length) return octets;
  throw new Damaged(`${key} came cut short. Nothing was written; try again.`);
}

async function readPart(handle: FileHandle, { offset, length }: Part): Promise<Uint8Array> {
  const octets = new Uint8Array(length);
  const { bytesRead } = await handle.read(octets, 0, length, offset);
  return octets.subarray(0, bytesRead);
}

async function mustMatch(draft: string, { key, etag }: StoreObject): Promise<void> {
  if (!PLAIN_MD5.test(etag)) return;
  const hash = createHash("md5");
  for await (const chunk of createReadStream(draft)) hash.update(chunk as Uint8Array);
  if (hash.digest("hex") === etag) return;
  throw new Damaged(`${key} arrived damaged: its octets do not add up to its etag. Try again.`);
}

/** What was fetched is of no use. */
class Damaged extends CliFault {
  constructor(message: string) {
    super("failed", message);
  }
}
