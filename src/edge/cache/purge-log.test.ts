import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { type Database, migrate, openDatabase } from "#db";
import { Log } from "#kit/log.ts";
import { until } from "../../../test/support/patience.ts";
import { freshPostgresUrl, stopOwnPostgres } from "../../../test/support/postgres.ts";
import { cacheMigrations, PurgeLog } from "./purge-log.ts";
import { PurgeRules } from "./purge-rules.ts";

const log = new Log({ format: "json", level: "error", now: Date.now, write: () => {} });
const host = (value: string) => ({ zoneId: "z", kind: "host", value }) as const;
const KEY = "z https://a.test/";

for (const engine of ["sqlite", "postgres"] as const) {
  suite(`the log of purges, on ${engine}`, () => {
    let folder: string;
    let url: string;
    let db: Database;
    const open = () => openDatabase({ url, dataDir: folder, onError: assert.fail });
    before(async () => {
      folder = await mkdtemp(join(tmpdir(), "selvedge-purges-"));
      url = engine === "sqlite" ? "sqlite:" : await freshPostgresUrl();
      db = await open();
      const options = { holder: "test", now: Date.now, sleep: async () => {} };
      await migrate(db, cacheMigrations, options);
    });
    after(async () => {
      await db[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    });

    test("numbers what is purged at once, and is known again after a restart", async () => {
      const purges = await PurgeLog.open(db);
      const before = purges.rules.last;
      await Promise.all([
        purges.purge([host("a.test"), host("b.test")]),
        purges.purge([host("c.test")]),
      ]);
      assert.equal(purges.rules.last, before + 3);
      assert.ok(purges.rules.isPurged(KEY, before));
      const { rules } = await PurgeLog.open(db);
      assert.equal(rules.last, before + 3);
      assert.ok(rules.isPurged(KEY, before));
      assert.ok(!rules.isPurged(KEY, before + 3));
    });

    test("tells other threads of all, before the one who purges hears that it is done", async () => {
      const purges = await PurgeLog.open(db);
      const rules = new PurgeRules(purges.floor);
      using told = await purges.tell(async (some) => rules.add(some));
      assert.ok(told);
      assert.equal(rules.last, purges.rules.last);
      const since = rules.last;
      await purges.purge([host("a.test")]);
      assert.ok(rules.isPurged(KEY, since));
    });

    if (engine === "sqlite") return;
    test("reaches other nodes", async () => {
      await using otherDb = await open();
      const here = await PurgeLog.open(db);
      const there = await PurgeLog.open(otherDb);
      await using following = await there.follow(log);
      assert.ok(following);
      const since = there.rules.last;
      await here.purge([host("a.test")]);
      await until(() => there.rules.isPurged(KEY, since));
    });
  });
}
after(stopOwnPostgres);
