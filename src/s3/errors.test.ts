import assert from "node:assert/strict";
import { test } from "node:test";
import { DatabaseFault } from "#db";
import { toS3Fault } from "./errors.ts";

test("a database that is away is no bug: clients are told to try again", () => {
  const fault = toS3Fault(new DatabaseFault("unavailable", "PostgreSQL: secret detail"));
  assert.deepEqual([fault?.code, fault?.status], ["ServiceUnavailable", 503]);
  assert.doesNotMatch(fault!.message, /secret detail/);
});

test("what is neither a fault of the request nor of the database is a bug", () => {
  assert.equal(toS3Fault(new TypeError("x is not a function")), null);
});
