/** The examples of the original's documentation. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parseCron } from "./cron.ts";
import { is } from "./scripts.contract.ts";

/** A Sunday. */
const START = Date.UTC(2026, 10, 1);

suite("from Sunday, 1 November 2026, the next times are", () => {
  const cases: [cron: string, ...times: string[]][] = [
    ["* * * * *", "2026-11-01T00:01", "2026-11-01T00:02"],
    ["*/30 * * * *", "2026-11-01T00:30", "2026-11-01T01:00"],
    ["5/20 3 * * *", "2026-11-01T03:05", "2026-11-01T03:25"],
    ["45 * * * *", "2026-11-01T00:45", "2026-11-01T01:45"],
    ["0 17 * * sun", "2026-11-01T17:00", "2026-11-08T17:00"],
    ["0 17 * * 1", "2026-11-01T17:00", "2026-11-08T17:00"],
    ["10 7 * * mon-fri", "2026-11-02T07:10", "2026-11-03T07:10"],
    ["10 7 * * 2-6", "2026-11-02T07:10", "2026-11-03T07:10"],
    ["0 0 * * 7", "2026-11-07T00:00", "2026-11-14T00:00"],
    ["0 15 1 * *", "2026-11-01T15:00", "2026-12-01T15:00"],
    ["0 18 * * 6L", "2026-11-27T18:00", "2026-12-25T18:00"],
    ["0 18 * * friL", "2026-11-27T18:00", "2026-12-25T18:00"],
    ["59 23 LW * *", "2026-11-30T23:59", "2026-12-31T23:59"],
    ["0 0 15W * *", "2026-11-16T00:00", "2026-12-15T00:00"],
    ["0 0 * * MON#2", "2026-11-09T00:00", "2026-12-14T00:00"],
    ["0 0 1 JAN,aug *", "2027-01-01T00:00", "2027-08-01T00:00"],
    ["  0  0 1,15 *\t6 ", "2026-11-06T00:00", "2026-11-13T00:00", "2026-11-15T00:00"],
    ["0 0 29 2 *", "2028-02-29T00:00"],
  ];
  for (const [cron, ...times] of cases) {
    test(`${cron} at ${times.join(", ")}`, () => {
      const parsed = parseCron(cron);
      let at = START;
      for (const time of times) {
        at = parsed.next(at)!;
        assert.equal(new Date(at).toISOString().slice(0, time.length), time);
      }
    });
  }
});

test("an expression whose time never comes has none", () => {
  assert.equal(parseCron("0 0 30 2 *").next(START), null);
});

suite("no cron expression is", () => {
  const cases = [
    "",
    "* * * *",
    "* * * * * *",
    "@daily",
    "60 * * * *",
    "* 24 * * *",
    "* * 0 * *",
    "* * 32 * *",
    "* * * 13 *",
    "* * * * 0",
    "* * * * 8",
    "* * * * 10",
    "* * * * mon#6",
    "*/0 * * * *",
    "? * * * *",
    "0 0 1 * +6",
    "a b c d e",
    "-1 * * * *",
    "* * * * *;",
    `${"0,".repeat(200)}0 * * * *`,
  ];
  for (const cron of cases) {
    test(JSON.stringify(cron.slice(0, 30)), () => {
      assert.throws(() => parseCron(cron), is("invalid", /^cron: /));
    });
  }
});
