import assert from "node:assert/strict";
import { test } from "node:test";
import packet from "dns-packet";
import { isTruncated, makeQuery, matchReply } from "./query.ts";

const zeros = (octets: number): Uint8Array => new Uint8Array(octets);
const ones = (octets: number): Uint8Array => new Uint8Array(octets).fill(0xff);

test("a query wants recursion, and says that 1232 octets reach us", () => {
  const { bytes } = makeQuery("www.example.", 28, { edns: true, random: zeros });
  const query = packet.decode(Buffer.from(bytes));
  assert.deepEqual(
    [query.id, query.flag_rd, query.questions],
    [0, true, [{ name: "www.example", type: "AAAA", class: "IN" }]],
  );
  const [opt] = query.additionals!;
  assert.ok(opt?.type === "OPT");
  assert.deepEqual([opt.udpPayloadSize, opt.ednsVersion, opt.flags], [1232, 0, 0]);
  const plain = makeQuery("www.example.", 1, { edns: false, random: zeros });
  assert.deepEqual(packet.decode(Buffer.from(plain.bytes)).additionals, []);
});

test("id and spelling are random, and only letters are spelt otherwise", () => {
  const { bytes } = makeQuery("a-1_z\\007\\200{.example.", 1, { edns: true, random: ones });
  assert.equal(Buffer.from(bytes.subarray(0, 2)).toString("hex"), "ffff");
  assert.equal(
    Buffer.from(bytes.subarray(12, 30)).toString("latin1"),
    "\x08A-1_Z\x07\xc8{\x07EXAMPLE\0",
  );
});

test("a dot inside a label stays inside", () => {
  const { bytes } = makeQuery("a\\.b.", 1, { edns: false, random: zeros });
  assert.equal(Buffer.from(bytes.subarray(12, 17)).toString("latin1"), "\x03a.b\0");
});

test("only a reply to the same id and question matches", () => {
  const query = makeQuery("www.example.", 1, { edns: true, random: ones });
  const reply = Uint8Array.from(query.bytes);
  reply[2]! |= 0x80;
  assert.equal(matchReply(query, reply), "exact");
  assert.equal(matchReply(query, reply.subarray(0, query.questionEnd)), "exact");
  assert.equal(matchReply(query, reply.subarray(0, query.questionEnd - 1)), "none", "cut short");
  assert.equal(matchReply(query, query.bytes), "none", "the query itself");
  for (const [what, at, mask] of [
    ["another id", 0, 1],
    ["another id", 1, 0x80],
    ["an update", 2, 0x28],
    ["no question", 5, 1],
    ["two questions", 5, 2],
    ["another name", 13, 1],
    ["another length", 12, 0x20],
    ["another type", query.questionEnd - 3, 2],
    ["another class", query.questionEnd - 1, 2],
  ] as const) {
    const other = Uint8Array.from(reply);
    other[at]! ^= mask;
    assert.equal(matchReply(query, other), "none", what);
  }
  const respelt = Uint8Array.from(reply);
  respelt[13]! ^= 0x20;
  assert.equal(matchReply(query, respelt), "respelt");
});

test("a reply tells that it was cut short", () => {
  const { bytes } = makeQuery("www.example.", 1, { edns: true, random: zeros });
  assert.equal(isTruncated(bytes), false);
  bytes[2]! |= 0x02;
  assert.equal(isTruncated(bytes), true);
});
