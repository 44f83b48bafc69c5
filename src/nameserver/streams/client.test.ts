import assert from "node:assert/strict";
import { test } from "node:test";
import { clientOf } from "./client.ts";

test("a client's address is read from the text that sockets show", () => {
  const octets = (text: string) => {
    const { address, addressLength } = clientOf(1, text, 5353);
    assert.equal(address.length, 16);
    return Buffer.from(address.subarray(0, addressLength)).toString("hex");
  };
  assert.equal(octets("192.0.2.1"), "c0000201");
  assert.equal(octets("::ffff:192.0.2.1"), "c0000201");
  assert.equal(octets("2001:db8::1"), "20010db8000000000000000000000001");
  assert.equal(octets("fe80::1%eth0"), "fe800000000000000000000000000001");
  assert.equal(clientOf(1, "192.0.2.1", 5353).port, 5353);
});
