import assert from "node:assert/strict";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { integer, text } from "./columns.ts";
import { databaseContract } from "./database.contract.ts";
import { isDatabaseFault } from "./database.ts";
import { openSqlite } from "./sqlite.ts";
import { mustChangeOne, rawStatement, statement } from "./statement.ts";

databaseContract("SQLite", async () => {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-db-"));
  return {
    open: () => openSqlite(join(folder, "test.db")),
    cleanUp: () => rm(folder, { recursive: true }),
  };
});

test("a SQLite write is on disk when it resolves: commits sync fully, in the write-ahead log", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-db-"));
  t.after(() => rm(folder, { recursive: true }));
  await using db = await openSqlite(join(folder, "test.db"));
  const synchronous = statement({ sql: "PRAGMA synchronous", gives: { level: integer } });
  const [writer] = await db.write(synchronous({}));
  assert.deepEqual(writer.rows, [{ level: 2 }]);
});

test("a closed SQLite database finishes what it took and refuses what comes later", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-db-"));
  t.after(() => rm(folder, { recursive: true }));
  const db = await openSqlite(join(folder, "test.db"));
  const taken = db.write(rawStatement("CREATE TABLE late (a TEXT)"));
  await db[Symbol.asyncDispose]();
  await taken;
  await assert.rejects(db.write(rawStatement("DROP TABLE late")), (error) =>
    isDatabaseFault(error, "unavailable"),
  );
});

test("writes asked for together happen in their order, each once, whichever of them fail", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-db-"));
  t.after(() => rm(folder, { recursive: true }));
  await using db = await openSqlite(join(folder, "test.db"));
  await db.write(
    rawStatement("CREATE TABLE counts (n INTEGER NOT NULL)"),
    rawStatement("CREATE TABLE names (name TEXT PRIMARY KEY)"),
    rawStatement("INSERT INTO counts VALUES (0)"),
    rawStatement("INSERT INTO names VALUES ('taken')"),
  );
  const next = statement({
    sql: "UPDATE counts SET n = n + 1 WHERE n = :seen RETURNING n",
    takes: { seen: integer },
    gives: { n: integer },
  });
  const name = statement({ sql: "INSERT INTO names VALUES (:name)", takes: { name: text } });
  let good = 0;
  const expected: (number | "guard" | "unique")[] = [];
  const writes = Array.from({ length: 100 }, (_, i) => {
    if (i % 9 === 4) expected.push("unique");
    else if (i % 9 === 7) expected.push("guard");
    else expected.push(good + 1);
    // What fails has counted before: that must not be seen by those behind it.
    const first = [name({ name: `n${i}` }), next({ seen: good })] as const;
    if (i % 9 === 4) return db.write(...first, name({ name: "taken" }));
    if (i % 9 === 7) return db.write(...first, mustChangeOne(next({ seen: -1 })));
    return db.write(mustChangeOne(next({ seen: good++ })), name({ name: `n${i}` }));
  });
  const outcomes = await Promise.allSettled(writes);
  assert.deepEqual(
    outcomes.map((outcome) =>
      outcome.status === "fulfilled"
        ? (outcome.value[0].rows[0] as { n: number } | undefined)?.n
        : outcome.reason.kind,
    ),
    expected,
  );
});

test("a row that is not as declared fails the write that asked for it, and no other", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-db-"));
  t.after(() => rm(folder, { recursive: true }));
  await using db = await openSqlite(join(folder, "test.db"));
  const given = { sql: "SELECT 'a word'" };
  const wrong = statement({ ...given, gives: { word: integer } });
  const right = statement({ ...given, gives: { word: text } });
  const writes = [right({}), wrong({}), right({})].map((step) => db.write(step));
  const outcomes = await Promise.allSettled(writes);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
});

test("a damaged file is a fault that says so, whatever is asked", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-db-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "test.db");
  {
    await using db = await openSqlite(path);
    const names = Array.from({ length: 1_000 }, (_, i) => `('${"long ".repeat(50)}${i}')`);
    await db.write(
      rawStatement("CREATE TABLE names (name TEXT)"),
      rawStatement(`INSERT INTO names VALUES ${names.join()}`),
    );
  }
  const file = await open(path, "r+");
  const { size } = await file.stat();
  await file.write(new Uint8Array(size - 8192).fill(0xff), 0, size - 8192, 8192);
  await file.close();
  await using db = await openSqlite(path);
  const all = statement({ sql: "SELECT name FROM names", gives: { name: text } });
  for (const read of [() => db.all(all({})), () => db.first(all({})), () => db.write(all({}))]) {
    await assert.rejects(read(), (error: Error) => {
      assert.ok(isDatabaseFault(error, "unavailable"));
      return /SQLite: database disk image is malformed \(code \d+\)/.test(error.message);
    });
  }
});
