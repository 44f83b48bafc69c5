import assert from "node:assert/strict";
import { test } from "node:test";
import { fuzzDns } from "../../test/fuzz/dns-packets.ts";

test("random and mutated packets get a response that another decoder can read, or none", () => {
  const { responses, rcodes } = fuzzDns(40_000, 20_261_115);
  assert.ok(responses > 30_000);
  for (const rcode of [0, 1, 3, 4, 5])
    assert.ok(rcodes.has(rcode), `no response with RCODE ${rcode}`);
});
