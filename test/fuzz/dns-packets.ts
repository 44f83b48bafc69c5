/**
 * Feeds random and mutated packets to the answer path and holds every response against an independent
 * decoder. `node test/fuzz/dns-packets.ts [PACKETS] [SEED]` for the long run; the test suite runs a short one.
 */
import assert from "node:assert/strict";
import dnsPacket from "dns-packet";
import { TRANSPORT } from "../../src/nameserver/client.ts";
import { serveZones } from "../support/served-zones.ts";

const zones = {
  "fuzz.example": `
@ 300 IN MX 10 mail
@ 300 IN TXT "hello" "world"
mail 300 IN A 192.0.2.1
mail 300 IN AAAA 2001:db8::1
*.wild 300 IN A 192.0.2.2
a.b.c.d 300 IN A 192.0.2.3
c1 300 IN CNAME c2
c2 300 IN CNAME c3
c3 300 IN CNAME mail
loop1 300 IN CNAME loop2
loop2 300 IN CNAME loop1
out 300 IN CNAME elsewhere.test.
cross 300 IN CNAME www.other.example.
sub 300 IN NS ns.sub
sub 300 IN NS ns.other.example.
ns.sub 300 IN A 192.0.2.53
_sip._tcp 300 IN SRV 1 2 5060 mail
svc 300 IN HTTPS 1 . alpn=h2
big 300 IN TXT "${"x".repeat(250)}" "${"y".repeat(250)}" "${"z".repeat(250)}" "${"w".repeat(250)}" "${"v".repeat(250)}"
`,
  "other.example": `www 300 IN A 192.0.2.9\n`,
};

const names = [
  "fuzz.example",
  "mail.fuzz.example",
  "x.wild.fuzz.example",
  "b.c.d.fuzz.example",
  "c1.fuzz.example",
  "loop1.fuzz.example",
  "out.fuzz.example",
  "cross.fuzz.example",
  "deep.sub.fuzz.example",
  "_sip._tcp.fuzz.example",
  "svc.fuzz.example",
  "big.fuzz.example",
  "nothing.fuzz.example",
  "www.other.example",
  "elsewhere.test",
  ".",
];
const types = ["A", "AAAA", "NS", "MX", "TXT", "SOA", "CNAME", "SRV", "ANY", "AXFR", "DS", "HTTPS"];

/** Numbers that anyone can have again from the seed: mulberry32. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed | 0;
  return (below) => {
    state = (state + 0x6d2b_79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

type Random = (below: number) => number;

export interface FuzzResult {
  readonly packets: number;
  readonly responses: number;
  readonly rcodes: ReadonlyMap<number, number>;
  /** How much the heap has grown between the first tenth and the end. */
  readonly grownBytes: number;
}

/** Throws with the packet in hex when a response is not as it must be. */
export function fuzzDns(
  packets: number,
  seed: number,
  onProgress?: (done: number) => void,
): FuzzResult {
  const random = randomFrom(seed);
  const served = serveZones(zones, { identity: "fuzz" });
  const corpus = makeCorpus(random);
  const rcodes = new Map<number, number>();
  let [responses, early] = [0, 0];
  for (let i = 0; i < packets; i++) {
    if (i === Math.floor(packets / 10)) early = heapUsed();
    if (i % 100_000 === 0) onProgress?.(i);
    const query = makePacket(random, corpus);
    const transport = random(3) === 0 ? TRANSPORT.tcp : TRANSPORT.udp;
    try {
      const reply = served.ask(query, { transport });
      if (reply === "deferred") continue;
      check(query, reply, transport);
      if (reply === null) continue;
      responses++;
      rcodes.set(reply[3]! & 15, (rcodes.get(reply[3]! & 15) ?? 0) + 1);
    } catch (cause) {
      const hex = Buffer.from(query).toString("hex");
      throw new Error(`Packet ${i} of seed ${seed}: ${hex}`, { cause });
    }
  }
  return { packets, responses, rcodes, grownBytes: heapUsed() - early };
}

function heapUsed(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

function makeCorpus(random: Random): Uint8Array[] {
  return Array.from({ length: 400 }, (_, i) => {
    const options = [
      { code: 10, data: Buffer.alloc([8, 24, 16, 40][i % 4]!, i) },
      { code: 3, data: Buffer.alloc(0) },
      { code: 11, data: Buffer.alloc(0) },
      { code: 12, data: Buffer.alloc(20) },
      { code: 8, data: Buffer.from("000118 00c00002".replaceAll(" ", ""), "hex") },
      { code: 65_001, data: Buffer.alloc(5) },
    ].filter(() => random(3) === 0);
    const opt = {
      type: "OPT",
      name: ".",
      udpPayloadSize: [512, 1232, 4096, 0][i % 4],
      flags: 0,
      options,
    };
    return dnsPacket.encode({
      type: "query",
      id: random(0x10000),
      flags: dnsPacket.RECURSION_DESIRED,
      questions: [{ name: pick(random, names), type: pick(random, types) as "A" }],
      additionals: random(2) === 0 ? [opt as never] : [],
    });
  });
}

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random(from.length)]!;
}

function makePacket(random: Random, corpus: readonly Uint8Array[]): Uint8Array {
  const kind = random(20);
  if (kind === 0) return noise(random, random(80));
  if (kind === 1 && random(50) === 0) return noise(random, 0xffff);
  let packet: Uint8Array = Uint8Array.from(pick(random, corpus));
  if (kind < 4) return packet;
  for (let i = random(4); i >= 0; i--) packet = mutate(random, packet, corpus);
  return packet.subarray(0, 0xffff);
}

function noise(random: Random, length: number): Uint8Array {
  const packet = Uint8Array.from({ length }, () => random(256));
  if (length > 2 && random(4) > 0) packet[2]! &= 0x7f;
  return packet;
}

function mutate(random: Random, packet: Uint8Array, corpus: readonly Uint8Array[]): Uint8Array {
  const at = random(packet.length + 1);
  switch (random(9)) {
    case 0: // One octet.
      packet[at] = random(256);
      return packet;
    case 1: // One bit.
      packet[at]! ^= 1 << random(8);
      return packet;
    case 2: // Cut off.
      return packet.slice(0, at);
    case 3: // Octets in between.
      return Uint8Array.from([
        ...packet.subarray(0, at),
        ...noise(random, random(20)),
        ...packet.subarray(at),
      ]);
    case 4: // Octets out.
      return Uint8Array.from([...packet.subarray(0, at), ...packet.subarray(at + random(8))]);
    case 5: // Odd counts.
      if (packet.length >= 12) packet[4 + random(8)] = random(4);
      return packet;
    case 6: // A pointer.
      if (at + 1 < packet.length) packet.set([0xc0 | random(2), random(64)], at);
      return packet;
    case 7: {
      // The tail of another.
      const other = pick(random, corpus);
      return Uint8Array.from([...packet.subarray(0, at), ...other.subarray(random(other.length))]);
    }
    default: // The records twice.
      return Uint8Array.from([...packet, ...packet.subarray(Math.min(12, packet.length))]);
  }
}

function check(query: Uint8Array, reply: Uint8Array | null, transport: number): void {
  const isQuery = query.length >= 12 && (query[2]! & 0x80) === 0;
  if (!isQuery) return assert.equal(reply, null, "a response to what is no query");
  assert.ok(reply !== null, "a query without a response");
  assert.ok(reply.length >= 12);
  assert.deepEqual([...reply.subarray(0, 2)], [...query.subarray(0, 2)], "another id");
  assert.equal(reply[2]! & 0x80, 0x80, "not marked as a response");
  assert.equal(reply[2]! & 0x78, query[2]! & 0x78, "another opcode");
  const isTruncated = (reply[2]! & 2) !== 0;
  if (transport === TRANSPORT.udp)
    assert.ok(reply.length <= 1232, `${reply.length} octets over UDP`);
  else assert.ok(!isTruncated, "truncated on a stream");
  const decoded = dnsPacket.decode(Buffer.from(reply));
  const opt = decoded.additionals?.filter(({ type }) => type === "OPT") ?? [];
  assert.ok(opt.length <= 1, "two OPT records");
  if (opt.length === 0 && transport === TRANSPORT.udp) assert.ok(reply.length <= 512);
  if (isTruncated) assert.equal(decoded.answers?.length, 0);
  // The decoder must have come to the end: nothing is left over.
  assert.equal(dnsPacket.decode.bytes, reply.length, "octets after the last record");
}

if (import.meta.main) {
  const [packets = 10_000_000, seed = Date.now() % 2 ** 31] = process.argv.slice(2).map(Number);
  console.log(`${packets} packets, seed ${seed}`);
  const start = performance.now();
  const result = fuzzDns(packets, seed, (done) => {
    if (done % 1_000_000 === 0) console.log(`${done} …`);
  });
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  console.log(
    `${result.responses} responses in ${seconds} s, heap grown by ${result.grownBytes} bytes`,
  );
  console.log("by RCODE:", Object.fromEntries(result.rcodes));
}
