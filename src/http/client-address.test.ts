import assert from "node:assert/strict";
import { test } from "node:test";
import { ranges } from "#kit/cidr.ts";
import { clientAddress } from "./client-address.ts";

const trusted = ranges(["127.0.0.1", "10.0.0.0/8"]);

test("a forwarded address is believed only from a trusted proxy", () => {
  assert.equal(clientAddress("192.0.2.9", "203.0.113.1", trusted), "192.0.2.9");
  assert.equal(clientAddress("127.0.0.1", "203.0.113.1", trusted), "203.0.113.1");
  assert.equal(clientAddress("127.0.0.1", "203.0.113.1", null), "127.0.0.1");
  assert.equal(clientAddress("::ffff:127.0.0.1", undefined, trusted), "127.0.0.1");
});

test("what a client puts in front of the chain is not believed", () => {
  assert.equal(
    clientAddress("127.0.0.1", "1.1.1.1, 203.0.113.1, 10.0.0.2", trusted),
    "203.0.113.1",
  );
  assert.equal(clientAddress("127.0.0.1", "junk", trusted), "127.0.0.1");
  assert.equal(clientAddress("127.0.0.1", "10.0.0.5", trusted), "10.0.0.5");
});
