import assert from "node:assert/strict";
import { networkInterfaces } from "node:os";
import { mock, suite, test, type TestContext } from "node:test";
import packet, { type Answer, type Packet } from "dns-packet";
import { parseHostPort, type HostPort } from "#kit/address.ts";
import { replyTo, Upstream, type Asked } from "../../../test/support/upstream.ts";
import type { Resolution } from "./resolver.ts";
import { StubResolver } from "./stub-resolver.ts";

const NAME = "www.example.com.";
const UNREACHABLE: Resolution = { kind: "failure", ede: 22 };
const SILENT: Resolution = { kind: "failure", ede: 23 };

// However busy the machine: nobody's patience ends before a test says so.
mock.timers.enable({ apis: ["setTimeout"] });

suite("a query", () => {
  test("comes from a port, with an id and in a spelling of its own", async (t) => {
    const { upstream, resolver } = await start(t);
    upstream.reply = (asked) => [good(asked)];
    for (let i = 0; i < 12; i++) assert.deepEqual(await resolver.resolve(NAME, 1), found());
    const distinct = (of: (asked: Asked) => unknown): number =>
      new Set(upstream.asked.map(of)).size;
    assert.ok(distinct(({ port }) => port) >= 10, "ports");
    assert.ok(distinct(({ id }) => id) >= 10, "ids");
    assert.ok(distinct(({ name }) => name) >= 10, "spellings");
    assert.deepEqual(
      new Set(upstream.asked.map(({ name }) => name.toLowerCase())),
      new Set(["www.example.com"]),
    );
  });

  test("for a name of one label gets no domain added, and localhost no file read", async (t) => {
    const { upstream, resolver } = await start(t);
    upstream.reply = (asked) => [good(asked)];
    assert.deepEqual(await resolver.resolve("localhost.", 1), found());
    upstream.reply = (asked) => [replyTo(asked, { rcode: 3 })];
    assert.deepEqual(await resolver.resolve("printer.", 1), { kind: "nodata", ttlSeconds: 0 });
    assert.deepEqual(
      upstream.asked.map(({ name }) => name.toLowerCase()),
      ["localhost", "printer"],
    );
  });
});

suite("a reply", () => {
  test("that was cut short is asked for again over TCP", async (t) => {
    const { upstream, resolver } = await start(t);
    upstream.reply = (asked) => [
      asked.transport === "udp" ? replyTo(asked, { truncated: true }) : good(asked),
    ];
    assert.deepEqual(await resolver.resolve(NAME, 1), found());
    assert.deepEqual(transports(upstream), ["udp", "tcp"]);
  });

  test("with another id or question, or none at all, is not taken for the right one", async (t) => {
    const { upstream, resolver } = await start(t);
    const forgeries: ((asked: Asked) => Packet | Uint8Array)[] = [
      (asked) => ({ ...evil(asked), id: asked.id ^ 1 }),
      (asked) => ({ ...evil(asked), questions: [{ name: "evil.example", type: "A" }] }),
      (asked) => ({ ...evil(asked), questions: [{ name: asked.name, type: "AAAA" }] }),
      (asked) => ({ ...evil(asked), questions: [] }),
      (asked) => ({ ...evil(asked), type: "query" }),
      () => Buffer.from("garbage"),
      () => new Uint8Array(0),
      () => new Uint8Array(60_000),
    ];
    for (const forgery of forgeries) {
      upstream.reply = (asked) => [forgery(asked), good(asked)];
      assert.deepEqual(await resolver.resolve(NAME, 1), found(), String(forgery));
    }
    assert.deepEqual(new Set(transports(upstream)), new Set(["udp"]));
  });

  test("is had over TCP when guesses pour in", async (t) => {
    const { upstream, resolver } = await start(t);
    upstream.reply = (asked) =>
      asked.transport === "tcp"
        ? [good(asked)]
        : Array.from({ length: 50 }, (_, i) => ({ ...evil(asked), id: asked.id ^ (i + 1) }));
    assert.deepEqual(await resolver.resolve(NAME, 1), found());
    assert.deepEqual(transports(upstream), ["udp", "tcp"]);
  });

  test("in another spelling is believed over TCP only", async (t) => {
    const { upstream, resolver } = await start(t);
    const respelt = ({ questions, ...packet }: Packet): Packet => ({
      ...packet,
      questions: questions!.map(({ name, type }) => ({ name: swapCase(name), type })),
    });
    upstream.reply = (asked) => [respelt(asked.transport === "udp" ? evil(asked) : good(asked))];
    assert.deepEqual(await resolver.resolve(NAME, 1), found());
    assert.deepEqual(transports(upstream), ["udp", "tcp"]);
  });

  test("that cannot be read is no reply worth repeating the query for", async (t) => {
    const { upstream, resolver } = await start(t, { servers: 1 });
    upstream.reply = (asked) => [Buffer.concat([headOf(asked, 9), Buffer.alloc(9, 0xff)])];
    assert.deepEqual(await resolver.resolve(NAME, 1), UNREACHABLE);
    assert.equal(upstream.asked.length, 1);
  });

  test("with an endless chain, and with thousands of addresses, ends", async (t) => {
    const { upstream, resolver } = await start(t, { servers: 1 });
    const loop: Answer[] = [
      { name: "www.example.com", type: "CNAME", data: "a.example", ttl: 9 },
      { name: "a.example", type: "CNAME", data: "www.example.com", ttl: 9 },
    ];
    upstream.reply = (asked) => [replyTo(asked, { answers: loop })];
    assert.deepEqual(await resolver.resolve(NAME, 1), UNREACHABLE);
    upstream.reply = (asked) => [
      asked.transport === "udp" ? replyTo(asked, { truncated: true }) : crowd(asked, 4000),
    ];
    const resolution = await resolver.resolve(NAME, 1);
    assert.ok(resolution.kind === "addresses");
    assert.equal(resolution.addresses.length, 64 * 4);
  });
});

suite("a server", () => {
  test("that answers with an error is asked once, and then the next", async (t) => {
    for (const rcode of [2, 5]) {
      const { upstream, resolver, other } = await start(t);
      upstream.reply = (asked) => [replyTo(asked, { rcode })];
      other.reply = (asked) => [good(asked)];
      assert.deepEqual(await resolver.resolve(NAME, 1), found());
      other.reply = (asked) => [replyTo(asked, { rcode })];
      assert.deepEqual(await resolver.resolve(NAME, 1), UNREACHABLE);
      assert.deepEqual([upstream.asked.length, other.asked.length], [2, 2]);
    }
  });

  test("that takes EDNS for an error is asked without", async (t) => {
    const { upstream, resolver } = await start(t, { servers: 1 });
    upstream.reply = (asked) => [
      asked.query.additionals!.length > 0 ? replyTo(asked, { rcode: 1 }) : good(asked),
    ];
    assert.deepEqual(await resolver.resolve(NAME, 1), found());
    upstream.reply = (asked) => [replyTo(asked, { rcode: 1 })];
    assert.deepEqual(await resolver.resolve(NAME, 1), UNREACHABLE);
    assert.equal(upstream.asked.length, 4);
  });

  test("that is silent is waited for 0.4 s, and from then on asked after the other", async (t) => {
    const { upstream, resolver, other } = await start(t);
    other.reply = (asked) => [good(asked)];
    const resolution = resolver.resolve(NAME, 1);
    await upstream.heard(1);
    mock.timers.tick(399);
    assert.equal(other.asked.length, 0);
    mock.timers.tick(1);
    assert.deepEqual(await resolution, found());
    assert.deepEqual(await resolver.resolve(NAME, 1), found());
    assert.deepEqual([upstream.asked.length, other.asked.length], [1, 2]);
  });

  test("may reply late, when the next was asked already", async (t) => {
    const { upstream, resolver, other } = await start(t);
    const late = Promise.withResolvers<void>();
    other.reply = () => (late.resolve(), []);
    const resolution = resolver.resolve(NAME, 1);
    await upstream.heard(1);
    mock.timers.tick(400);
    await late.promise;
    upstream.send(upstream.asked[0]!, good(upstream.asked[0]!));
    assert.deepEqual(await resolution, found());
  });

  test("that is silent three times is given up after 3 s", async (t) => {
    const { upstream, resolver } = await start(t, { servers: 1 });
    const resolution = resolver.resolve(NAME, 1);
    for (const [i, ms] of [400, 500, 2100].entries()) {
      await upstream.heard(i + 1);
      mock.timers.tick(ms);
    }
    assert.deepEqual(await resolution, SILENT);
    assert.equal(upstream.asked.length, 3);
  });

  test("that is not there is given up at once", async (t) => {
    const { resolver, upstream } = await start(t, { servers: 1 });
    await upstream[Symbol.asyncDispose]();
    assert.deepEqual(await resolver.resolve(NAME, 1), SILENT);
  });

  test("that breaks off over TCP, or talks nonsense there, could not be reached", async () => {
    for (const reply of ["", "\0\x05abc", "\0\x14abc", `\0\x14${"x".repeat(20)}`, "\0"]) {
      await using upstream = await Upstream.start();
      using resolver = new StubResolver({ servers: () => [hostPort(upstream)] });
      upstream.reply = (asked) => [replyTo(asked, { truncated: true })];
      upstream.tcpOctets = Buffer.from(reply, "latin1");
      assert.deepEqual(await resolver.resolve(NAME, 1), SILENT, JSON.stringify(reply));
    }
  });

  test("may be an IPv6 one", async (t) => {
    if (
      !Object.values(networkInterfaces())
        .flat()
        .some((at) => at?.address === "::1")
    ) {
      return t.skip("this machine has no IPv6");
    }
    await using upstream = await Upstream.start("::1");
    upstream.reply = (asked) => [good(asked)];
    using resolver = new StubResolver({ servers: () => [hostPort(upstream)] });
    assert.deepEqual(await resolver.resolve(NAME, 1), found());
  });
});

test("without any server nothing can be resolved", async () => {
  using resolver = new StubResolver({ servers: () => [] });
  assert.deepEqual(await resolver.resolve(NAME, 1), SILENT);
});

test("closing the resolver ends what is under way", async (t) => {
  const { upstream, resolver } = await start(t);
  const resolution = resolver.resolve(NAME, 1);
  await upstream.heard(1);
  resolver[Symbol.dispose]();
  assert.deepEqual(await resolution, SILENT);
});

/** Two upstreams, or one; the resolver asks `upstream` first. */
async function start(
  t: TestContext,
  { servers = 2 } = {},
): Promise<{ upstream: Upstream; other: Upstream; resolver: StubResolver }> {
  const upstreams = [await Upstream.start(), await Upstream.start()];
  const asked = upstreams.slice(0, servers).map(hostPort);
  const resolver = new StubResolver({ servers: () => asked });
  t.after(async () => {
    resolver[Symbol.dispose]();
    for (const upstream of upstreams) await upstream[Symbol.asyncDispose]().catch(() => {});
  });
  return { upstream: upstreams[0]!, other: upstreams[1]!, resolver };
}

function hostPort(upstream: Upstream): HostPort {
  return parseHostPort(upstream.address);
}

function transports(upstream: Upstream): string[] {
  return upstream.asked.map(({ transport }) => transport);
}

function found(): Resolution {
  return { kind: "addresses", addresses: Buffer.of(192, 0, 2, 1), ttlSeconds: 60 };
}

function good(asked: Asked): Packet {
  const answers: Answer[] = [{ name: asked.name, type: "A", ttl: 60, data: "192.0.2.1" }];
  return replyTo(asked, { answers });
}

function evil(asked: Asked): Packet {
  const answers: Answer[] = [{ name: asked.name, type: "A", ttl: 60, data: "192.0.2.66" }];
  return replyTo(asked, { answers });
}

/** A reply's header and question, with so many records promised. */
function headOf(asked: Asked, answers: number): Buffer {
  const head = packet.encode(replyTo(asked));
  head.writeUInt16BE(answers, 6);
  return head;
}

function crowd(asked: Asked, addresses: number): Buffer {
  const records = Array.from({ length: addresses }, (_, i) =>
    Buffer.of(0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 10, 0, i >> 8, i & 255),
  );
  return Buffer.concat([headOf(asked, addresses), ...records]);
}

function swapCase(text: string): string {
  return text.replaceAll(/[a-z]/gi, (c) => (c > "Z" ? c.toUpperCase() : c.toLowerCase()));
}
