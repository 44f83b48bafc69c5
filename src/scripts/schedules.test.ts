/** Cron triggers on both engines. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Database } from "#db";
import { Log } from "#kit/log.ts";
import { until } from "../../test/support/patience.ts";
import { Schedules } from "./schedules.ts";
import {
  ACCOUNT,
  by,
  is,
  NOW,
  onBothEngines,
  openScripts,
  silentLog,
  upload,
} from "./scripts.contract.ts";

const MINUTE = 60_000;
const done = Promise.resolve();

/** A node whose clock is set by hand, in minutes after noon. */
async function start(db: Database, run: (cron: string) => Promise<void> = async () => {}) {
  const { scripts } = await openScripts(db);
  let now = NOW;
  const ran: string[] = [];
  const lines: string[] = [];
  const write = (text: string) => void lines.push(text);
  const schedules = await Schedules.open({
    db,
    scripts,
    now: () => now,
    log: new Log({ format: "json", level: "warn", now: Date.now, write }),
    run: async (_scriptId, { cron, scheduledTime }) => {
      ran.push(`${cron} at ${(scheduledTime - NOW) / MINUTE}`);
      await run(cron);
    },
  });
  const tick = (minute: number) => {
    now = NOW + minute * MINUTE;
    schedules.tick();
  };
  const stop = () => schedules[Symbol.asyncDispose]();
  return { scripts, schedules, ran, lines, tick, [Symbol.asyncDispose]: stop };
}

onBothEngines("schedules", (db, open, engine) => {
  test("a script runs at the minutes of its crons, each once", async () => {
    await using node = await start(db());
    const { scripts, schedules, ran, tick } = node;
    await scripts.upload(ACCOUNT, "runs", upload(""), by);
    const crons = ["*/2 * * * *", "1 * * * *"];
    const set = await schedules.set(ACCOUNT, "runs", [...crons, "1 * * * *"]);
    assert.deepEqual(
      set.map(({ cron }) => cron),
      crons,
    );
    assert.deepEqual(await schedules.list(ACCOUNT, "runs"), set);
    tick(0.9);
    tick(1);
    await until(() => ran.length === 1);
    tick(1.5);
    tick(2.1);
    await until(() => ran.length === 2);
    await schedules.set(ACCOUNT, "runs", ["3 * * * *"]);
    tick(4);
    await until(() => ran.length === 3);
    assert.deepEqual(ran, ["1 * * * * at 1", "*/2 * * * * at 2", "3 * * * * at 3"]);
    await scripts.remove(ACCOUNT, "runs", false);
  });

  test("of several nodes one takes each time", async () => {
    await using first = await start(db());
    await first.scripts.upload(ACCOUNT, "once", upload(""), by);
    await first.schedules.set(ACCOUNT, "once", ["* * * * *"]);
    await using otherDb = await open();
    await using second = await start(otherDb);
    const all = () => [...first.ran, ...second.ran].toSorted();
    for (const minute of [1, 2, 3]) {
      first.tick(minute);
      second.tick(minute);
      await until(() => all().length >= minute);
    }
    await first[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
    assert.deepEqual(all(), ["* * * * * at 1", "* * * * * at 2", "* * * * * at 3"]);
    await first.scripts.remove(ACCOUNT, "once", false);
  });

  test("what was due while the process was busy is made up for, what is long past is not", async () => {
    await using node = await start(db());
    const { scripts, schedules, ran, tick } = node;
    await scripts.upload(ACCOUNT, "late", upload(""), by);
    await schedules.set(ACCOUNT, "late", ["* * * * *"]);
    tick(3);
    await until(() => ran.length === 3);
    tick(60);
    await until(() => ran.length === 8);
    assert.deepEqual(
      ran.map((one) => Number(one.split(" ").at(-1))).toSorted((a, b) => a - b),
      [1, 2, 3, 56, 57, 58, 59, 60],
    );
    await scripts.remove(ACCOUNT, "late", false);
  });

  test("a run that fails is logged, and others go on", async () => {
    await using node = await start(db(), async (cron) => {
      if (cron.startsWith("1")) throw new Error("out of order");
    });
    const { scripts, schedules, ran, lines, tick } = node;
    await scripts.upload(ACCOUNT, "fails", upload(""), by);
    await schedules.set(ACCOUNT, "fails", ["1 * * * *", "* * * * *"]);
    tick(1);
    tick(2);
    await until(() => ran.length === 3 && lines.join("").includes("out of order"));
    await scripts.remove(ACCOUNT, "fails", false);
  });

  test("runs that hang hold up no other script's, and nobody waits for them at the end", async () => {
    const hung = Promise.withResolvers<void>();
    const node = await start(db(), (cron) => (cron.startsWith("*/1") ? hung.promise : done));
    const { scripts, schedules, ran, lines, tick } = node;
    await scripts.upload(ACCOUNT, "hangs", upload(""), by);
    await scripts.upload(ACCOUNT, "works", upload(""), by);
    const crons = Array.from({ length: 20 }, (_, i) => `*/1 0-23${",0".repeat(i)} * * *`);
    await schedules.set(ACCOUNT, "hangs", crons);
    await schedules.set(ACCOUNT, "works", ["* * * * *"]);
    tick(1);
    await until(() => ran.includes("* * * * * at 1") && ran.length === 11);
    await until(() => lines.join("").includes("a scheduled run was left out"));
    await node[Symbol.asyncDispose]();
    hung.resolve();
    for (const name of ["hangs", "works"]) await scripts.remove(ACCOUNT, name, false);
  });

  test("a cron does not run beside itself, and what is too late by then is left out", async () => {
    const first = Promise.withResolvers<void>();
    const runs = [first.promise];
    await using node = await start(db(), () => runs.shift() ?? done);
    const { scripts, schedules, ran, lines, tick } = node;
    await scripts.upload(ACCOUNT, "slow", upload(""), by);
    await schedules.set(ACCOUNT, "slow", ["* * * * *"]);
    tick(1);
    await until(() => ran.length === 1);
    tick(2);
    tick(8);
    await scripts.list(ACCOUNT); // A write that was begun would be done by then.
    assert.deepEqual(ran, ["* * * * * at 1"]);
    first.resolve();
    await until(() => ran.at(-1) === "* * * * * at 8");
    assert.deepEqual(
      ran.map((one) => one.split(" ").at(-1)),
      ["1", "4", "5", "6", "7", "8"],
    );
    await until(() => lines.join("").includes("a scheduled run was left out"));
    await scripts.remove(ACCOUNT, "slow", false);
  });

  test("a script that is removed runs no more, and has nothing left when it comes again", async () => {
    await using node = await start(db());
    const { scripts, schedules, ran, tick } = node;
    await scripts.upload(ACCOUNT, "gone", upload(""), by);
    await schedules.set(ACCOUNT, "gone", ["* * * * *"]);
    await scripts.remove(ACCOUNT, "gone", false);
    tick(1);
    await scripts.upload(ACCOUNT, "gone", upload(""), by);
    assert.deepEqual(await schedules.list(ACCOUNT, "gone"), []);
    await schedules.set(ACCOUNT, "gone", ["5 * * * *"]);
    tick(5);
    await until(() => ran.length > 0);
    assert.deepEqual(ran, ["5 * * * * at 5"]);
    await scripts.remove(ACCOUNT, "gone", false);
  });

  test("a wrong expression among others changes nothing", async () => {
    await using node = await start(db());
    const { scripts, schedules } = node;
    await scripts.upload(ACCOUNT, "wrong", upload(""), by);
    const set = await schedules.set(ACCOUNT, "wrong", ["5 * * * *"]);
    const wrong = schedules.set(ACCOUNT, "wrong", ["6 * * * *", "66 * * * *"]);
    await assert.rejects(wrong, is("invalid", /^cron: "66 \* \* \* \*"/));
    const many = Array.from({ length: 101 }, (_, i) => `${i % 60} ${Math.trunc(i / 60)} * * *`);
    await assert.rejects(schedules.set(ACCOUNT, "wrong", many), is("too-large"));
    await assert.rejects(schedules.set(ACCOUNT, "nobody", []), is("not-found"));
    assert.deepEqual(await schedules.list(ACCOUNT, "wrong"), set);
  });

  if (engine === "postgres") {
    test("what is set on one node runs on another", async () => {
      await using otherDb = await open();
      await using here = await start(db());
      await using there = await start(otherDb);
      await using following = await there.scripts.followOthers({ log: silentLog() });
      await here.scripts.upload(ACCOUNT, "far", upload(""), by);
      await here.schedules.set(ACCOUNT, "far", ["* * * * *"]);
      assert.notEqual(following, null);
      let minute = 0;
      await until(() => {
        there.tick(++minute);
        return there.ran.length > 0;
      });
      await here.scripts.remove(ACCOUNT, "far", false);
    });
  }
});
