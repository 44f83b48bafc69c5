import assert from "node:assert/strict";
import { test } from "node:test";
import type { LifecycleRule } from "../settings/lifecycle.ts";
import { abortionOf, actionOn, expirationOf, prefixesOf } from "./due.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const MIDNIGHT = Date.UTC(2026, 10, 15);

const rule = (more: Partial<LifecycleRule> = {}): LifecycleRule => ({
  id: "r",
  enabled: true,
  filter: { form: "filter" },
  transitions: [],
  ...more,
});
const object = {
  key: "logs/a",
  size: 100,
  uploadedAt: MIDNIGHT + 10 * HOUR_MS,
  storageClass: "Standard",
  tags: { team: "a", tier: "" },
} as const;

test("days are counted to the first midnight behind them", () => {
  const at = (days: number, uploadedAt: number) =>
    expirationOf([rule({ expiration: { days } })], { ...object, uploadedAt })?.at;
  assert.equal(at(1, MIDNIGHT + 1), MIDNIGHT + 2 * DAY_MS);
  assert.equal(at(1, MIDNIGHT + DAY_MS - 1), MIDNIGHT + 2 * DAY_MS);
  assert.equal(at(30, MIDNIGHT + HOUR_MS), MIDNIGHT + 31 * DAY_MS);
  const dated = rule({ expiration: { date: MIDNIGHT } });
  assert.equal(expirationOf([dated], object)?.at, MIDNIGHT);
});

test("the rule that comes first says when an object expires", () => {
  const rules = [
    rule({ id: "late", expiration: { days: 9 } }),
    rule({ id: "off", enabled: false, expiration: { days: 1 } }),
    rule({ id: "other", filter: { form: "filter", prefix: "img/" }, expiration: { days: 1 } }),
    rule({ id: "soon", expiration: { days: 3 } }),
  ];
  assert.deepEqual(expirationOf(rules, object), { at: MIDNIGHT + 4 * DAY_MS, ruleId: "soon" });
  assert.equal(expirationOf([], object), null);
});

test("a filter asks for all that it names", () => {
  const cases: [filter: Omit<LifecycleRule["filter"], "form">, passes: boolean][] = [
    [{}, true],
    [{ prefix: "logs/" }, true],
    [{ prefix: "logs/a/" }, false],
    [{ tags: { team: "a" } }, true],
    [{ tags: { team: "a", tier: "" } }, true],
    [{ tags: { team: "b" } }, false],
    [{ tags: { constructor: "a" } }, false],
    [{ largerThan: 99 }, true],
    [{ largerThan: 100 }, false],
    [{ smallerThan: 101 }, true],
    [{ smallerThan: 100 }, false],
    [{ prefix: "logs/", tags: { team: "a" }, largerThan: 1, smallerThan: 1000 }, true],
    [{ prefix: "logs/", tags: { team: "a" }, largerThan: 1, smallerThan: 10 }, false],
  ];
  for (const [filter, passes] of cases) {
    const rules = [rule({ filter: { form: "and", ...filter }, expiration: { days: 1 } })];
    assert.equal(expirationOf(rules, object) !== null, passes, JSON.stringify(filter));
  }
});

test("an object is moved when its time has come, once, and not when it expires anyway", () => {
  const move = rule({
    transitions: [{ when: { days: 2 }, storageClass: "InfrequentAccess" }],
  });
  const due = MIDNIGHT + 3 * DAY_MS;
  assert.equal(actionOn([move], object, due - 1), null);
  assert.deepEqual(actionOn([move], object, due), {
    kind: "transition",
    storageClass: "InfrequentAccess",
  });
  assert.equal(actionOn([move], { ...object, storageClass: "InfrequentAccess" }, due), null);
  const both = [move, rule({ expiration: { days: 2 } })];
  assert.deepEqual(actionOn(both, object, due), { kind: "expire" });
  assert.equal(actionOn([{ ...move, enabled: false }], object, due), null);
});

test("uploads are aborted by their prefix and age", () => {
  const rules = [
    rule({ id: "a", abortUploadsAfterDays: 3 }),
    rule({ id: "b", filter: { form: "rule", prefix: "tmp/" }, abortUploadsAfterDays: 1 }),
  ];
  const createdAt = MIDNIGHT + HOUR_MS;
  assert.deepEqual(abortionOf(rules, { key: "tmp/x", createdAt }), {
    at: MIDNIGHT + 2 * DAY_MS,
    ruleId: "b",
  });
  assert.equal(abortionOf(rules, { key: "x", createdAt })?.ruleId, "a");
  assert.equal(abortionOf(rules.slice(1), { key: "x", createdAt }), null);
});

test("only what rules may do something with is walked", () => {
  const of = (...prefixes: (string | undefined)[]) =>
    prefixesOf(
      prefixes.map((prefix) =>
        rule({
          filter: { form: "filter", ...(prefix !== undefined && { prefix }) },
          expiration: { days: 1 },
        }),
      ),
    );
  assert.deepEqual(of("b/", "a/x", "a/", "a/xy", "c"), ["a/", "b/", "c"]);
  assert.deepEqual(of("b/", undefined, "a/"), [""]);
  assert.deepEqual(of("\u{1F600}", "\uFF5E"), ["\uFF5E", "\u{1F600}"], "in the order of UTF-8");
  assert.deepEqual(prefixesOf([rule({ abortUploadsAfterDays: 1 })]), []);
  assert.deepEqual(prefixesOf([rule({ enabled: false, expiration: { days: 1 } })]), []);
});
