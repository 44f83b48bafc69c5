/** Lists of uploads under way, of their parts, and of the parts that an object is made of. */
import type { Database } from "#db";
import { ObjectFault } from "./fault.ts";
import { behind, behindPrefix, checkKey, checkText, later } from "./keys.ts";
import { MAX_PAGE, UPLOAD_LIFETIME_MS } from "./limits.ts";
import type { Bucket } from "./model.ts";
import type {
  ObjectPartPage,
  PartInfo,
  PartListOptions,
  Upload,
  UploadListOptions,
  UploadPage,
} from "./upload-model.ts";
import { infoOf, wholeObject } from "./object-rows.ts";
import { type AboutPart, partsBehind, partsFrom } from "./part-rows.ts";
import { openUploadsBehind, type UploadRow } from "./upload-rows.ts";

/** Rows read at a time: a group of more is passed over. */
const BATCH = 1_000;

/** A place in the order of keys and, within a key, of uploads. */
interface Place {
  readonly key: Uint8Array;
  readonly id: string;
}

export async function listUploads(
  db: Database,
  bucket: Bucket,
  options: UploadListOptions,
  now: number,
): Promise<UploadPage> {
  const limit = pageLimit(options.limit);
  const groupOf = groupsOf(options);
  const end = behindPrefix(Buffer.from(options.prefix ?? ""));
  const asked = { bucket: bucket.number, end, since: now - UPLOAD_LIFETIME_MS, limit: BATCH };
  const uploads: Upload[] = [];
  const prefixes: string[] = [];
  let next = { key: "", uploadId: "" };
  for (let place = startOf(options, groupOf); ;) {
    const rows = await db.all(openUploadsBehind({ ...asked, ...place }));
    for (const row of rows) {
      const group = groupOf(row.key);
      if (group !== null && group === prefixes.at(-1)) continue;
      if (uploads.length + prefixes.length === limit) return { uploads, prefixes, next };
      if (group === null) uploads.push(uploadOf(row));
      else prefixes.push(group);
      next = group === null ? { key: row.key, uploadId: row.id } : { key: group, uploadId: "" };
    }
    if (rows.length < BATCH) return { uploads, prefixes, next: null };
    place = behindRow(rows.at(-1)!, groupOf);
  }
}

type GroupOf = (key: string) => string | null;

/** The group that a key lies in, up to its delimiter and with it. */
function groupsOf({ prefix = "", delimiter = "" }: UploadListOptions): GroupOf {
  checkText(prefix);
  checkText(delimiter);
  return (key) => {
    if (delimiter === "" || !key.startsWith(prefix)) return null;
    const at = key.indexOf(delimiter, prefix.length);
    return at === -1 ? null : key.slice(0, at + delimiter.length);
  };
}

function startOf(options: UploadListOptions, groupOf: GroupOf): Place {
  const { prefix = "", keyMarker = "", uploadIdMarker = "" } = options;
  const begin = Buffer.from(prefix);
  if (keyMarker === "") return { key: begin, id: "" };
  checkText(keyMarker);
  const key = Buffer.from(keyMarker);
  const group = groupOf(keyMarker);
  // A group whose prefix or some of whose uploads have been shown is not shown again.
  if (group !== null) return { key: later(begin, behindPrefix(Buffer.from(group))), id: "" };
  if (uploadIdMarker === "") return { key: later(begin, behind(key)), id: "" };
  if (!/^[0-9a-f]{32}$/.test(uploadIdMarker)) {
    throw new ObjectFault("bad-cursor", "The upload id marker is none that a list has given");
  }
  return Buffer.compare(key, begin) < 0 ? { key: begin, id: "" } : { key, id: uploadIdMarker };
}

function behindRow({ key, id }: UploadRow, groupOf: GroupOf): Place {
  const group = groupOf(key);
  return group === null
    ? { key: Buffer.from(key), id }
    : { key: behindPrefix(Buffer.from(group)), id: "" };
}

export function uploadOf(row: UploadRow): Upload {
  const { id, key, createdAt, storageClass, checksum, encryption } = row;
  return {
    key,
    uploadId: id,
    createdAt,
    storageClass,
    checksum,
    tags: row.metadata?.tags ?? {},
    encryption: encryption && { keyMd5: encryption.keyMd5 },
  };
}

/** A page of the parts of an upload, by their numbers. */
export async function listParts(
  db: Database,
  upload: string,
  options: PartListOptions,
): Promise<{ parts: PartInfo[]; next: number | null }> {
  const limit = pageLimit(options.limit);
  const { after = 0 } = options;
  const rows = await db.all(partsBehind({ upload, after, limit: limit + 1 }));
  const parts = rows.slice(0, limit).map((row) => partInfo(row, row.number));
  return { parts, next: rows.length > limit ? parts.at(-1)!.partNumber : null };
}

/** Null for an object that is not there, or not made of parts. */
export async function partsOfObject(
  db: Database,
  bucket: Bucket,
  key: string,
  options: PartListOptions,
): Promise<ObjectPartPage | null> {
  checkKey(key);
  const limit = pageLimit(options.limit);
  const { after = 0 } = options;
  for (let version = ""; ;) {
    const row = await db.first(wholeObject({ bucket: bucket.number, key }));
    if (row === null || row.partCount === null) return null;
    const asked = { upload: row.blob!, skipped: after, limit };
    const parts = await db.all(partsFrom(asked));
    const count = Math.max(0, Math.min(limit, row.partCount - after));
    // Fewer: the object was replaced in between, unless it is still the same.
    if (parts.length < count && row.version !== version) {
      version = row.version;
      continue;
    }
    return {
      object: infoOf({ ...row, key }, row.metadata ?? {}),
      parts: parts.map((part, i) => ({ ...partInfo(part, after + i + 1), start: part.start })),
      next: after + parts.length < row.partCount ? after + parts.length : null,
    };
  }
}

function partInfo({ size, etag, uploadedAt, checksums }: AboutPart, partNumber: number): PartInfo {
  return { partNumber, size, etag, uploadedAt, checksums: checksums ?? {} };
}

function pageLimit(limit = MAX_PAGE): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_PAGE) return limit;
  throw new ObjectFault("bad-limit", `A page has from 1 to ${MAX_PAGE} entries, not ${limit}`);
}
