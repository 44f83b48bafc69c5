import assert from "node:assert/strict";
import { test } from "node:test";
import { networkOf, NOT_PUBLIC } from "./network.ts";

test("without a choice of the platform only public addresses are allowed", () => {
  const { capnp } = networkOf([]);
  assert.match(capnp, /allow = \["public"\]/);
  for (const range of NOT_PUBLIC) assert.ok(capnp.includes(`"${range}"`), range);
});

test("a range that the platform allows is not denied at the same time", () => {
  const { capnp } = networkOf(["100.64.7.0/24", "10.0.0.0/8", "64:ff9b::/64", "198.18.0.1"]);
  assert.match(capnp, /allow = \["public", "100\.64\.7\.0\/24", "10\.0\.0\.0\/8"/);
  assert.doesNotMatch(capnp, /"100\.64\.0\.0\/10"|"64:ff9b::\/96"|"198\.18\.0\.0\/15"/);
  assert.match(capnp, /"2002::\/16"/);
});
