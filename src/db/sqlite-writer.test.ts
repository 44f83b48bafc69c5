import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test, type TestContext } from "node:test";
import { integer } from "./columns.ts";
import { databaseContract } from "./database.contract.ts";
import { type Database, isDatabaseFault } from "./database.ts";
import { openSqlite } from "./sqlite.ts";
import { rawStatement, statement } from "./statement.ts";

databaseContract("SQLite through the writer of another thread", async () => {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-db-"));
  const path = join(folder, "test.db");
  const first = await openSqlite(path);
  return {
    open: () => openSqlite(path, first.portForThread()!),
    async cleanUp() {
      await first[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
});

const add = statement({ sql: "INSERT INTO numbers VALUES (:n)", takes: { n: integer } });
const all = statement({ sql: "SELECT n FROM numbers ORDER BY n", gives: { n: integer } });
const count = statement({ sql: "SELECT COUNT(*) FROM numbers", gives: { n: integer } });

/** Some that write to one file, the first of them with the writer. */
async function open(t: TestContext, others: number): Promise<[Database, ...Database[]]> {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-db-"));
  const path = join(folder, "test.db");
  const first = await openSqlite(path);
  t.after(async () => {
    await first[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });
  await first.write(rawStatement("CREATE TABLE numbers (n INTEGER PRIMARY KEY)"));
  const more = Array.from({ length: others }, () => openSqlite(path, first.portForThread()!));
  return [first, ...(await Promise.all(more))];
}

suite("SQLite's writer", () => {
  test("shares commits between those who write, and tells each what came of its own", async (t) => {
    const databases = await open(t, 2);
    const writes = Array.from({ length: 300 }, (_, i) =>
      databases[i % 3]!.write(add({ n: Math.floor(i / 2) * 2 })),
    );
    const outcomes = await Promise.allSettled(writes);
    const failed = outcomes.filter(({ status }) => status === "rejected");
    assert.equal(failed.length, 150, "of each number one");
    for (const { reason } of failed as PromiseRejectedResult[]) {
      assert.ok(isDatabaseFault(reason, "unique"));
    }
    for (const db of databases) assert.equal((await db.all(all({}))).length, 150);
  });

  test("lets what one has written be read by all as soon as that one knows", async (t) => {
    const databases = await open(t, 2);
    for (let n = 1; n <= 200; n++) {
      await databases[n % 3]!.write(add({ n }));
      assert.deepEqual(await databases[(n + 1) % 3]!.first(count({})), { n });
    }
  });

  test("keeps a long write of one whole while others write", async (t) => {
    const [first, second] = await open(t, 1);
    const long = (from: number, fault: number) =>
      function* () {
        for (let n = from; n < from + 50_000; n++) yield add({ n: n === fault ? from : n });
      };
    const outcomes = await Promise.allSettled([
      second!.write(add({ n: 1 })),
      first.writeAll(long(100_000, -1)()),
      second!.writeAll(long(200_000, 230_000)()),
      second!.write(add({ n: 2 })),
      first.write(add({ n: 3 })),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["fulfilled", "fulfilled", "rejected", "fulfilled", "fulfilled"],
    );
    assert.deepEqual(await first.first(count({})), { n: 50_003 });
  });

  test("undoes the half of a long write whose thread has gone, and goes on", async (t) => {
    const [first, second] = await open(t, 1);
    function* endless() {
      for (let n = 1; ; n++) {
        // As its thread would if it died: what is behind is not told of.
        if (n === 30_000) void second![Symbol.asyncDispose]();
        if (n === 30_001) throw new Error("gone");
        yield add({ n });
      }
    }
    await assert.rejects(second!.writeAll(endless()));
    await first.write(add({ n: 7 }));
    assert.deepEqual(await first.all(all({})), [{ n: 7 }]);
  });

  test("is left by one, and serves the others", async (t) => {
    const [first, second, third] = await open(t, 2);
    const last = second!.write(add({ n: 1 }));
    await second![Symbol.asyncDispose]();
    await last;
    await assert.rejects(second!.write(add({ n: 2 })), (error) =>
      isDatabaseFault(error, "unavailable"),
    );
    await third!.write(add({ n: 3 }));
    assert.equal((await first.all(all({}))).length, 2);
  });
});
