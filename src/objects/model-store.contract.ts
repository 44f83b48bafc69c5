/** A store as simple as can be: what the real one is compared with. Nothing of its code is used here. */
import { createHash } from "node:crypto";
import { crc32 } from "node:zlib";
import type {
  Algorithm,
  Conditions,
  DeleteConditions,
  EtagPattern,
  ListOptions,
  ObjectInfo,
  PutOptions,
  RangeRequest,
  WriteOptions,
} from "./model.ts";
import type { ChecksumChoice, CompleteOptions, UploadedPart } from "./upload-model.ts";

/** An object without its version, which only the real store makes. */
export type Told = Omit<ObjectInfo, "version">;

interface Stored {
  readonly told: Told;
  readonly octets: Buffer;
  readonly parts?: readonly ModelPart[];
}

interface ModelPart {
  readonly octets: Buffer;
  readonly at: number;
  readonly checksums: Told["checksums"];
}

interface ModelUpload {
  readonly key: string;
  readonly options: WriteOptions;
  readonly choice: ChecksumChoice | null;
  readonly begunAt: number;
  readonly parts: Map<number, ModelPart>;
  isOpen: boolean;
  result?: Told;
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
    const { checksums: expected = [], conditions, size = octets.length } = options;
    if (size !== octets.length) throw new ModelFault("incomplete-body");
    const checksums: Partial<Record<Algorithm, string>> = { md5: digest("md5", octets) };
    for (const { algorithm, value } of expected) {
      checksums[algorithm] = digest(algorithm, octets);
      if (checksums[algorithm] !== value) throw new ModelFault("bad-digest");
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

  deleteIf(key: string, { size, uploadedAt, ...conditions }: DeleteConditions): string {
    checkKey(key);
    const told = this.objects.get(key)?.told;
    if (told === undefined) return "missing";
    const unit = conditions.secondsGranularity ? 1000 : 1;
    const at = (ms: number) => Math.floor(ms / unit);
    const isSo =
      (size ?? told.size) === told.size &&
      at(uploadedAt ?? told.uploadedAt) === at(told.uploadedAt) &&
      holds(conditions, told);
    if (isSo) this.objects.delete(key);
    return isSo ? "deleted" : "condition-failed";
  }

  setTags(key: string, tags: Told["tags"]): boolean {
    return this.#change(key, (told) => ({ ...told, tags }));
  }

  transition(key: string): boolean {
    return this.#change(key, (told) => ({ ...told, storageClass: "InfrequentAccess" }));
  }

  #change(key: string, change: (told: Told) => Told): boolean {
    checkKey(key);
    const found = this.objects.get(key);
    if (found !== undefined) this.objects.set(key, { ...found, told: change(found.told) });
    return found !== undefined;
  }

  getPart(key: string, number: number) {
    checkKey(key);
    const found = this.objects.get(key);
    if (found === undefined) return { kind: "missing" };
    const parts = found.parts ?? [found];
    if (number < 1 || number > parts.length) throw new ModelFault("no-such-part");
    const before = parts.slice(0, number - 1).map(({ octets }) => octets);
    const { octets } = parts[number - 1]!;
    const range = { offset: Buffer.concat(before).length, length: octets.length };
    return { kind: "found", object: found.told, range, octets: octets.toString("hex") };
  }

  /** All of them: what the pages show together. */
  partsOf(key: string) {
    checkKey(key);
    let start = 0;
    return (
      this.objects.get(key)?.parts?.map((part, i) => {
        start += part.octets.length;
        return { ...partOf(part, i + 1), start: start - part.octets.length };
      }) ?? null
    );
  }

  listParts(upload: number, key: string, after: number) {
    const numbers = [...this.#open(upload, key).parts.keys()].toSorted((a, b) => a - b);
    return numbers
      .filter((number) => number > after)
      .map((number) => partOf(this.uploads[upload]!.parts.get(number)!, number));
  }

  /** The numbers of uploads, and groups, in their order. */
  listUploads(
    { prefix = "", delimiter = "" }: ListOptions,
    keyMarker: string,
    upload: number | null,
  ): (number | string)[] {
    const groupOf = (key: string) => {
      const at = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
      return at === -1 || !key.startsWith(prefix) ? null : key.slice(0, at + delimiter.length);
    };
    const isBehind = (key: string, number: number) => {
      if (keyMarker === "") return true;
      if (groupOf(keyMarker) !== null && groupOf(key) === groupOf(keyMarker)) return false;
      if (key === keyMarker) return groupOf(key) === null && upload !== null && number > upload;
      return byOctets(key, keyMarker) > 0;
    };
    const entries: (number | string)[] = [];
    const shown = [...this.uploads.entries()]
      .filter(([, one]) => one.isOpen && one.begunAt + 7 * DAY_MS > this.clock)
      .filter(([number, { key }]) => key.startsWith(prefix) && isBehind(key, number))
      .sort(([a, one], [b, other]) => byOctets(one.key, other.key) || a - b);
    for (const [number, { key }] of shown) {
      const group = groupOf(key);
      if (group === null) entries.push(number);
      else if (entries.at(-1) !== group) entries.push(group);
    }
    return entries;
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

  createUpload(key: string, options: WriteOptions, choice: ChecksumChoice | null): void {
    checkKey(key);
    if (choice?.algorithm === "sha256" && choice.type === "full") {
      throw new ModelFault("bad-checksum-type");
    }
    checkMetadata(options);
    const begunAt = this.clock++; // No two at the same time: their order would be by chance.
    this.uploads.push({ key, options, choice, begunAt, parts: new Map(), isOpen: true });
  }

  uploadPart(upload: number, key: string, number: number, octets: Buffer) {
    if (number < 1 || number > 10_000) throw new ModelFault("no-such-part");
    const { parts, choice } = this.#open(upload, key);
    const checksums = choice ? { [choice.algorithm]: digest(choice.algorithm, octets) } : {};
    parts.set(number, { octets, at: this.clock, checksums });
    return { partNumber: number, etag: digest("md5", octets), checksums };
  }

  complete(
    upload: number,
    key: string,
    named: readonly UploadedPart[],
    { evenParts, isRepeatable, conditions, size }: CompleteOptions,
  ): Told | null {
    const { result } = this.#find(upload, key);
    if (isRepeatable && result !== undefined) return result;
    const open = this.#open(upload, key);
    const { choice } = open;
    const numbers = named.map(({ partNumber }) => partNumber);
    if (new Set(numbers).size < numbers.length) throw new ModelFault("duplicate-part");
    for (const { partNumber, etag } of named) {
      const part = open.parts.get(partNumber);
      const isThat = part !== undefined && digest("md5", part.octets) === etag;
      if (!isThat) throw new ModelFault("no-such-part");
    }
    const sizesOf = (numbers: readonly number[]) =>
      numbers.map((n) => open.parts.get(n)!.octets.length);
    const tooSmall = (sizes: readonly number[]) => sizes.slice(0, -1).some((s) => s < LEAST_PART);
    const sorted = numbers.toSorted((a, b) => a - b);
    const sizes = sizesOf(sorted);
    const isUneven = new Set(sizes.slice(0, -1)).size > 1 || (sizes.at(-1) ?? 0) > (sizes[0] ?? 0);
    if (tooSmall(sizesOf(numbers))) throw new ModelFault("part-too-small");
    if (evenParts && (tooSmall(sizes) || isUneven)) throw new ModelFault("uneven-parts");
    if (tooSmall(sizes)) throw new ModelFault("part-too-small");
    const parts = sorted.map((number) => open.parts.get(number)!);
    const whole = Buffer.concat(parts.map(({ octets }) => octets));
    if ((size ?? whole.length) !== whole.length) throw new ModelFault("incomplete-body");
    const old = this.objects.get(key)?.told;
    if (conditions !== undefined && !mayPut(conditions, old)) return null;
    open.isOpen = false;
    const together = (algorithm: string) =>
      digest(algorithm, Buffer.from(parts.map((p) => digest(algorithm, p.octets)).join(""), "hex"));
    const etag = `${together("md5")}-${parts.length}`;
    const sum = choice?.type === "full" ? digest : together;
    const checksums = choice ? { [choice.algorithm]: sum(choice.algorithm, whole) } : {};
    const told = this.#store(key, whole, etag, checksums, open.options, parts);
    const shown = { ...told, checksumType: choice?.type ?? null };
    this.objects.set(key, { told: shown, octets: whole, parts });
    open.result = shown;
    return shown;
  }

  abort(upload: number, key: string): void {
    this.#find(upload, key).isOpen = false;
  }

  #store(
    key: string,
    octets: Buffer,
    etag: string,
    checksums: Told["checksums"],
    { http = {}, custom = {}, tags = {}, storageClass = "Standard" }: WriteOptions,
    parts?: readonly ModelPart[],
  ): Told {
    const uploadedAt = this.clock;
    const size = octets.length;
    const told: Told = {
      key,
      size,
      etag,
      uploadedAt,
      http,
      custom,
      checksums,
      checksumType: Object.keys(checksums).some((name) => name !== "md5") ? "full" : null,
      storageClass,
      tags,
      partCount: parts?.length ?? null,
      encryption: null,
    };
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

function partOf({ octets, at, checksums }: ModelPart, partNumber: number) {
  const etag = digest("md5", octets);
  return { partNumber, size: octets.length, etag, uploadedAt: at, checksums };
}

function digest(algorithm: string, octets: Buffer): string {
  if (algorithm === "crc32") return crc32(octets).toString(16).padStart(8, "0");
  return createHash(algorithm).update(octets).digest("hex");
}

function byOctets(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function checkKey(key: string): void {
  if (Buffer.byteLength(key) > 1024 || !key.isWellFormed()) throw new ModelFault("bad-key");
}

function checkMetadata({ custom = {}, tags = {} }: WriteOptions): void {
  const all = Object.entries(custom).flat().join("");
  if (all.length > 8192) throw new ModelFault("metadata-too-large");
  const names = Object.keys(tags);
  if (names.length > 10 || names.includes("")) throw new ModelFault("bad-tags");
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
