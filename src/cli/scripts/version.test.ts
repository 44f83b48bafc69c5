/** How people name a version. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { findVersion, type Version } from "./version.ts";

const version = (number: number, id: string): Version => ({
  id,
  number,
  metadata: { created_on: "2026-11-15T00:00:00Z" },
});
const versions = [
  version(12, "1f000000-0000-4000-8000-000000000000"),
  version(2, "12abcdef-0000-4000-8000-000000000000"),
  version(1, "12ffffff-0000-4000-8000-000000000000"),
];

test("a version is found by number, id or the beginning of the id", () => {
  assert.equal(findVersion(versions, "2").number, 2);
  assert.equal(findVersion(versions, "#12").number, 12);
  assert.equal(findVersion(versions, versions[2]!.id).number, 1);
  assert.equal(findVersion(versions, "12AB").number, 2);
  assert.equal(findVersion(versions, "1f00").number, 12);
});

test("a number that no version has may be the beginning of an id, if it is long enough", () => {
  assert.throws(() => findVersion(versions, "12f0"), /There is no version "12f0"/);
  const one = [version(3, "77000000-0000-4000-8000-000000000000")];
  assert.equal(findVersion(one, "7700").number, 3);
  assert.throws(() => findVersion(one, "77"), /There is no version "77"/);
});

test("one that fits several, or none, is a fault that lists the latest", () => {
  const two = [version(3, "aaaa1"), version(4, "aaaa2")];
  assert.throws(
    () => findVersion(two, "aaaa"),
    /Several versions begin with "aaaa"[\s\S]+aaaa1[\s\S]+aaaa2/,
  );
  assert.throws(() => findVersion(versions, "9"), /There is no version "9"[\s\S]+12abcdef/);
});
