/** DNS over HTTPS on a real listener, with a responder that shows what reached it. RFC 8484. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, suite, test } from "node:test";
import { type Answer, decode, encode, type Packet } from "dns-packet";
import { BodyTooLarge, sendReply } from "#http";
import { ranges } from "#kit/cidr.ts";
import type { Client } from "./client.ts";
import { dohHandler } from "./doh.ts";
import { freshSeconds } from "./freshness.ts";

const TYPE = "application/dns-message";
const query = encode({ type: "query", id: 0, questions: [{ type: "A", name: "www.example" }] });

const a = (ttl: number): Answer => ({ type: "A", name: "www.example", ttl, data: "192.0.2.1" });
const soa = (ttl: number, minimum: number): Answer => ({
  type: "SOA",
  name: "example",
  ttl,
  data: {
    mname: "ns1.example",
    rname: "dns.example",
    serial: 1,
    refresh: 2,
    retry: 3,
    expire: 4,
    minimum,
  },
});

function response(packet: Packet, rcode = 0): Buffer {
  const questions: Packet["questions"] = [{ type: "A", name: "www.example" }];
  return encode({ type: "response", id: 0, flags: rcode, questions, ...packet });
}

suite("an HTTP request", () => {
  let origin: string;
  let seen: { message: Uint8Array; client: Client } | null = null;
  let reply: Uint8Array | null = response({ answers: [a(300), a(60)] });
  const handler = dohHandler({
    respond(message, client) {
      seen = { message, client };
      return reply;
    },
    trustedProxies: ranges(["127.0.0.1"]),
  });
  const server = createServer((request, response) => {
    handler({ request, query: new URL(request.url!, "http://x").search.slice(1) }).then(
      (answer) => sendReply(response, answer, "id"),
      (error: unknown) => response.writeHead(error instanceof BodyTooLarge ? 413 : 500).end(),
    );
  });
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    origin = `http://127.0.0.1:${(server.address() as { port: number }).port}/dns-query`;
  });
  after(() => server.close());

  const post = (body: Uint8Array, type = TYPE, headers = {}) =>
    fetch(origin, {
      method: "POST",
      body: new Uint8Array(body),
      headers: { "Content-Type": type, ...headers },
    });
  const get = (dns: string) => fetch(`${origin}?dns=${dns}`);

  test("carries a message in its body or its query, and the response comes back", async () => {
    for (const answer of [await get(query.toString("base64url")), await post(query)]) {
      assert.equal(answer.status, 200);
      assert.equal(answer.headers.get("content-type"), TYPE);
      assert.equal(answer.headers.get("cache-control"), "max-age=60");
      const packet = decode(Buffer.from(await answer.arrayBuffer()));
      assert.equal(packet.answers?.length, 2);
      assert.deepEqual(Buffer.from(seen!.message), query);
    }
  });

  test("may name parameters of its type, and spell it in capitals", async () => {
    assert.equal((await post(query, "Application/DNS-Message; charset=x")).status, 200);
  });

  test("with HEAD gets the head of the answer alone", async () => {
    const answer = await fetch(`${origin}?dns=${query.toString("base64url")}`, { method: "HEAD" });
    assert.equal(answer.status, 200);
    assert.equal(Number(answer.headers.get("content-length")), reply!.length);
    assert.equal((await answer.arrayBuffer()).byteLength, 0);
  });

  test("comes from the client that a trusted proxy names", async () => {
    await post(query, TYPE, { "X-Forwarded-For": "203.0.113.9" });
    const { transport, address, addressLength, port } = seen!.client;
    assert.deepEqual([...address.subarray(0, addressLength)], [203, 0, 113, 9]);
    assert.equal(transport, 3);
    assert.ok(port > 0);
  });

  test("that carries no message is refused, and reaches nobody", async () => {
    const short = query.subarray(0, 11);
    const text = query.toString("base64url");
    const padded = `${encode({ type: "query", id: 0, questions: [{ type: "A", name: "a.example" }] }).toString("base64url")}=`;
    const cases: [what: string, answer: Promise<Response>, status: number][] = [
      ["no parameter", fetch(origin), 400],
      ["an empty one", get(""), 400],
      ["two of them", get(`${text}&dns=${text}`), 400],
      ["padding", get(padded), 400],
      ["plain base64", get("ab+/abcdabcdabcdabcdabcd"), 400],
      ["a length that base64 cannot have", get("a".repeat(29)), 400],
      ["a message cut short", get(short.toString("base64url")), 400],
      ["a body cut short", post(short), 400],
      ["an empty body", post(Buffer.alloc(0)), 400],
      ["a body of another type", post(query, "application/octet-stream"), 415],
      ["a body of no type", fetch(origin, { method: "POST", body: new Uint8Array(query) }), 415],
      ["a body that is too large", post(Buffer.alloc(65_536)), 413],
    ];
    seen = null;
    for (const [what, answer, status] of cases) assert.equal((await answer).status, status, what);
    assert.equal(seen, null);
  });

  test("with a message that deserves no response is refused", async () => {
    reply = null;
    const answer = await post(query);
    assert.equal(answer.status, 400);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.equal(await answer.text(), "The DNS message is not a query.\n");
  });
});

suite("a response may be kept", () => {
  const cases: [name: string, packet: Packet, rcode: number, seconds: number | null][] = [
    ["for the smallest TTL of its answers", { answers: [a(300), a(60), a(90)] }, 0, 60],
    ["not at all with a TTL of 0", { answers: [a(0)] }, 0, 0],
    [
      "for the SOA's minimum when the name does not exist",
      { authorities: [soa(3600, 1800)] },
      3,
      1800,
    ],
    ["for the SOA's own TTL when that is smaller", { authorities: [soa(600, 1800)] }, 0, 600],
    [
      "for the least of both when an alias leads nowhere",
      { answers: [a(300)], authorities: [soa(9, 8)] },
      3,
      8,
    ],
    ["not when it is an error", { authorities: [soa(600, 1800)] }, 2, null],
    [
      "not when it only refers to others",
      { authorities: [{ type: "NS", name: "example", ttl: 60, data: "ns.example" }] },
      0,
      null,
    ],
  ];
  for (const [name, packet, rcode, seconds] of cases) {
    test(name, () => assert.equal(freshSeconds(response(packet, rcode)), seconds));
  }

  test("whatever it says of EDNS, unless that is an error", () => {
    const opt = (extendedRcode: number) =>
      ({
        type: "OPT",
        name: ".",
        udpPayloadSize: 1232,
        extendedRcode,
        ednsVersion: 0,
        flags: 0,
        options: [],
      }) as unknown as Answer;
    assert.equal(freshSeconds(response({ answers: [a(60)], additionals: [opt(0)] })), 60);
    assert.equal(freshSeconds(response({ answers: [a(60)], additionals: [opt(1)] })), null);
  });
});
