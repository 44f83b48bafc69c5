/** What was once answered wrongly, or could be. The conformance data has the rest. */
import assert from "node:assert/strict";
import { test } from "node:test";
import dnsPacket, { type DecodedPacket } from "dns-packet";
import { assertQuick, msOf } from "../../test/support/patience.ts";
import { serveZones, type ServedZones, zoneNamed } from "../../test/support/served-zones.ts";
import { TRANSPORT } from "./client.ts";

const tcp = { transport: TRANSPORT.tcp };

function query(name: string, type: string, more: object = {}): Uint8Array {
  return dnsPacket.encode({
    type: "query",
    id: 7,
    questions: [{ name, type: type as "A" }],
    ...more,
  });
}

function ask(served: ServedZones, name: string, type: string, more: object = {}): DecodedPacket {
  const reply = served.ask(query(name, type, more), tcp);
  assert.ok(reply instanceof Uint8Array);
  return dnsPacket.decode(Buffer.from(reply));
}

const brief = (records: DecodedPacket["answers"]) =>
  (records ?? [])
    .filter(({ type }) => type !== "OPT")
    .map((one) => `${one.name} ${one.type} ${String((one as { data: unknown }).data)}`);

test("every needed address of a referral is there, however many hosts it has", () => {
  const hosts = Array.from(
    { length: 20 },
    (_, i) => `sub NS ns${i}.sub\nns${i}.sub A 192.0.2.${i}`,
  );
  const { additionals } = ask(serveZones({ "z.test": hosts.join("\n") }), "x.sub.z.test", "A");
  assert.equal(additionals?.length, 20);
});

test("a referral beyond the reach of pointers names no wrong owner", () => {
  const hosts = Array.from({ length: 900 }, (_, i) => `sub NS n${i}.y`);
  const zone = `${hosts.join("\n")}\nsub NS zz.sub\nzz.sub A 192.0.2.1\n`;
  const { additionals } = ask(serveZones({ "z.test": zone }), "x.sub.z.test", "A");
  for (const line of brief(additionals)) assert.equal(line, "zz.sub.z.test A 192.0.2.1");
});

test("an answer that no message can hold is a failure over TCP, not a truncation", () => {
  const served = serveZones({ "z.test": "x A 192.0.2.1\n" });
  const many = Array.from({ length: 4_500 }, (_, i) => ({
    type: "A",
    content: `10.0.${i >> 8}.${i & 255}`,
    priority: null,
    ttl: 1,
    proxied: false,
    extra: null,
  }));
  served.publisher.changed(zoneNamed("z.test", 1), new Map([["big.z.test", many as never]]));
  const { flags, rcode } = ask(served, "big.z.test", "A") as DecodedPacket & { rcode: string };
  assert.deepEqual([(flags ?? 0) & dnsPacket.TRUNCATED_RESPONSE, rcode], [0, "SERVFAIL"]);
});

test("an address of a name in a deeper zone is not taken from the zone above it", () => {
  const served = serveZones({
    "z.test": "@ MX 1 www.sub\nwww.sub A 192.0.2.1\n",
    "sub.z.test": "www A 192.0.2.2\n",
  });
  assert.deepEqual(brief(ask(served, "z.test", "MX").additionals), []);
});

test("the address of a host at the apex comes under the apex's own name", () => {
  const reply = serveZones({ "z.test": "@ MX 1 @\n@ A 192.0.2.1\n" }).ask(
    query("z.test", "MX"),
    tcp,
  );
  assert.ok(reply instanceof Uint8Array);
  const { additionals } = dnsPacket.decode(Buffer.from(reply));
  assert.deepEqual(brief(additionals), ["z.test A 192.0.2.1"]);
  // Its owner is a pointer to the question, not to a pointer.
  assert.deepEqual([...reply.subarray(-16, -14)], [0xc0, 12]);
});

test("the expiry of a zone is only told with its SOA", () => {
  const served = serveZones({ "z.test": "c CNAME target.outside.example.\n" });
  const options = [{ code: 9, data: Buffer.alloc(0) }];
  const opt = { type: "OPT", name: ".", udpPayloadSize: 1232, flags: 0, options };
  const told = (name: string) => {
    const { additionals } = ask(served, name, "SOA", { additionals: [opt] });
    return (additionals!.at(-1) as { options: unknown[] }).options.length;
  };
  assert.deepEqual([told("z.test"), told("c.z.test")], [1, 0]);
});

test("a DS question is the parent zone's, whether it delegates the name or not", () => {
  const served = serveZones({ "z.test": "www A 192.0.2.1\n", "sub.z.test": "@ A 192.0.2.2\n" });
  const { authorities, rcode } = ask(served, "sub.z.test", "DS") as DecodedPacket & {
    rcode: string;
  };
  assert.deepEqual([authorities?.[0]?.name, rcode], ["z.test", "NXDOMAIN"]);
});

test("a message full of pointers costs no more than its octets", async () => {
  const message = new Uint8Array(65_000);
  message.set(query("www.z.test", "A"));
  let at = query("www.z.test", "A").length;
  const put = (...octets: number[]) => {
    message.set(octets, at);
    at += octets.length;
  };
  put(0, 0, 1, 0, 1, 0, 0, 0, 0, 0x40, 0x00);
  const first = at;
  for (let i = 0; i < 8192; i++) put(0xc0 | ((first + 2 * i - 2) >> 8), (first + 2 * i - 2) & 0xff);
  const last = at - 2;
  let count = 1;
  for (; at + 12 < message.length; count++)
    put(0xc0 | (last >> 8), last & 0xff, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0);
  message.set([count >> 8, count & 0xff], 10);
  const served = serveZones({ "z.test": "www A 192.0.2.1\n" });
  await assertQuick(50, () => msOf(() => served.ask(message, tcp)));
});

test("a signed query that cannot be read is malformed, and one with an unknown key is told so", () => {
  const served = serveZones({ "z.test": "www A 192.0.2.1\n" });
  const signed = (algorithm: number[]) => {
    const plain = query("www.z.test", "A");
    const signing = [0, 0, 0, 0, 0, 1, 1, 44, 0, 0, 0, 7, 0, 0, 0, 0];
    const length = algorithm.length + signing.length;
    const record = [1, 0x6b, 0, 0, 250, 0, 255, 0, 0, 0, 0, length >> 8, length & 0xff];
    const message = Uint8Array.from([...plain, ...record, ...algorithm, ...signing]);
    message[11] = 1;
    return served.ask(message, tcp) as Uint8Array;
  };
  assert.equal(signed([1, 0x61, 0])[3]! & 15, 9);
  assert.equal(signed([0x41, 0x61, 0])[3]! & 15, 1);
});

test("a record that cannot be served is left out, and the rest of the change is not", () => {
  const told: string[] = [];
  const served = serveZones(
    { "z.test": "www A 192.0.2.1\n" },
    { onBadRecord: (name) => told.push(name) },
  );
  const record = { priority: null, ttl: 1, proxied: false, extra: null };
  const names = new Map([
    ["a.z.test", [{ ...record, type: "A", content: "192.0.2.9" }]],
    [
      "x.z.test",
      [
        { ...record, type: "MX", content: "" },
        { ...record, type: "A", content: "192.0.2.8" },
      ],
    ],
  ]);
  served.publisher.changed(zoneNamed("z.test", 1), names as never);
  const addresses = ["www", "a", "x"].map(
    (name) => brief(ask(served, `${name}.z.test`, "A").answers)[0],
  );
  assert.deepEqual(addresses, [
    "www.z.test A 192.0.2.1",
    "a.z.test A 192.0.2.9",
    "x.z.test A 192.0.2.8",
  ]);
  assert.deepEqual(told, ["x.z.test"]);
});
