import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { integer } from "./columns.ts";
import { databaseContract } from "./database.contract.ts";
import { isDatabaseFault } from "./database.ts";
import { openSqlite } from "./sqlite.ts";
import { rawStatement, statement } from "./statement.ts";

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
