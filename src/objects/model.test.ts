/**
 * Random sequences of operations, each result compared with that of a store as simple as can be. Long:
 * `SELVEDGE_TEST_RUNS=3000 npm test -- src/objects/model.test.ts`.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { ObjectFault } from "./fault.ts";
import { keys, type Operation, operation } from "./model-operations.contract.ts";
import { ModelFault, ModelStore, type Told } from "./model-store.contract.ts";
import type { Body, Bucket, Conditions, ObjectInfo, PutOptions } from "./model.ts";
import type { CompleteOptions, UploadedPart } from "./upload-model.ts";
import { ObjectStore } from "./object-store.ts";
import {
  ACCOUNT,
  blobIds,
  forgetfulDriver,
  inPieces,
  onBothEngines,
  read,
  smallLimits,
} from "./store.contract.ts";

const RUNS = Number(process.env["SELVEDGE_TEST_RUNS"] ?? 60);
const MINUTES = 60_000;

onBothEngines("a store and its model", (db) => {
  let made = 0;

  test("tell the same of any sequence of operations", { timeout: 30 * MINUTES }, async () => {
    const property = fc.asyncProperty(
      fc.array(operation, { minLength: 1, maxLength: 60, size: "max" }),
      async (operations) => {
        const model = new ModelStore();
        model.clock = 1_700_000_000_000;
        const now = () => model.clock;
        await using blobs = forgetfulDriver(now);
        const store = new ObjectStore({ db: db(), blobs, now, limits: smallLimits });
        const bucket = await store.createBucket(ACCOUNT, `model-${++made}`);
        const pair = new Pair(store, bucket, model);
        for (const one of operations) await pair.compare(one);
        await pair.readTheOpened();
        await pair.compareAll();
        await store.delete(bucket, keys);
        // Once for uploads to lapse, once for what they held. There are no orphans to look for.
        for (let sweeps = 0; sweeps < 2; sweeps++) {
          model.clock += 15 * 86_400_000;
          await store.sweep({ orphans: false });
        }
        assert.deepEqual(await blobIds(blobs), []);
        await store.deleteBucket(bucket.name);
      },
    );
    await fc.assert(property, { numRuns: RUNS });
  });
});

/** A store and its model, and the handles that only the store has. */
class Pair {
  readonly #store: ObjectStore;
  readonly #bucket: Bucket;
  readonly #model: ModelStore;
  readonly #uploadIds: string[] = [];
  readonly #versions = new Set<string>();
  /** Bodies that were opened and are read at the end. */
  readonly #opened: { readonly body: Body | Uint8Array; readonly octets: string }[] = [];

  constructor(store: ObjectStore, bucket: Bucket, model: ModelStore) {
    this.#store = store;
    this.#bucket = bucket;
    this.#model = model;
  }

  async compare(operation: Operation): Promise<void> {
    if (operation.op === "assemble") return this.#assemble(operation);
    const [actual, expected] = [this.#real(operation), this.#modelled(operation)];
    assert.deepEqual(await outcomeOf(() => actual), await outcomeOf(expected));
  }

  /** An upload from its beginning to its end: by chance alone they are rare. */
  async #assemble({ key, parts, choice }: Extract<Operation, { op: "assemble" }>): Promise<void> {
    const upload = this.#model.uploads.length;
    await this.compare({ op: "createUpload", key, write: {}, choice });
    for (const [i, fill] of parts.entries()) {
      const octets = Buffer.from(`part ${fill} of ${i}`);
      await this.compare({ op: "uploadPart", upload, number: i + 1, octets });
    }
    const numbers = parts.map((_, i) => i + 1);
    const options = { isWrong: false, evenParts: true, isRepeatable: false, size: null };
    await this.compare({ op: "complete", upload, numbers, conditions: undefined, ...options });
  }

  #modelled(one: Exclude<Operation, { op: "assemble" }>): () => unknown {
    const model = this.#model;
    switch (one.op) {
      case "head":
        return () => model.head(one.key);
      case "get":
        return () => model.get(one.key, this.#dated(one.conditions), one.range);
      case "put":
        return () => model.put(one.key, one.octets, this.#putOptions(one));
      case "delete":
        return () => model.delete(one.keys);
      case "deleteIf":
        return () => model.deleteIf(one.key, this.#deleteConditions(one));
      case "setTags":
        return () => model.setTags(one.key, one.tags);
      case "transition":
        return () => model.transition(one.key);
      case "getPart":
        return () => model.getPart(one.key, one.number);
      case "partsOf":
        return () => model.partsOf(one.key);
      case "list":
        return () => model.list(one.options);
      case "listUploads":
        return () => model.listUploads(one.options, one.from.keyMarker, this.#markerOf(one));
      case "listParts":
        return () => model.listParts(one.upload, this.#keyOf(one.upload), one.after);
      case "createUpload":
        return () => model.createUpload(one.key, one.write, one.choice);
      case "uploadPart":
        return () => model.uploadPart(one.upload, this.#keyOf(one.upload), one.number, one.octets);
      case "complete":
        return () => {
          const key = this.#keyOf(one.upload);
          return model.complete(one.upload, key, this.#named(one), this.#completeOptions(one));
        };
      case "abort":
        return () => model.abort(one.upload, one.key ?? this.#keyOf(one.upload));
      case "open":
      case "sweep":
        return () => undefined;
      case "wait":
        return () => void (model.clock += one.ms);
      default:
        throw new Error("There is no such operation");
    }
  }

  async #real(one: Exclude<Operation, { op: "assemble" }>): Promise<unknown> {
    const [store, bucket] = [this.#store, this.#bucket];
    switch (one.op) {
      case "head":
        return this.#told(await store.head(bucket, one.key));
      case "get":
        return this.#get(one);
      case "put": {
        const body = one.inPieces ? piecesOf(one.octets) : one.octets;
        return this.#toldNew(await store.put(bucket, one.key, body, this.#putOptions(one)));
      }
      case "delete":
        return store.delete(bucket, one.keys);
      case "deleteIf":
        return store.deleteIf(bucket, one.key, this.#deleteConditions(one));
      case "setTags":
        return store.setTags(bucket, one.key, one.tags);
      case "transition": {
        const version = (await store.head(bucket, one.key))?.version ?? "none";
        return store.transition(bucket, one.key, version, "InfrequentAccess");
      }
      case "getPart":
        return this.#get({
          key: one.key,
          conditions: undefined,
          range: undefined,
          partNumber: one.number,
        });
      case "partsOf":
        return this.#partsOf(one);
      case "list":
        return this.#list(one.options);
      case "listUploads":
        return this.#listUploads(one);
      case "listParts":
        return this.#listParts(one);
      case "createUpload": {
        const options = { ...one.write, ...(one.choice && { checksum: one.choice }) };
        this.#uploadIds.push((await store.createUpload(bucket, one.key, options)).uploadId);
        return undefined;
      }
      case "uploadPart": {
        const [key, id] = [this.#keyOf(one.upload), this.#idOf(one.upload)];
        return store.uploadPart(bucket, key, id, one.number, one.octets);
      }
      case "complete": {
        const [key, id] = [this.#keyOf(one.upload), this.#idOf(one.upload)];
        const options = this.#completeOptions(one);
        const isRepeated =
          one.isRepeatable && this.#model.uploads[one.upload]?.result !== undefined;
        const object = await store.completeUpload(bucket, key, id, this.#named(one), options);
        return isRepeated ? this.#told(object) : this.#toldNew(object);
      }
      case "abort":
        return store.abortUpload(
          bucket,
          one.key ?? this.#keyOf(one.upload),
          this.#idOf(one.upload),
        );
      case "open":
        return this.#open(one.key);
      case "sweep":
        return void (await store.sweep());
      case "wait":
        return undefined;
      default:
        throw new Error("There is no such operation");
    }
  }

  async #get(
    one: Pick<Extract<Operation, { op: "get" }>, "key" | "conditions" | "range"> & {
      readonly partNumber?: number;
    },
  ): Promise<unknown> {
    const { partNumber } = one;
    const conditions = this.#dated(one.conditions);
    const got = await this.#store.get(this.#bucket, one.key, {
      ...(conditions && { conditions }),
      ...(one.range && { range: one.range }),
      ...(partNumber !== undefined && { partNumber }),
    });
    if (got.kind === "missing") return got;
    const object = this.#told(got.object);
    if (got.kind === "condition-failed") return { kind: got.kind, object };
    const octets = (await read(got.body)).toString("hex");
    return { kind: got.kind, object, range: got.range, octets };
  }

  async #list(options: Extract<Operation, { op: "list" }>["options"]): Promise<unknown> {
    const entries: (Told | string)[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const at = cursor === undefined ? {} : { cursor };
      const page = await this.#store.list(this.#bucket, { ...options, ...at });
      const all = [...page.prefixes, ...page.objects.map((object) => this.#told(object)!)];
      assert.equal(page.cursor !== null && all.length !== options.limit, false);
      entries.push(...all.sort((a, b) => Buffer.compare(nameOf(a), nameOf(b))));
      cursor = page.cursor;
    }
    return entries;
  }

  async #listUploads(one: Extract<Operation, { op: "listUploads" }>): Promise<unknown> {
    const { prefix, delimiter, limit } = one.options;
    const upload = this.#markerOf(one);
    const entries: (number | string)[] = [];
    let keyMarker: string = one.from.keyMarker;
    let uploadIdMarker = upload === null ? "" : this.#uploadIds[upload]!;
    for (;;) {
      const page = await this.#store.listUploads(this.#bucket, {
        ...(prefix !== undefined && { prefix }),
        ...(delimiter !== undefined && { delimiter }),
        keyMarker,
        uploadIdMarker,
        limit,
      });
      const { uploads, prefixes, next } = page;
      assert.equal(next !== null && uploads.length + prefixes.length !== limit, false);
      const named = [
        ...uploads.map(({ key, uploadId }) => [key, this.#uploadIds.indexOf(uploadId)] as const),
        ...prefixes.map((prefix) => [prefix, prefix] as const),
      ];
      const inOrder = named.sort(([a], [b]) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      entries.push(...inOrder.map(([, entry]) => entry));
      if (next === null) return entries;
      [keyMarker, uploadIdMarker] = [next.key, next.uploadId];
    }
  }

  async #listParts(one: Extract<Operation, { op: "listParts" }>): Promise<unknown> {
    const [key, id] = [this.#keyOf(one.upload), this.#idOf(one.upload)];
    const all: unknown[] = [];
    for (let after: number | null = one.after; after !== null;) {
      const page = await this.#store.listParts(this.#bucket, key, id, { after, limit: 2 });
      assert.equal(page.upload.key, key);
      all.push(...page.parts);
      after = page.next;
    }
    return all;
  }

  async #partsOf({ key, limit }: Extract<Operation, { op: "partsOf" }>): Promise<unknown> {
    const all: unknown[] = [];
    for (let after: number | null = 0; after !== null;) {
      const page = await this.#store.partsOf(this.#bucket, key, { after, limit });
      if (page === null) return null;
      this.#told(page.object);
      all.push(...page.parts);
      after = page.next;
    }
    return all;
  }

  async #open(key: string): Promise<void> {
    if (!this.#model.objects.has(key)) return;
    const got = await this.#store.get(this.#bucket, key);
    assert.equal(got.kind, "found");
    const octets = this.#model.objects.get(key)!.octets.toString("hex");
    this.#opened.push({ body: got.body, octets });
  }

  /** What was opened is as it was then, whatever has happened since. */
  async readTheOpened(): Promise<void> {
    for (const { body, octets } of this.#opened) {
      assert.equal((await read(body)).toString("hex"), octets);
    }
  }

  async compareAll(): Promise<void> {
    await this.compare({ op: "list", options: { limit: 4 } });
    for (const key of keys) {
      await this.compare({ op: "get", key, conditions: undefined, range: undefined });
    }
  }

  #keyOf(upload: number): string {
    return this.#model.uploads[upload]?.key ?? "no upload";
  }

  #idOf(upload: number): string {
    return this.#uploadIds[upload] ?? "0".repeat(32);
  }

  /** An upload that is marked; only one of the marked key counts. */
  #markerOf({ from }: Extract<Operation, { op: "listUploads" }>): number | null {
    const { upload, keyMarker } = from;
    return upload !== null && this.#model.uploads[upload]?.key === keyMarker ? upload : null;
  }

  #deleteConditions(one: Extract<Operation, { op: "deleteIf" }>) {
    const { size, uploadedAt } = one;
    return {
      ...this.#dated(one.conditions),
      ...(size !== null && { size }),
      ...(uploadedAt !== null && { uploadedAt: this.#model.clock - uploadedAt }),
    };
  }

  #completeOptions(one: Extract<Operation, { op: "complete" }>): CompleteOptions {
    const { evenParts, isRepeatable, size } = one;
    const conditions = this.#dated(one.conditions);
    return {
      evenParts,
      isRepeatable,
      ...(conditions && { conditions }),
      ...(size !== null && { size }),
    };
  }

  #named(one: Extract<Operation, { op: "complete" }>): UploadedPart[] {
    const parts = this.#model.uploads[one.upload]?.parts;
    return one.numbers.map((partNumber) => {
      const { octets } = parts?.get(partNumber) ?? { octets: Buffer.alloc(0) };
      const etag = one.isWrong ? "wrong" : md5(octets);
      return { partNumber, etag };
    });
  }

  #putOptions(one: Extract<Operation, { op: "put" }>): PutOptions {
    const { write, checksum, size } = one;
    const conditions = this.#dated(one.conditions);
    const algorithm = checksum === "wrong" ? "sha1" : checksum;
    const value =
      checksum === "wrong"
        ? "00"
        : createHash(algorithm ?? "md5")
            .update(one.octets)
            .digest("hex");
    return {
      ...write,
      ...(conditions && { conditions }),
      ...(algorithm && { checksums: [{ algorithm, value }] }),
      ...(size !== null && { size }),
    };
  }

  #dated(conditions: Conditions | undefined): Conditions | undefined {
    if (conditions === undefined) return undefined;
    const { uploadedBefore, uploadedAfter } = conditions;
    return {
      ...conditions,
      ...(uploadedBefore !== undefined && { uploadedBefore: this.#model.clock - uploadedBefore }),
      ...(uploadedAfter !== undefined && { uploadedAfter: this.#model.clock - uploadedAfter }),
    };
  }

  #told(object: ObjectInfo | null): Told | null {
    if (object === null) return null;
    const { version, ...told } = object;
    assert.ok(this.#versions.has(version), "a version that no write gave");
    return told;
  }

  #toldNew(object: ObjectInfo | null): Told | null {
    if (object === null) return null;
    assert.match(object.version, /^[0-9a-f]{32}$/);
    assert.ok(!this.#versions.has(object.version), "a version given twice");
    this.#versions.add(object.version);
    return this.#told(object);
  }
}

function nameOf(entry: Told | string): Buffer {
  return Buffer.from(typeof entry === "string" ? entry : entry.key);
}

function md5(octets: Buffer): string {
  return createHash("md5").update(octets).digest("hex");
}

function piecesOf(octets: Buffer): Body {
  return inPieces(
    ...Array.from({ length: Math.ceil(octets.length / 7) }, (_, i) =>
      octets.subarray(i * 7, i * 7 + 7),
    ),
  );
}

async function outcomeOf(work: () => unknown): Promise<unknown> {
  try {
    // As plain data: dictionaries of fast-check have no prototype.
    return JSON.parse(JSON.stringify({ value: await work() })) as unknown;
  } catch (error) {
    if (error instanceof ObjectFault || error instanceof ModelFault) return { fault: error.kind };
    throw error;
  }
}
