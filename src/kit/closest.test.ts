import assert from "node:assert/strict";
import { test } from "node:test";
import { closest, suggestion } from "./closest.ts";

test("a mistyped word finds the one that was meant, a strange one none", () => {
  const known = ["nameservers", "database", "dns_tls"];
  assert.equal(closest("nameserver", known), "nameservers");
  assert.equal(closest("databsae", known), "database");
  assert.equal(closest("colour", known), null);
  assert.equal(suggestion("dns_tl", known), " Did you mean dns_tls?");
});
