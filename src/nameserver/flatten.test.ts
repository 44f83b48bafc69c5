/** Flattening from what is known of names outside, without sockets. RFC 8767 for what is stale. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeMessage, encodeQuery, showRecord } from "../../test/support/dns-message.ts";
import { serveZones } from "../../test/support/served-zones.ts";
import type { TargetEntry } from "./outside/target-store.ts";

const EDNS = { size: 1232, flags: 0, options: [] };
const EDE = 15;

const known: TargetEntry = {
  kind: "addresses",
  addresses: Uint8Array.of(198, 51, 100, 1, 198, 51, 100, 2),
  ttlSeconds: 100,
  expiresAt: Date.now() + 100_000,
  stale: false,
  ede: null,
};

/** RCODE, the answer section in a fixed order, and the extended error. */
function told(entry: TargetEntry, ttl = 300): { rcode: string; answer: string[]; ede: string } {
  const zones = serveZones({ "flat.example": `@ ${ttl} CNAME outside.invalid.\n` });
  zones.publisher.targets.publish("outside.invalid.", 1, entry);
  const octets = zones.ask(encodeQuery({ name: "flat.example", type: "A", edns: EDNS }));
  assert.ok(octets instanceof Uint8Array);
  const { rcode, answer, opt } = decodeMessage(Buffer.from(octets));
  const ede = opt?.options.get(EDE)?.toString("hex") ?? "";
  return { rcode, answer: answer.map(showRecord).sort(), ede };
}

const addresses = (ttl: number) =>
  ["198.51.100.1", "198.51.100.2"].map((data) => `flat.example. ${ttl} IN A ${data}`);

test("an answer lives as long as the shortest on its way", () => {
  const lasting = { ...known, expiresAt: Math.floor(Date.now() / 1000) * 1000 + 100_999 };
  assert.deepEqual(told(lasting, 60), { rcode: "NOERROR", answer: addresses(60), ede: "" });
  const { answer } = told(lasting, 300);
  assert.ok(["99", "100"].includes(answer[0]!.split(" ")[1]!));
});

test("a stale answer says so, and lives for 30 s however long it is kept", () => {
  for (const left of [2_000, 20_000, 3_600_000]) {
    const stale = { ...known, stale: true, ttlSeconds: 30, expiresAt: Date.now() + left };
    assert.deepEqual(told(stale), { rcode: "NOERROR", answer: addresses(30), ede: "0003" });
  }
});

test("addresses take turns at being the first", () => {
  const zones = serveZones({ "flat.example": "@ 300 CNAME outside.invalid.\n" });
  zones.publisher.targets.publish("outside.invalid.", 1, known);
  const query = encodeQuery({ name: "flat.example", type: "A" });
  const first = () => decodeMessage(Buffer.from(zones.ask(query) as Uint8Array)).answer[0]!.data;
  const seen = new Set(Array.from({ length: 100 }, first));
  assert.deepEqual([...seen].toSorted(), ["198.51.100.1", "198.51.100.2"]);
});

test("a failure is SERVFAIL with its extended error", () => {
  const failed = { ...known, kind: "failure", addresses: new Uint8Array(0) } as const;
  assert.deepEqual(told({ ...failed, ede: 22 }), { rcode: "SERVFAIL", answer: [], ede: "0016" });
  assert.deepEqual(told({ ...failed, ede: null }), { rcode: "SERVFAIL", answer: [], ede: "" });
});

test("what is known counts as such after 2038", () => {
  const zones = serveZones({ "flat.example": "@ 300 CNAME outside.invalid.\n" });
  const now = Date.UTC(2040, 1);
  zones.publisher.targets.publish("outside.invalid.", 1, { ...known, expiresAt: now + 100_000 });
  const query = encodeQuery({ name: "flat.example", type: "A" });
  const octets = zones.ask(query, {}, now);
  assert.ok(octets instanceof Uint8Array);
  assert.deepEqual(
    decodeMessage(Buffer.from(octets)).answer.map(showRecord).sort(),
    addresses(100),
  );
});
