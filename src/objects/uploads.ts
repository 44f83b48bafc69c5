/** Multipart uploads: parts gathered under an id, and the object that they become where they lie. */
import { type Database, isDatabaseFault, untilUndisturbed } from "#db";
import { randomId, timedId } from "#kit/random.ts";
import type { Alongside } from "./alongside.ts";
import { leave } from "./bodies.ts";
import { allowWrite } from "./conditions.ts";
import type { Content, Contents } from "./contents.ts";
import { Seal } from "./encryption.ts";
import { ObjectFault } from "./fault.ts";
import type { Garbage } from "./garbage.ts";
import { etagOfParts } from "./hashing.ts";
import { checkKey } from "./keys.ts";
import { MAX_PARTS, type ObjectLimits, UPLOAD_LIFETIME_MS } from "./limits.ts";
import { metadataOf, storageClassOf } from "./metadata.ts";
import type { Body, Bucket, ExpectedChecksum, ObjectInfo } from "./model.ts";
import type {
  CompleteOptions,
  PartListOptions,
  PartOptions,
  PartPage,
  StoredPart,
  Upload,
  UploadedPart,
  UploadOptions,
} from "./upload-model.ts";
import { infoOf, objectInfo, type ObjectRow } from "./object-rows.ts";
import { put, putAfter } from "./object-writes.ts";
import { checkChoice, checkPart, checkType, checksumsOfParts } from "./part-checksums.ts";
import * as parts from "./part-rows.ts";
import { listParts, uploadOf } from "./upload-listing.ts";
import type { RecentObjects } from "./recent-objects.ts";
import { chosenParts } from "./upload-parts.ts";
import * as rows from "./upload-rows.ts";
import type { WritingOptions } from "./writing.ts";

export class Uploads {
  readonly #db: Database;
  readonly #contents: Contents;
  readonly #garbage: Garbage;
  readonly #recent: RecentObjects;
  readonly #limits: ObjectLimits;
  readonly #now: () => number;
  readonly #alongside: Alongside;

  constructor({ db, contents, garbage, recent, limits, now, alongside }: WritingOptions) {
    this.#db = db;
    this.#contents = contents;
    this.#garbage = garbage;
    this.#recent = recent;
    this.#limits = limits;
    this.#now = now;
    this.#alongside = alongside;
  }

  async create(bucket: Bucket, key: string, options: UploadOptions): Promise<Upload> {
    checkKey(key);
    if (options.checksum !== undefined) checkChoice(options.checksum);
    const createdAt = this.#now();
    const upload: rows.UploadRow = {
      id: timedId(createdAt),
      bucket: bucket.number,
      key,
      isOpen: true,
      revision: 0,
      storageClass: storageClassOf(options, bucket),
      metadata: metadataOf(options, this.#limits.metadata),
      createdAt,
      checksum: options.checksum ?? null,
      encryption: options.encryption ? Seal.begin(options.encryption).encryption : null,
      completed: null,
    };
    await this.#db.write(rows.addUpload(upload));
    return uploadOf(upload);
  }

  async putPart(
    bucket: Bucket,
    key: string,
    uploadId: string,
    number: number,
    body: Body | Uint8Array,
    options: PartOptions,
  ): Promise<StoredPart> {
    let upload: rows.UploadRow;
    let seal: Seal | null;
    try {
      if (!Number.isInteger(number) || number < 1 || number > MAX_PARTS) {
        throw new ObjectFault("no-such-part", `Parts have numbers from 1 to ${MAX_PARTS}`);
      }
      upload = await this.#open(bucket, key, uploadId);
      seal = Seal.open(upload.encryption, options.encryption);
      checkPart(upload.checksum, options.checksums ?? []);
    } catch (error) {
      await leave(body);
      throw error;
    }
    const intake = { ...options, checksums: checksumsOf(upload, options), seal };
    return this.#contents.store(body, intake, (content) =>
      this.#commitPart(uploadId, number, content),
    );
  }

  async #commitPart(upload: string, number: number, content: Content): Promise<StoredPart> {
    const { etag, checksums } = content;
    const part = { ...content, upload, number, uploadedAt: this.#now() };
    try {
      this.#garbage.made(await this.#db.write(rows.whileOpen(upload), ...parts.put(part)));
    } catch (error) {
      if (isDatabaseFault(error, "guard")) throw noSuchUpload(upload);
      throw error;
    }
    return { partNumber: number, etag, checksums: checksums ?? {} };
  }

  /**
   * No octet moves: the rows of the parts stay, and the object's row leads to them. Null when a condition did
   * not hold.
   */
  complete(
    bucket: Bucket,
    key: string,
    uploadId: string,
    chosen: readonly UploadedPart[],
    options: CompleteOptions,
  ): Promise<ObjectInfo | null> {
    const { conditions, isRepeatable = true } = options;
    return untilUndisturbed(async () => {
      const upload = await this.#find(bucket, key, uploadId);
      if (upload.completed !== null && isRepeatable)
        return infoOfCompleted(upload, upload.completed);
      this.#checkOpen(upload);
      checkType(upload.checksum, options.checksumType);
      if (options.encryption !== undefined) Seal.open(upload.encryption, options.encryption);
      const there = await this.#db.all(parts.partsOfUpload({ upload: uploadId }));
      const used = chosenParts(chosen, there, options, this.#limits);
      const seen = conditions === undefined ? null : await this.#db.first(objectInfo(upload));
      if (conditions !== undefined && !allowWrite(conditions, seen)) return null;
      const row: ObjectRow = {
        bucket: bucket.number,
        key,
        version: randomId(),
        size: used.reduce((sum, { size }) => sum + size, 0),
        etag: etagOfParts(used.map(({ etag }) => etag)),
        uploadedAt: this.#now(),
        storageClass: upload.storageClass,
        partCount: used.length,
        checksums: checksumsOfParts(upload.checksum, used, options.checksum),
        encryption: upload.encryption,
        metadata: upload.metadata,
        blob: uploadId,
        body: null,
      };
      const numbers = new Set(used.map(({ number }) => number));
      const steps = [
        rows.finish(upload, row),
        ...parts.place(uploadId, there, numbers, row.uploadedAt),
        ...(conditions === undefined
          ? put(this.#db, row)
          : putAfter(this.#db, row, seen?.version ?? null)),
      ];
      const alongside = this.#alongside.steps(bucket, { kind: "put", row });
      const write = () => this.#db.write(...steps, ...alongside);
      this.#garbage.madeByPut(await this.#recent.change(bucket, [key], write), steps.length);
      this.#alongside.written(bucket);
      return infoOf(row, row.metadata ?? {});
    });
  }

  /** Of an upload that is open. */
  async parts(
    bucket: Bucket,
    key: string,
    uploadId: string,
    options: PartListOptions,
  ): Promise<PartPage> {
    const upload = await this.#open(bucket, key, uploadId);
    return { upload: uploadOf(upload), ...(await listParts(this.#db, uploadId, options)) };
  }

  /** An upload that has ended, one way or the other, need not be aborted: that is no fault. */
  async abort(bucket: Bucket, key: string, uploadId: string): Promise<void> {
    const { isOpen } = await this.#find(bucket, key, uploadId);
    if (!isOpen) return;
    try {
      this.#garbage.made(await this.#db.write(...rows.abort(uploadId, this.#now())));
    } catch (error) {
      if (!isDatabaseFault(error, "guard")) throw error; // It has ended meanwhile.
    }
  }

  async #open(bucket: Bucket, key: string, uploadId: string): Promise<rows.UploadRow> {
    const upload = await this.#find(bucket, key, uploadId);
    this.#checkOpen(upload);
    return upload;
  }

  #checkOpen({ id, isOpen, createdAt }: rows.UploadRow): void {
    const hasLapsed = createdAt + UPLOAD_LIFETIME_MS <= this.#now();
    if (!isOpen || hasLapsed) throw noSuchUpload(id);
  }

  async #find(bucket: Bucket, key: string, uploadId: string): Promise<rows.UploadRow> {
    checkKey(key);
    if (!/^[0-9a-f]{32}$/.test(uploadId)) throw noSuchUpload(uploadId);
    const upload = await this.#db.first(rows.uploadById({ id: uploadId }));
    if (upload === null || upload.bucket !== bucket.number || upload.key !== key) {
      throw noSuchUpload(uploadId);
    }
    return upload;
  }
}

/** Of a part the one that the upload chose is always kept. */
function checksumsOf(
  { checksum }: rows.UploadRow,
  { checksums = [] }: PartOptions,
): readonly ExpectedChecksum[] {
  return checksum === null ? checksums : [...checksums, { algorithm: checksum.algorithm }];
}

function infoOfCompleted(upload: rows.UploadRow, completed: rows.Completed): ObjectInfo {
  return infoOf({ ...upload, ...completed }, upload.metadata ?? {});
}

function noSuchUpload(uploadId: string): ObjectFault {
  const shown = JSON.stringify(uploadId.slice(0, 40));
  return new ObjectFault("no-such-upload", `There is no upload ${shown} for this key`);
}
