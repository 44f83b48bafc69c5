import assert from "node:assert/strict";
import { test } from "node:test";
import { allowWrite, conditionsHold } from "./conditions.ts";
import type { Conditions, EtagPattern } from "./model.ts";

const UPLOADED = 1_700_000_000_500;
const object = { etag: "abc", uploadedAt: UPLOADED };
const strong = (value: string): EtagPattern => ({ type: "strong", value });
const weak = (value: string): EtagPattern => ({ type: "weak", value });
const any: EtagPattern = { type: "wildcard" };

const cases: [name: string, conditions: Conditions, holds: boolean][] = [
  ["no condition holds", {}, true],
  ["a strong tag that is the object's matches", { etagMatches: [strong("abc")] }, true],
  ["one of several tags is enough", { etagMatches: [strong("x"), strong("abc")] }, true],
  ["another tag does not match", { etagMatches: [strong("ABC")] }, false],
  ["a weak tag never matches", { etagMatches: [weak("abc")] }, false],
  ["a wildcard matches", { etagMatches: [any] }, true],
  ["no tag at all matches nothing", { etagMatches: [] }, false],
  ["a different tag does not match, as asked", { etagDoesNotMatch: [strong("x")] }, true],
  ["the object's tag does", { etagDoesNotMatch: [strong("abc")] }, false],
  ["so does its weak form", { etagDoesNotMatch: [weak("abc")] }, false],
  ["so does a wildcard", { etagDoesNotMatch: [any] }, false],
  ["an earlier date lies before the upload", { uploadedAfter: UPLOADED - 1 }, true],
  ["the same date does not", { uploadedAfter: UPLOADED }, false],
  ["a later date lies behind the upload", { uploadedBefore: UPLOADED + 1 }, true],
  ["the same date does not lie behind it", { uploadedBefore: UPLOADED }, false],
  [
    "in whole seconds the same second is the same",
    { uploadedAfter: UPLOADED - 400, secondsGranularity: true },
    false,
  ],
  [
    "in whole seconds the next second is later",
    { uploadedBefore: UPLOADED + 500, secondsGranularity: true },
    true,
  ],
  [
    "a tag that differs makes up for the date the upload must lie behind",
    { etagDoesNotMatch: [strong("x")], uploadedAfter: UPLOADED + 1 },
    true,
  ],
  [
    "a tag that matches makes up for the date the upload must lie before",
    { etagMatches: [strong("abc")], uploadedBefore: UPLOADED - 1 },
    true,
  ],
  [
    "a date does not make up for a tag",
    { etagMatches: [strong("x")], uploadedBefore: UPLOADED + 1 },
    false,
  ],
  [
    "a tag that matches does not make up for the other date",
    { etagMatches: [strong("abc")], uploadedAfter: UPLOADED + 1 },
    false,
  ],
];
for (const [name, conditions, holds] of cases) {
  test(`of an object that is there: ${name}`, () => {
    assert.equal(conditionsHold(conditions, object), holds);
    assert.equal(allowWrite(conditions, object), holds);
  });
}

const withoutObject: [name: string, conditions: Conditions, allowed: boolean][] = [
  ["no condition allows a write", {}, true],
  ["a tag that must match does not", { etagMatches: [strong("abc")] }, false],
  ["not even a wildcard that must match", { etagMatches: [any] }, false],
  ["a wildcard that must not match does", { etagDoesNotMatch: [any] }, true],
  ["a tag that must not match does", { etagDoesNotMatch: [strong("abc")] }, true],
  ["a date that the upload must lie before does", { uploadedBefore: 0 }, true],
  ["a date that it must lie behind does not", { uploadedAfter: 0 }, false],
  [
    "such a date does not, whatever tags say",
    { uploadedAfter: 0, etagDoesNotMatch: [strong("x")] },
    false,
  ],
];
for (const [name, conditions, allowed] of withoutObject) {
  test(`where no object is: ${name}`, () => {
    assert.equal(allowWrite(conditions, null), allowed);
  });
}
