import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { WireFault } from "#dns";
import packet, { type Answer, type Packet } from "dns-packet";
import fc from "fast-check";
import { makeQuery, matchReply } from "./query.ts";
import { readReply, type Reading } from "./reply.ts";

const NAME = "www.example.";

suite("addresses", () => {
  test("the end of the chain counts, in whatever order it comes, with the smallest TTL on the way", () => {
    const answers: Answer[] = [
      a("c.other", 60, "192.0.2.1"),
      cname("b.example", 20, "C.other"),
      a("c.other", 50, "192.0.2.2"),
      cname("WWW.example", 40, "b.example"),
    ];
    assert.deepEqual(shown(read({ answers })), { addresses: "c0000201 c0000202", ttlSeconds: 20 });
  });

  test("IPv6 addresses are those of an AAAA query", () => {
    const answers: Answer[] = [
      { name: "www.example", type: "AAAA", ttl: 9, data: "2001:db8::1" },
      a("www.example", 5, "192.0.2.1"),
    ];
    const reading = read({ answers }, 28);
    assert.deepEqual(shown(reading), {
      addresses: "20010db8000000000000000000000001",
      ttlSeconds: 9,
    });
  });

  test("addresses of other names, types, classes and lengths are not taken", () => {
    const answers: Answer[] = [
      a("evil.example", 60, "192.0.2.66"),
      { name: "www.example", type: "AAAA", ttl: 9, data: "2001:db8::66" },
      { name: "www.example", type: "A", class: "CH", ttl: 60, data: "192.0.2.67" },
      a("www.example", 60, "192.0.2.1"),
    ];
    assert.deepEqual(shown(read({ answers })), { addresses: "c0000201", ttlSeconds: 60 });
    const [message, query] = encode({ answers: [a("www.example", 60, "192.0.2.1")] });
    const long = Buffer.concat([message, Buffer.of(0)]);
    long[long.length - 6] = 5; // RDLENGTH, with an octet more at the end.
    assert.deepEqual(readReply(query, long), { kind: "nodata", ttlSeconds: 0 });
  });

  test("of many addresses the first 64 are taken, and each once", () => {
    const many = Array.from({ length: 4000 }, (_, i) =>
      a("www.example", 60, `10.0.${i >> 9}.${(i >> 1) & 255}`),
    );
    const reading = read({ answers: many });
    assert.ok(reading.kind === "addresses");
    assert.equal(reading.addresses.length, 64 * 4);
    assert.deepEqual([...reading.addresses.subarray(-4)], [10, 0, 0, 63]);
  });

  test("a TTL with its highest bit set is none", () => {
    const reading = read({ answers: [a("www.example", 0x80000000, "192.0.2.1")] });
    assert.deepEqual(shown(reading), { addresses: "c0000201", ttlSeconds: 0 });
  });
});

suite("denials", () => {
  test("a name that is not there, or not with the type, is no data for the time that the SOA says", () => {
    const authorities = [soa("example", 77, 55)];
    for (const rcode of [0, 3]) {
      assert.deepEqual(read({ authorities }, 1, rcode), { kind: "nodata", ttlSeconds: 55 });
    }
    assert.deepEqual(read({ authorities: [soa("example", 33, 55)] }), {
      kind: "nodata",
      ttlSeconds: 33,
    });
  });

  test("the way to the end of a chain counts, and the SOA must be of the end's zone", () => {
    const answers = [cname("www.example", 40, "b.other")];
    const nodata = (authorities: Answer[]): Reading => read({ answers, authorities }, 1, 3);
    assert.deepEqual(nodata([soa("other", 77, 55)]), { kind: "nodata", ttlSeconds: 40 });
    assert.deepEqual(nodata([soa("example", 77, 55)]), { kind: "nodata", ttlSeconds: 0 });
    assert.deepEqual(nodata([]), { kind: "nodata", ttlSeconds: 0 });
  });

  test("NXDOMAIN is believed even with addresses beside it", () => {
    const answers = [a("www.example", 60, "192.0.2.1")];
    assert.equal(read({ answers }, 1, 3).kind, "nodata");
  });
});

suite("nothing is known from", () => {
  test("an error", () => {
    for (const rcode of [1, 2, 4, 5, 9]) {
      const answers = [a("www.example", 60, "192.0.2.1")];
      assert.deepEqual(read({ answers }, 1, rcode), { kind: "useless", rcode });
    }
  });

  test("an error whose upper bits stand in the OPT record", () => {
    const opt = {
      name: ".",
      type: "OPT",
      udpPayloadSize: 1232,
      extendedRcode: 1,
      ednsVersion: 0,
      flags: 0,
      options: [],
    } as unknown as Answer;
    assert.deepEqual(read({ additionals: [opt] }), { kind: "useless", rcode: 16 });
  });

  test("a referral", () => {
    const authorities: Answer[] = [{ name: "example", type: "NS", ttl: 9, data: "ns.example" }];
    assert.equal(read({ authorities }).kind, "useless");
    assert.equal(read({ authorities: [...authorities, soa("example", 9, 9)] }).kind, "nodata");
  });

  test("a chain without end, or one that is too long", () => {
    const loop = [cname("www.example", 9, "b.example"), cname("b.example", 9, "www.example")];
    assert.equal(read({ answers: loop }).kind, "useless");
    const chain = (links: number): Answer[] => [
      ...Array.from({ length: links }, (_, i) =>
        cname(i === 0 ? "www.example" : `n${i}.example`, 9, `n${i + 1}.example`),
      ),
      a(`n${links}.example`, 9, "192.0.2.1"),
    ];
    assert.equal(read({ answers: chain(16) }).kind, "addresses");
    assert.equal(read({ answers: chain(17) }).kind, "useless");
  });
});

test("a reply with anything wrong in it is read or refused, never worse", () => {
  const [message, query] = encode({
    answers: [cname("www.example", 9, "b.example"), a("b.example", 9, "192.0.2.1")],
    authorities: [soa("example", 9, 9)],
  });
  const anyChange = fc.array(fc.tuple(fc.nat(message.length - 1), fc.nat(255)), { maxLength: 8 });
  fc.assert(
    fc.property(anyChange, fc.nat(message.length), (changes, length) => {
      const broken = Uint8Array.from(message);
      for (const [at, octet] of changes) broken[at] = octet;
      tryToRead(broken.subarray(0, length));
    }),
    { numRuns: 3000 },
  );
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), tryToRead));

  function tryToRead(bytes: Uint8Array): void {
    if (matchReply(query, bytes) === "none") return;
    try {
      readReply(query, bytes);
    } catch (error) {
      assert.ok(error instanceof WireFault, String(error));
    }
  }
});

function encode(
  parts: Partial<Packet>,
  type: 1 | 28 = 1,
  rcode = 0,
): [Buffer, ReturnType<typeof makeQuery>] {
  const query = makeQuery(NAME, type, { edns: true, random: (n) => new Uint8Array(n).fill(0x5a) });
  const { id, questions } = packet.decode(Buffer.from(query.bytes));
  const reply: Packet = {
    type: "response",
    id: id!,
    flags: rcode,
    questions: questions!,
    ...parts,
  };
  return [packet.encode(reply), query];
}

function read(parts: Partial<Packet>, type: 1 | 28 = 1, rcode = 0): Reading {
  const [message, query] = encode(parts, type, rcode);
  assert.equal(matchReply(query, message), "exact");
  return readReply(query, message);
}

function shown(reading: Reading): { addresses: string; ttlSeconds: number } {
  assert.ok(reading.kind === "addresses");
  const { addresses, ttlSeconds } = reading;
  const hex = Buffer.from(addresses).toString("hex");
  return { addresses: hex.length === 32 ? hex : hex.replaceAll(/.{8}(?=.)/g, "$& "), ttlSeconds };
}

function a(name: string, ttl: number, data: string): Answer {
  return { name, type: "A", class: "IN", ttl, data };
}

function cname(name: string, ttl: number, data: string): Answer {
  return { name, type: "CNAME", class: "IN", ttl, data };
}

function soa(name: string, ttl: number, minimum: number): Answer {
  const data = {
    mname: "ns.test",
    rname: "dns.test",
    serial: 1,
    refresh: 1,
    retry: 1,
    expire: 1,
    minimum,
  };
  return { name, type: "SOA", class: "IN", ttl, data };
}
