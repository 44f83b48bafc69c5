/** A store as simple as can be: what the real one is compared with. Nothing of its code is used here. */
import { createHash } from "node:crypto";
import type {
  Algorithm,
  Conditions,
  EtagPattern,
  ListOptions,
  ObjectInfo,
  PutOptions,
  RangeRequest,
  UploadedPart,
  WriteOptions,
} from "./model.ts";

/** An object without its version, which only the real store makes. */
export type Told = Omit<ObjectInfo, "version">;

interface Stored {
  readonly told: Told;
  readonly octets: Buffer;
}

interface ModelUpload {
  readonly key: string;
  readonly options: WriteOptions;
  readonly begunAt: number;
  readonly parts: Map<number, Buffer>;
  isOpen: boolean;
}

/** What is thrown for a fault of this kind. */
export class ModelFault extends Error {
  readonly kind: string;
  constructor(kind: string) {
    super(kind);
    this.kind = kind;
  }
}

const DAY_MS = 86_400_000;
const LEAST_PART = 10;

export class ModelStore {
  readonly objects = new Map<string, Stored>();
  readonly uploads: ModelUpload[] = [];
  clock = 0;

  head(key: string): Told | null {
    checkKey(key);
    return this.objects.get(key)?.told ?? null;
  }

  get(key: string, conditions: Conditions | undefined, range: RangeRequest | undefined) {
    checkKey(key);
    const found = this.objects.get(key);
    if (found === undefined) return { kind: "missing" };
    const { told, octets } = found;
    if (conditions !== undefined && !holds(conditions, told)) {
      return { kind: "condition-failed", object: told };
    }
    const { offset, length } = within(range, octets.length);
    const part = octets.subarray(offset, offset + length);
    return { kind: "found", object: told, range: { offset, length }, octets: part.toString("hex") };
  }

  put(key: string, octets: Buffer, options: PutOptions): Told | null {
    checkKey(key);
    checkMetadata(options);
    const { checksum, conditions, size = octets.length } = options;
    if (size !== octets.length) throw new ModelFault("incomplete-body");
    const checksums: Partial<Record<Algorithm, string>> = { md5: digest("md5", octets) };
    if (checksum !== undefined) {
      checksums[checksum.algorithm] = digest(checksum.algorithm, octets);
      if (checksums[checksum.algorithm] !== checksum.value) throw new ModelFault("bad-digest");
    }
    const old = this.objects.get(key)?.told;
    if (conditions !== undefined && !mayPut(conditions, old)) return null;
    return this.#store(key, octets, checksums.md5!, checksums, options);
  }

  delete(keys: readonly string[]): void {
    if (keys.length < 1 || keys.length > 1000) throw new ModelFault("bad-key-count");
    for (const key of keys) checkKey(key);
    for (const key of keys) this.objects.delete(key);
  }

  /** All entries, in order: what the pages show together. */
  list({ prefix = "", delimiter = "", startAfter = "" }: ListOptions): (Told | string)[] {
    const keys = [...this.objects.keys()].sort(byOctets);
    const entries: (Told | string)[] = [];
    for (const key of keys) {
      if (!key.startsWith(prefix)) continue;
      if (startAfter !== "" && byOctets(key, startAfter) <= 0) continue;
      const rest = key.slice(prefix.length);
      const at = delimiter === "" ? -1 : rest.indexOf(delimiter);
      const group = prefix + rest.slice(0, at + delimiter.length);
      if (at === -1) entries.push(this.objects.get(key)!.told);
      else if (entries.at(-1) !== group) entries.push(group);
    }
    return entries;
  }

  createUpload(key: string, options: WriteOptions): void {
    checkKey(key);
    checkMetadata(options);
    this.uploads.push({ key, options, begunAt: this.clock, parts: new Map(), isOpen: true });
  }

  uploadPart(upload: number, key: string, number: number, octets: Buffer): UploadedPart {
    if (number < 1 || number > 10_000) throw new ModelFault("no-such-part");
    this.#open(upload, key).parts.set(number, octets);
    return { partNumber: number, etag: digest("md5", octets) };
  }

  complete(upload: number, key: string, named: readonly UploadedPart[], evenParts: boolean): Told {
    const open = this.#open(upload, key);
    const numbers = named.map(({ partNumber }) => partNumber);
    if (new Set(numbers).size < numbers.length) throw new ModelFault("duplicate-part");
    for (const { partNumber, etag } of named) {
      const part = open.parts.get(partNumber);
      if (part === undefined || digest("md5", part) !== etag) throw new ModelFault("no-such-part");
    }
    const sizesOf = (numbers: readonly number[]) => numbers.map((n) => open.parts.get(n)!.length);
    const tooSmall = (sizes: readonly number[]) => sizes.slice(0, -1).some((s) => s < LEAST_PART);
    const sorted = numbers.toSorted((a, b) => a - b);
    const sizes = sizesOf(sorted);
    const isUneven = new Set(sizes.slice(0, -1)).size > 1 || (sizes.at(-1) ?? 0) > (sizes[0] ?? 0);
    if (tooSmall(sizesOf(numbers))) throw new ModelFault("part-too-small");
    if (evenParts && (tooSmall(sizes) || isUneven)) throw new ModelFault("uneven-parts");
    if (tooSmall(sizes)) throw new ModelFault("part-too-small");
    open.isOpen = false;
    const parts = sorted.map((number) => open.parts.get(number)!);
    const md5s = parts.map((part) => createHash("md5").update(part).digest());
    const etag = `${digest("md5", Buffer.concat(md5s))}-${parts.length}`;
    return this.#store(key, Buffer.concat(parts), etag, {}, open.options);
  }

  abort(upload: number, key: string): void {
    this.#find(upload, key).isOpen = false;
  }

  #store(
    key: string,
    octets: Buffer,
    etag: string,
    checksums: Told["checksums"],
    { http = {}, custom = {}, storageClass = "Standard" }: WriteOptions,
  ): Told {
    const uploadedAt = this.clock;
    const size = octets.length;
    const told = { key, size, etag, uploadedAt, http, custom, checksums, storageClass };
    this.objects.set(key, { told, octets });
    return told;
  }

  #open(number: number, key: string): ModelUpload {
    const upload = this.#find(number, key);
    const hasLapsed = upload.begunAt + 7 * DAY_MS <= this.clock;
    if (!upload.isOpen || hasLapsed) throw new ModelFault("no-such-upload");
    return upload;
  }

  #find(number: number, key: string): ModelUpload {
    checkKey(key);
    const upload = this.uploads[number];
    if (upload?.key !== key) throw new ModelFault("no-such-upload");
    return upload;
  }
}

function digest(algorithm: string, octets: Buffer): string {
  return createHash(algorithm).update(octets).digest("hex");
}

function byOctets(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function checkKey(key: string): void {
  if (Buffer.byteLength(key) > 1024 || !key.isWellFormed()) throw new ModelFault("bad-key");
}

function checkMetadata({ custom = {} }: WriteOptions): void {
  const all = Object.entries(custom).flat().join("");
  if (all.length > 8192) throw new ModelFault("metadata-too-large");
}

function within(range: RangeRequest | undefined, size: number) {
  if (range === undefined) return { offset: 0, length: size };
  const suffix = "suffix" in range ? range.suffix : undefined;
  const asked = "suffix" in range ? {} : range;
  if (suffix === undefined && asked.offset === undefined && asked.length === undefined) {
    return { offset: 0, length: size };
  }
  const offset = suffix === undefined ? (asked.offset ?? 0) : Math.max(0, size - suffix);
  const end = suffix === undefined ? Math.min(size, offset + (asked.length ?? size)) : size;
  if (end <= offset) throw new ModelFault("bad-range");
  return { offset, length: end - offset };
}

function mayPut(conditions: Conditions, old: Told | undefined): boolean {
  if (old !== undefined) return holds(conditions, old);
  return !("etagMatches" in conditions) && !("uploadedAfter" in conditions);
}

function holds(conditions: Conditions, { etag, uploadedAt }: Told): boolean {
  const { etagMatches, etagDoesNotMatch, uploadedBefore, uploadedAfter } = conditions;
  const unit = conditions.secondsGranularity ? 1000 : 1;
  const at = (ms: number) => Math.floor(ms / unit);
  const hits = (patterns: readonly EtagPattern[] | undefined, types: readonly string[]) =>
    patterns?.some((one) => types.includes(one.type) && (!("value" in one) || one.value === etag));
  const matches = hits(etagMatches, ["strong", "wildcard"]);
  const matchesNone = hits(etagDoesNotMatch, ["strong", "weak", "wildcard"]) === false;
  if (matches === false || (etagDoesNotMatch !== undefined && !matchesNone)) return false;
  if (uploadedAfter !== undefined && at(uploadedAfter) >= at(uploadedAt) && !matchesNone) {
    return false;
  }
  return uploadedBefore === undefined || at(uploadedAt) < at(uploadedBefore) || matches === true;
}
