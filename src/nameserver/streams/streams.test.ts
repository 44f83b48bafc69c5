/** DNS over TCP as clients meet it. The responder is a trivial one: what is tested is the transport. */
import assert from "node:assert/strict";
import { connect, createServer } from "node:net";
import { after, before, suite, test } from "node:test";
import { until } from "../../../test/support/patience.ts";
import { framedQuery, StreamClient, within } from "../../../test/support/stream-client.ts";
import {
  answerTo,
  startTrivialStreams,
  trivialSettings,
  type TrivialStreams,
} from "../../../test/support/trivial-streams.ts";

const ids = (answers: readonly { id?: number | undefined }[]) => answers.map(({ id }) => id);

suite("a connection", () => {
  let streams: TrivialStreams;
  before(async () => {
    streams = await startTrivialStreams();
  });
  after(() => streams[Symbol.asyncDispose]());
  const open = () => StreamClient.open(streams.address!);

  test("takes query after query and says who asked", async () => {
    using client = await open();
    for (const id of [7, 8]) {
      client.send(framedQuery(id, "www.example"));
      const answer = (await client.next())!;
      assert.equal(answer.id, id);
      const port = client.socket.localPort!;
      assert.deepEqual(answer.answers, [
        {
          name: "www.example",
          type: "A",
          class: "IN",
          ttl: 60,
          flush: false,
          data: `1.1.${port >> 8}.${port & 255}`,
        },
      ]);
    }
  });

  test("is served when every octet comes by itself", async () => {
    using client = await open();
    client.socket.setNoDelay(true);
    for (const octet of Buffer.concat([framedQuery(1, "a.example"), framedQuery(2, "a.example")])) {
      client.socket.write(Uint8Array.of(octet));
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(ids(await client.nextOf(2)), [1, 2]);
  });

  test("gets all answers to a thousand queries that were sent at once", async () => {
    using client = await open();
    const all = Array.from({ length: 1_000 }, (_, id) => id);
    client.send(...all.map((id) => framedQuery(id, "a.example")));
    assert.deepEqual(ids(await client.nextOf(1_000)), all);
  });

  test("gets large answers whole, many at once", async () => {
    using client = await open();
    const all = Array.from({ length: 200 }, (_, id) => id);
    client.send(...all.map((id) => framedQuery(id, id % 2 === 0 ? "big.example" : "a.example")));
    const answers = await client.nextOf(200);
    assert.deepEqual(ids(answers), all);
    assert.equal((answers[0]!.answers![0] as unknown as { data: Buffer }).data.length, 60_000);
  });

  test("goes on after a query that gets no answer", async () => {
    using client = await open();
    client.send(framedQuery(1, "none.example"), framedQuery(2, "a.example"));
    assert.equal((await client.next())!.id, 2);
  });

  test("is closed at a message too short to be one, after the answers before it", async () => {
    for (const bad of [
      [0, 0],
      [0, 11, ...Array<number>(11).fill(0)],
    ]) {
      using client = await open();
      client.send(framedQuery(1, "a.example"), Uint8Array.from(bad), framedQuery(2, "a.example"));
      assert.equal((await client.next())!.id, 1);
      assert.equal(await client.next(), null);
    }
  });

  test("does not go on after such a message when large answers had to wait", async () => {
    using client = await open();
    client.socket.pause();
    const big = Array.from({ length: 100 }, (_, id) => framedQuery(id, "big.example"));
    client.send(...big, Uint8Array.of(0, 0), framedQuery(200, "a.example"));
    client.socket.resume();
    assert.equal((await client.nextOf(100)).at(-1)!.id, 99);
    assert.equal(await client.next(), null);
  });

  test("whose client has shut its side gets its answers, then is closed", async () => {
    using client = await open();
    client.socket.end(
      Buffer.concat([framedQuery(1, "a.example"), framedQuery(2, "later.example")]),
    );
    assert.deepEqual(ids(await client.nextOf(2)), [1, 2]);
    assert.equal(await client.next(), null);
  });

  test("that is reset harms nobody and is not logged", async () => {
    const before = streams.logged.length;
    for (let i = 0; i < 20; i++) {
      using client = await open();
      client.send(framedQuery(1, "big.example"), framedQuery(2, "later.example"));
      client.socket.resetAndDestroy();
    }
    using client = await open();
    client.send(framedQuery(3, "a.example"));
    assert.equal((await client.next())!.id, 3);
    await until(() => streams.counters().connections === 1);
    assert.deepEqual(streams.logged.slice(before), []);
  });

  test("on which the responder throws is closed, and the others go on", async () => {
    using other = await open();
    using client = await open();
    client.send(framedQuery(1, "throw.example"));
    assert.equal(await client.next(), null);
    other.send(framedQuery(2, "a.example"));
    assert.equal((await other.next())!.id, 2);
    await until(() => streams.logged.some((line) => line.includes("The responder threw")));
  });
});

suite("a query that the thread cannot answer itself", () => {
  test("does not hold up those behind it", async () => {
    const asked = Promise.withResolvers<void>();
    const known = Promise.withResolvers<void>();
    await using streams = await startTrivialStreams({
      async answerLater(query, { transport, addressLength }) {
        assert.deepEqual({ transport, addressLength }, { transport: 1, addressLength: 4 });
        asked.resolve();
        await known.promise;
        return answerTo(query);
      },
    });
    using client = await StreamClient.open(streams.address!);
    client.send(framedQuery(1, "later.example"), framedQuery(2, "a.example"));
    assert.equal((await client.next())!.id, 2);
    client.send(framedQuery(3, "a.example"));
    assert.equal((await client.next())!.id, 3);
    await asked.promise;
    known.resolve();
    const late = (await client.next())!;
    assert.equal(late.id, 1);
    assert.equal((late.answers![0] as { data: string }).data, "192.0.2.7");
  });

  test("stops the reading of its connection when there are too many, until some are answered", async () => {
    const waiting: (() => void)[] = [];
    await using streams = await startTrivialStreams({
      limits: { unanswered: 3 },
      answerLater: async (query) => {
        await new Promise<void>((resolve) => waiting.push(resolve));
        return answerTo(query);
      },
    });
    using client = await StreamClient.open(streams.address!);
    using other = await StreamClient.open(streams.address!);
    const later = [1, 2, 3, 4, 5].map((id) => framedQuery(id, "later.example"));
    client.send(...later, framedQuery(6, "a.example"));
    await until(() => waiting.length === 3);
    other.send(framedQuery(7, "a.example"));
    assert.equal((await other.next())!.id, 7);
    assert.equal(streams.counters().deferred, 3);
    assert.equal(client.waiting, 0);
    waiting[1]!();
    assert.equal((await client.next())!.id, 2);
    await until(() => waiting.length === 4);
    waiting[0]!();
    assert.equal((await client.next())!.id, 1);
    await until(() => waiting.length === 5);
    for (const resolve of waiting) resolve();
    assert.deepEqual(new Set(ids(await client.nextOf(4))), new Set([3, 4, 5, 6]));
  });

  test("gets no answer when there is none, and its connection goes on", async () => {
    await using streams = await startTrivialStreams({
      limits: { unanswered: 1 },
      answerLater: async (query) => {
        if (query[1] === 1) throw new Error("The resolver broke");
        return null;
      },
    });
    using client = await StreamClient.open(streams.address!);
    client.send(
      framedQuery(1, "later.example"),
      framedQuery(2, "later.example"),
      framedQuery(3, "a.example"),
    );
    assert.equal((await client.next())!.id, 3);
    assert.equal(streams.logged.filter((line) => line.includes("The resolver broke")).length, 1);
  });
});

suite("a slow reader", () => {
  test("is not read from until it takes its answers, and gets all of them", async () => {
    await using streams = await startTrivialStreams();
    using client = await StreamClient.open(streams.address!);
    client.socket.pause();
    const all = Array.from({ length: 800 }, (_, id) => id);
    client.send(...all.map((id) => framedQuery(id, "big.example")));
    let seen = -1;
    await until(() => {
      const { queries } = streams.counters();
      const isSteady = queries > 0 && queries === seen;
      seen = queries;
      return isSteady;
    });
    assert.ok(streams.counters().queries < 400, `${streams.counters().queries} were answered`);
    using other = await StreamClient.open(streams.address!);
    other.send(...[5_000, 5_001, 5_002, 5_003].map((id) => framedQuery(id, "big.example")));
    assert.deepEqual(ids(await other.nextOf(4)), [5_000, 5_001, 5_002, 5_003]);
    client.socket.resume();
    const answers = await client.nextOf(800);
    assert.deepEqual(ids(answers), all);
    for (const { id, answers: [record] = [] } of answers) {
      const { data } = record as unknown as { data: Buffer };
      assert.ok(data.equals(Buffer.alloc(60_000, id! & 255)), "what waited is as it was");
    }
  });

  test("that takes a little now and then keeps its connection", async () => {
    await using streams = await startTrivialStreams({ limits: { stuckMs: 1_500 } });
    const socket = connect(streams.address!);
    socket.on("readable", () => {}); // Reads some and stops until it is taken.
    socket.write(
      Buffer.concat(Array.from({ length: 800 }, (_, id) => framedQuery(id, "big.example"))),
    );
    for (const end = performance.now() + 3_000; performance.now() < end;) {
      socket.read();
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
    const { answers, timedOut } = streams.counters();
    assert.ok(answers < 800, "there was always more to take");
    assert.equal(timedOut, 0);
    socket.destroy();
  });

  test("that takes nothing for too long is closed", async () => {
    await using streams = await startTrivialStreams({ limits: { stuckMs: 200 } });
    using client = await StreamClient.open(streams.address!);
    client.socket.pause();
    client.send(...Array.from({ length: 500 }, (_, id) => framedQuery(id, "big.example")));
    await until(() => streams.counters().timedOut === 1);
    await until(() => streams.counters().connections === 0);
  });
});

suite("time", () => {
  test("closes a connection that is idle, but not one that waits for its answer", async () => {
    const known = Promise.withResolvers<void>();
    await using streams = await startTrivialStreams({
      limits: { idleMs: 500, shortIdleMs: 500 },
      answerLater: async (query) => {
        await known.promise;
        return answerTo(query);
      },
    });
    using waiting = await StreamClient.open(streams.address!);
    waiting.send(framedQuery(1, "later.example"));
    const began = performance.now();
    using idle = await StreamClient.open(streams.address!);
    await within(idle.closed);
    assert.ok(performance.now() - began >= 490, "not before its time");
    known.resolve();
    assert.equal((await waiting.next())!.id, 1);
    assert.equal(await waiting.next(), null, "then it is idle too");
  });

  test("closes a connection whose message does not get whole, however busily it trickles", async () => {
    await using streams = await startTrivialStreams({ limits: { messageMs: 200 } });
    using client = await StreamClient.open(streams.address!);
    const query = framedQuery(1, "a.".repeat(120)); // So long that it takes five seconds.
    client.socket.setNoDelay(true);
    let at = 0;
    const trickle = setInterval(() => client.socket.write(query.subarray(at, ++at)), 20);
    await within(client.closed);
    clearInterval(trickle);
    assert.ok(at < query.length, "it was closed before the message was whole");
    assert.equal(client.waiting, 0);
  });

  test("does not count against a message while the server itself would not read its rest", async () => {
    const known = Promise.withResolvers<void>();
    await using streams = await startTrivialStreams({
      limits: { messageMs: 1_000, unanswered: 1 },
      answerLater: async (query) => {
        await known.promise;
        return answerTo(query);
      },
    });
    using client = await StreamClient.open(streams.address!);
    const [next, rest] = [framedQuery(2, "a.example"), framedQuery(3, "a.example")];
    client.send(framedQuery(1, "later.example"), next.subarray(0, 9));
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    client.send(next.subarray(9), rest);
    known.resolve();
    assert.deepEqual(ids(await client.nextOf(3)), [1, 2, 3]);
  });
});

suite("limits", () => {
  test("close further connections of a source at once; other sources are served", async () => {
    await using streams = await startTrivialStreams({
      limits: { connectionsPerSource: 3, exempt: ["127.0.0.9"] },
    });
    const open = (localAddress: string) => StreamClient.open(streams.address!, { localAddress });
    const held = await Promise.all([1, 2, 3].map(() => open("127.0.0.1")));
    for (const client of held) client.send(framedQuery(1, "a.example"));
    for (const client of held) assert.equal((await client.next())!.id, 1);
    using fourth = await open("127.0.0.1");
    assert.equal(await fourth.next(), null);
    assert.equal(streams.counters().turnedAway, 1);
    for (const address of ["127.0.0.2", "127.0.0.9", "127.0.0.9", "127.0.0.9", "127.0.0.9"]) {
      const client = await open(address);
      client.send(framedQuery(2, "a.example"));
      assert.equal((await client.next())!.id, 2);
      held.push(client);
    }
    held[0]!.socket.destroy();
    await until(() => streams.counters().connections === held.length - 1);
    using next = await open("127.0.0.1");
    next.send(framedQuery(3, "a.example"));
    assert.equal((await next.next())!.id, 3, "a place that was left can be taken");
    for (const client of held) client.socket.destroy();
  });

  test("in a storm of connections the one that was quiet the longest makes room", async () => {
    await using streams = await startTrivialStreams({
      limits: { connections: 50, idleMs: 60_000, shortIdleMs: 60_000 },
    });
    using busy = await StreamClient.open(streams.address!);
    const crowd: StreamClient[] = [];
    for (let round = 0; round < 10; round++) {
      crowd.push(
        ...(await Promise.all(
          Array.from({ length: 40 }, () => StreamClient.open(streams.address!)),
        )),
      );
      await until(() => streams.counters().accepted === 1 + crowd.length);
      await new Promise((resolve) => setTimeout(resolve, 60)); // Uses closer than this count as one.
      busy.send(framedQuery(round, "a.example"));
      assert.equal((await busy.next())!.id, round);
    }
    using last = await StreamClient.open(streams.address!);
    last.send(framedQuery(1, "a.example"));
    assert.equal((await last.next())!.id, 1);
    assert.equal(streams.counters().connections, 50);
    assert.equal(streams.counters().pushedOut, 402 - 50);
    await within(Promise.all(crowd.slice(0, 350).map(({ closed }) => closed)));
    for (const client of crowd) client.socket.destroy();
  });
});

suite("the thread", () => {
  test("is started again when it dies, on the same port", async () => {
    await using streams = await startTrivialStreams();
    const { address } = streams;
    using client = await StreamClient.open(address!);
    client.send(framedQuery(1, "die.example"));
    await within(client.closed);
    await until(() => streams.readers.has(2));
    assert.equal(streams.readers.has(1), false, "what it read is let go");
    let answer = null;
    while (answer === null) {
      using again = await StreamClient.open(address!).catch(() => null);
      again?.send(framedQuery(2, "a.example"));
      answer = (await again?.next()) ?? null;
    }
    assert.equal(answer.id, 2);
    assert.equal(streams.counters().restarts, 1);
    assert.ok(streams.logged.some((line) => line.includes("started again")));
  });

  test("takes new settings without losing a connection", async () => {
    await using streams = await startTrivialStreams();
    using client = await StreamClient.open(streams.address!);
    streams.configure(trivialSettings(42));
    client.send(framedQuery(1, "a.example"));
    const answer = (await client.next())!;
    assert.match((answer.answers![0] as { data: string }).data, /^42\.1\./);
  });

  test("answers at a stop what was asked, and is then gone", async () => {
    const asked = Promise.withResolvers<void>();
    const known = Promise.withResolvers<void>();
    const streams = await startTrivialStreams({
      answerLater: async (query) => {
        asked.resolve();
        await known.promise;
        return answerTo(query);
      },
    });
    using client = await StreamClient.open(streams.address!);
    client.send(framedQuery(1, "later.example"));
    await asked.promise;
    const stopped = streams[Symbol.asyncDispose]();
    known.resolve();
    assert.equal((await client.next())!.id, 1);
    assert.equal(await client.next(), null);
    await within(stopped);
    assert.equal(streams.readers.size, 0);
    await assert.rejects(StreamClient.open(streams.address!), { code: "ECONNREFUSED" });
  });

  test("does not wait at a stop for a client that never reads", async () => {
    const streams = await startTrivialStreams({ limits: { drainMs: 100 } });
    using client = await StreamClient.open(streams.address!);
    client.socket.pause();
    client.send(...Array.from({ length: 500 }, (_, id) => framedQuery(id, "big.example")));
    await until(() => streams.counters().queries > 0);
    await within(streams[Symbol.asyncDispose]());
  });

  test("says which address cannot be had, and which flag sets it", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const { port } = taken.address() as { port: number };
    const address = { host: "127.0.0.1", port };
    await assert.rejects(startTrivialStreams({ address }), {
      message: `Cannot listen on 127.0.0.1:${port} (--dns): another program uses this port. Choose another, or 0 for a free one.`,
    });
    taken.close();
  });
});
