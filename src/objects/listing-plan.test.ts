/** How the engines walk a list: key by key, also in a bucket that their statistics have not heard of. */
import assert from "node:assert/strict";
import { before, test } from "node:test";
import { type Bound, type Database, statement } from "#db";
import { memoryDriver } from "./drivers/memory.ts";
import { list } from "./listing.ts";
import type { Bucket, ListOptions } from "./model.ts";
import { ObjectStore } from "./object-store.ts";
import { ACCOUNT, onBothEngines } from "./store.contract.ts";

/** Enough that reading all of them would be the cheaper plan if they were as few as is thought. */
const MANY = 20_000;

onBothEngines("the plan of a list", (db) => {
  let bucket: Bucket;

  before(async () => {
    const store = new ObjectStore({ db: db(), blobs: memoryDriver(), now: Date.now });
    const known = await store.createBucket(ACCOUNT, "known");
    bucket = await store.createBucket(ACCOUNT, "unknown");
    await fill(db(), known, MANY / 10);
    await run(db(), "ANALYZE");
    await fill(db(), bucket, MANY);
  });

  for (const options of [{}, { delimiter: "/" }, { delimiter: "?" }, { prefix: "k1" }]) {
    test(`with ${JSON.stringify(options)} reads no more keys than it shows`, async () => {
      const plan = await planOf(db(), bucket, options);
      assert.match(plan, /objects/);
      assert.doesNotMatch(
        plan,
        /Sort|Hash|Merge|Materialize|Seq Scan|Bitmap|TEMP B-TREE|SCAN objects/,
      );
    });
  }
});

/** Rows as puts make them, each key in a group of its own. */
async function fill(db: Database, { number }: Bucket, keys: number): Promise<void> {
  const key = "'k' || i || '/x'";
  const [made, slot] =
    db.engine === "sqlite"
      ? [`CAST(${key} AS BLOB)`, "x'00'"]
      : [`convert_to(${key}, 'UTF8')`, "'\\x00'::BYTEA"];
  await run(
    db,
    `INSERT INTO objects (bucket, key, slot, version, size, etag, uploaded_at, storage_class)
     WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < ${keys})
     SELECT ${number}, ${made}, ${slot}, 'v', 0, 'e', 0, 0 FROM numbers`,
  );
}

async function run(db: Database, sql: string): Promise<void> {
  await db.write(statement({ sql })({}));
}

async function planOf(db: Database, bucket: Bucket, options: ListOptions): Promise<string> {
  const plan: string[] = [];
  const all = async (query: Bound): Promise<never[]> => {
    const { sqlite, postgres } = query.text;
    const explained = { sqlite: `EXPLAIN QUERY PLAN ${sqlite}`, postgres: `EXPLAIN ${postgres}` };
    const text = { ...query.text, ...explained, name: null };
    plan.push(...(await db.all({ ...query, text, decode: (row) => row.join(" ") })));
    return [];
  };
  await list({ engine: db.engine, all } as unknown as Database, bucket, options);
  return plan.join("\n");
}
