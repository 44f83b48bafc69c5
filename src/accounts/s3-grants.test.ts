import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { AccountFault } from "./fault.ts";
import {
  type BucketGrant,
  checkGrant,
  exceeds,
  permitsOnS3,
  type S3Action,
  type S3Grant,
  type S3Permission,
} from "./s3-grants.ts";

const grant = (permission: S3Permission, ...buckets: readonly BucketGrant[]): S3Grant => ({
  permission,
  buckets: buckets.length === 0 ? null : buckets,
  operations: null,
});
const whole = (bucket: string): BucketGrant => ({ bucket, prefixes: [], objects: [] });
const may = (of: S3Grant, action: S3Action, bucket: string | null, key?: string) =>
  permitsOnS3(of, { action, bucket, operation: "GetObject", ...(key !== undefined && { key }) });

const ACTIONS = ["list-buckets", "list", "read", "write", "admin-read", "admin-write"] as const;

suite("a grant on S3", () => {
  for (const [permission, count] of [
    ["read-only", "yes yes yes no no no"],
    ["read-write", "yes yes yes yes no no"],
    ["admin-read-only", "yes yes yes no yes no"],
    ["admin", "yes yes yes yes yes yes"],
  ] as const) {
    test(`of ${permission} is for its kinds of work`, () => {
      const answers = ACTIONS.map((action) => may(grant(permission), action, "any", "k"));
      assert.equal(answers.map((answer) => (answer ? "yes" : "no")).join(" "), count);
    });
  }

  test("of some buckets is of no others", () => {
    const some = grant("admin", whole("one"), whole("two"));
    for (const action of ACTIONS) {
      assert.equal(may(some, action, "one", "k"), true, action);
      assert.equal(may(some, action, "three", "k"), false, action);
      assert.equal(may(some, action, null), action === "list-buckets", action);
    }
  });

  test("of prefixes and whole keys is of these", () => {
    const some = grant("read-write", { bucket: "b", prefixes: ["2026/", "a"], objects: ["x.txt"] });
    for (const key of ["2026/", "2026/x", "a", "ab", "x.txt"]) {
      assert.equal(may(some, "read", "b", key), true, key);
      assert.equal(may(some, "write", "b", key), true, key);
    }
    for (const key of ["2026", "2025/x", "x.txt2", "x", "A"]) {
      assert.equal(may(some, "read", "b", key), false, key);
    }
    assert.equal(may(some, "write", "b"), true, "where each key is asked for later");
    assert.equal(may(some, "list-buckets", "b"), true);
    assert.equal(may(grant("admin", { ...whole("b"), prefixes: ["a"] }), "admin-read", "b"), false);
  });

  test("lists no more than its prefixes have", () => {
    const some = grant("read-only", { bucket: "b", prefixes: ["2026/"], objects: ["x.txt"] });
    assert.equal(may(some, "list", "b", "2026/"), true);
    assert.equal(may(some, "list", "b", "2026/11/"), true);
    for (const prefix of [undefined, "", "20", "x.txt"]) {
      assert.equal(may(some, "list", "b", prefix), false, String(prefix));
    }
  });

  test("of some operations is of no others", () => {
    const some = { ...grant("read-only"), operations: new Set(["GetObject"]) };
    const ask = (operation: string) =>
      permitsOnS3(some, { action: "read", bucket: "b", key: "k", operation });
    assert.deepEqual(["GetObject", "HeadObject", ""].map(ask), [true, false, false]);
  });

  test("exceeds another when it has one kind of work more", () => {
    assert.equal(exceeds("read-only", "read-write"), false);
    assert.equal(exceeds("admin", "admin"), false);
    assert.equal(exceeds("read-write", "read-only"), true);
    assert.equal(exceeds("admin-read-only", "read-write"), true);
    assert.equal(exceeds("read-write", "admin-read-only"), true);
  });

  for (const [what, permission, ...buckets] of [
    ["names no bucket", "read-only"],
    ["has a name that no bucket has", "read-only", whole("A_b")],
    ["has an empty prefix", "read-only", { ...whole("abc"), prefixes: [""] }],
    ["has too long a prefix", "read-only", { ...whole("abc"), prefixes: ["é".repeat(513)] }],
    ["would have settings below a prefix", "admin", { ...whole("abc"), prefixes: ["a"] }],
    ["is huge", "read-only", { ...whole("abc"), prefixes: Array(70).fill("x".repeat(1024)) }],
  ] as const) {
    test(`that ${what} is refused`, () => {
      assert.throws(
        () => checkGrant({ permission, buckets }),
        (error) => error instanceof AccountFault && error.kind === "bad-key",
      );
    });
  }
});
