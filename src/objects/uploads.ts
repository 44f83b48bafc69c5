/** Multipart uploads: parts gathered under an id, and the object that they become where they lie. */
import { type Database, isDatabaseFault, untilUndisturbed } from "#db";
import { randomId } from "#kit/random.ts";
import { leave } from "./bodies.ts";
import type { Contents } from "./contents.ts";
import { ObjectFault } from "./fault.ts";
import type { Garbage } from "./garbage.ts";
import { etagOfParts } from "./hashing.ts";
import { checkKey } from "./keys.ts";
import { MAX_PARTS, type ObjectLimits, UPLOAD_LIFETIME_MS } from "./limits.ts";
import { metadataOf, storageClassOf } from "./metadata.ts";
import type {
  Body,
  BodyOptions,
  Bucket,
  CompleteOptions,
  ObjectInfo,
  Upload,
  UploadedPart,
  WriteOptions,
} from "./model.ts";
import { infoOf, type ObjectRow } from "./object-rows.ts";
import { put } from "./object-writes.ts";
import * as parts from "./part-rows.ts";
import * as rows from "./upload-rows.ts";
import { chosenParts } from "./upload-parts.ts";
import type { WritingOptions } from "./writing.ts";

export class Uploads {
  readonly #db: Database;
  readonly #contents: Contents;
  readonly #garbage: Garbage;
  readonly #limits: ObjectLimits;
  readonly #now: () => number;

  constructor({ db, contents, garbage, limits, now }: WritingOptions) {
    this.#db = db;
    this.#contents = contents;
    this.#garbage = garbage;
    this.#limits = limits;
    this.#now = now;
  }

  async create(bucket: Bucket, key: string, options: WriteOptions): Promise<Upload> {
    checkKey(key);
    const storageClass = storageClassOf(options, bucket);
    const metadata = metadataOf(options, this.#limits.metadata);
    const [uploadId, createdAt] = [randomId(), this.#now()];
    await this.#db.write(
      rows.addUpload({
        id: uploadId,
        bucket: bucket.number,
        key,
        isOpen: true,
        revision: 0,
        storageClass,
        metadata,
        createdAt,
      }),
    );
    return { key, uploadId, createdAt, storageClass };
  }

  async putPart(
    bucket: Bucket,
    key: string,
    uploadId: string,
    number: number,
    body: Body | Uint8Array,
    options: BodyOptions,
  ): Promise<UploadedPart> {
    try {
      if (!Number.isInteger(number) || number < 1 || number > MAX_PARTS) {
        throw new ObjectFault("no-such-part", `Parts have numbers from 1 to ${MAX_PARTS}`);
      }
      await this.#open(bucket, key, uploadId);
    } catch (error) {
      await leave(body);
      throw error;
    }
    return this.#contents.store(body, options, async ({ size, md5, blob, body }) => {
      const part = { upload: uploadId, number, size, md5, blob, body, uploadedAt: this.#now() };
      try {
        this.#garbage.made(await this.#db.write(rows.whileOpen(uploadId), ...parts.put(part)));
      } catch (error) {
        if (isDatabaseFault(error, "guard")) throw noSuchUpload(uploadId);
        throw error;
      }
      return { partNumber: number, etag: md5 };
    });
  }

  /** No octet moves: the rows of the parts stay, and the object's row leads to them. */
  complete(
    bucket: Bucket,
    key: string,
    uploadId: string,
    chosen: readonly UploadedPart[],
    options: CompleteOptions,
  ): Promise<ObjectInfo> {
    return untilUndisturbed(async () => {
      const upload = await this.#open(bucket, key, uploadId);
      const there = await this.#db.all(parts.partsOfUpload({ upload: uploadId }));
      const used = chosenParts(chosen, there, options, this.#limits);
      const uploadedAt = this.#now();
      const row: ObjectRow = {
        bucket: bucket.number,
        key,
        version: randomId(),
        size: used.reduce((sum, { size }) => sum + size, 0),
        etag: etagOfParts(used.map(({ md5 }) => md5)),
        uploadedAt,
        storageClass: upload.storageClass,
        checksums: null,
        metadata: upload.metadata,
        partCount: used.length,
        blob: uploadId,
        body: null,
      };
      const numbers = new Set(used.map(({ number }) => number));
      const steps = [
        rows.finish(upload),
        ...parts.place(uploadId, there, numbers, uploadedAt),
        ...put(this.#db, row),
      ];
      this.#garbage.madeByPut(await this.#db.write(...steps));
      return infoOf(row, row.metadata ?? {});
    });
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
    const hasLapsed = upload.createdAt + UPLOAD_LIFETIME_MS <= this.#now();
    if (!upload.isOpen || hasLapsed) throw noSuchUpload(uploadId);
    return upload;
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

function noSuchUpload(uploadId: string): ObjectFault {
  const shown = JSON.stringify(uploadId.slice(0, 40));
  return new ObjectFault("no-such-upload", `There is no upload ${shown} for this key`);
}
