/** What a setting may not be. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { is } from "../store.contract.ts";
import { checkCors, type CorsRule } from "./cors.ts";
import { checkLifecycle, type LifecycleRule } from "./lifecycle.ts";
import { checkBucketTags } from "./tags.ts";

const cors: CorsRule = { origins: ["*"], methods: ["GET"], headers: ["*"], exposed: ["ETag"] };

const badCors: Record<string, Partial<CorsRule>> = {
  "no origin": { origins: [] },
  "no method": { methods: [] },
  "a method of its own": { methods: ["GET", "PATCH"] },
  "a method in lower case": { methods: ["get"] },
  "two wildcards in an origin": { origins: ["https://*.example.*"] },
  "an empty origin": { origins: [""] },
  "an origin with a line end": { origins: ["https://a\r\nX: y"] },
  "an empty header": { headers: [""] },
  "a header with a blank": { headers: ["x y"] },
  "two wildcards in a header": { headers: ["x-*-*"] },
  "a wildcard to expose": { exposed: ["x-*"] },
  "a line end to expose": { exposed: ["x\r\nSet-Cookie"] },
  "a broken age": { maxAgeSeconds: 1.5 },
  "an age that is not there yet": { maxAgeSeconds: -1 },
  "a long ID": { id: "x".repeat(256) },
};
for (const [what, change] of Object.entries(badCors)) {
  test(`CORS rules may not have ${what}`, () => {
    checkCors([cors]);
    assert.throws(() => checkCors([cors, { ...cors, ...change }]), is("bad-cors"));
  });
}

test("CORS rules are from 1 to 100", () => {
  assert.throws(() => checkCors([]), is("bad-cors"));
  checkCors(Array.from({ length: 100 }, () => cors));
  assert.throws(() => checkCors(Array.from({ length: 101 }, () => cors)), is("bad-cors"));
});

const rule: LifecycleRule = {
  id: "a",
  enabled: true,
  filter: { form: "filter" },
  expiration: { days: 1 },
  transitions: [],
};

const badRules: Record<string, Partial<LifecycleRule>> = {
  "a long ID": { id: "x".repeat(256) },
  "no day": { expiration: { days: 0 } },
  "more days than dates go": { expiration: { days: 100_000_000 } },
  "a part of a day": { expiration: { days: 1.5 } },
  "a date within a day": { expiration: { date: Date.UTC(2026, 0, 1, 0, 0, 1) } },
  "a date that is none": { expiration: { date: Number.NaN } },
  "transitions of no days": {
    transitions: [{ when: { days: 0 }, storageClass: "InfrequentAccess" }],
  },
  "the same transition twice": {
    transitions: [
      { when: { days: 1 }, storageClass: "InfrequentAccess" },
      { when: { days: 2 }, storageClass: "InfrequentAccess" },
    ],
  },
  "uploads aborted at once": { abortUploadsAfterDays: 0 },
  "uploads aborted by tag": {
    abortUploadsAfterDays: 1,
    filter: { form: "filter", tags: { a: "b" } },
  },
  "uploads aborted by a size of 0": {
    abortUploadsAfterDays: 1,
    filter: { form: "filter", largerThan: 0 },
  },
  "sizes that nothing has": { filter: { form: "and", largerThan: 10, smallerThan: 10 } },
  "a size below 0": { filter: { form: "filter", smallerThan: -1 } },
  "a long prefix": { filter: { form: "rule", prefix: "ä".repeat(513) } },
  "a tag without a name": { filter: { form: "filter", tags: { "": "a" } } },
};
for (const [what, change] of Object.entries(badRules)) {
  test(`lifecycle rules may not have ${what}`, () => {
    assert.throws(() => checkLifecycle([{ ...rule, ...change }]), is("bad-lifecycle"));
  });
}

test("lifecycle rules do something, have IDs of their own, and are from 1 to 1000", () => {
  const { expiration: _, ...idle } = rule;
  assert.throws(() => checkLifecycle([idle]), is("bad-lifecycle"));
  assert.throws(() => checkLifecycle([rule, rule]), is("bad-lifecycle"));
  assert.throws(() => checkLifecycle([]), is("bad-lifecycle"));
  const many = Array.from({ length: 1001 }, (_, i) => ({ ...rule, id: `${i}` }));
  checkLifecycle(many.slice(1));
  assert.throws(() => checkLifecycle(many), is("bad-lifecycle"));
});

test("a bucket has up to 50 tags, of up to 128 and 256 characters", () => {
  const tags = (many: number) =>
    Object.fromEntries(Array.from({ length: many }, (_, i) => [i, ""]));
  checkBucketTags(tags(50));
  checkBucketTags({ ["k".repeat(128)]: "v".repeat(256) });
  for (const bad of [tags(51), { "": "" }, { ["k".repeat(129)]: "" }, { k: "v".repeat(257) }]) {
    assert.throws(() => checkBucketTags(bad), is("bad-tags"));
  }
});
