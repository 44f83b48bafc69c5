/** What every way to serve UDP owes. Each runs this same suite, over real sockets. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createSocket } from "node:dgram";
import { networkInterfaces } from "node:os";
import { suite, test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { Log } from "#kit/log.ts";
import { assertQuick, msOf, until } from "../../../test/support/patience.ts";
import type { ResponderSettings } from "../responder.ts";
import { makeAsker, type Asker } from "./asker.contract.ts";
import { MAX_OUTSTANDING } from "./control.ts";
import type { UdpCounters } from "./counters.ts";
import { startUdp, type UdpListener, type UdpOptions } from "./threads.ts";

export interface Traits {
  readonly endpoint: "batch" | "dgram";
  /** Threads that share a port, when several are wanted. */
  readonly severalThreads: boolean;
  /** Whether a reply leaves from the address that was asked, when listening on all. */
  readonly repliesFromAsked: boolean;
  /** Whether datagrams wait for a thread that is being replaced. */
  readonly keepsDatagrams: boolean;
  readonly longestQuery: number;
}

/** Between two beats, when a test wants nothing done by them. */
const NEVER_MS = 3_600_000;

const MODULE = new URL("./echo.contract.ts", import.meta.url).href;
const LOOPBACK = { host: "127.0.0.1", port: 0 };

const HAS_IPV6 = Object.values(networkInterfaces())
  .flat()
  .some((known) => known?.address === "::1");

/** A listener with what the test wants to see of its surroundings. */
interface Scene extends AsyncDisposable {
  readonly udp: UdpListener;
  readonly asker: Asker;
  readonly slots: { connected: number[]; disconnected: number[] };
  readonly logged: string[];
  /** The counters once all is over: a reply can arrive before it is counted. */
  finalCounters(): Promise<UdpCounters>;
  /** Resolves at the next end of a thread. */
  nextRestart(): Promise<void>;
}

async function makeScene(
  options: Partial<UdpOptions> & Pick<UdpOptions, "endpoint">,
): Promise<Scene> {
  const slots: Scene["slots"] = { connected: [], disconnected: [] };
  const logged: string[] = [];
  let restarted = Promise.withResolvers<void>();
  const udp = await startUdp({
    address: LOOPBACK,
    threads: 1,
    connectReader: () => {
      const slot = slots.connected.length;
      slots.connected.push(slot);
      const { port1: port } = new MessageChannel();
      return { control: new SharedArrayBuffer(8), segments: [], port, slot };
    },
    disconnectReader: (slot) => slots.disconnected.push(slot),
    settings: settingsOf("first"),
    answerLater: async () => null,
    log: new Log({ format: "json", level: "debug", now: () => 0, write: (s) => logged.push(s) }),
    onRestart: () => {
      restarted.resolve();
      restarted = Promise.withResolvers();
    },
    responderModule: MODULE,
    ...options,
  });
  const asker = await makeAsker(udp.address);
  return {
    udp,
    asker,
    slots,
    logged,
    async finalCounters() {
      await udp[Symbol.asyncDispose]();
      return udp.counters();
    },
    nextRestart: () => restarted.promise,
    async [Symbol.asyncDispose]() {
      asker[Symbol.dispose]();
      await udp[Symbol.asyncDispose]();
    },
  };
}

function settingsOf(name: string): ResponderSettings {
  return { name } as unknown as ResponderSettings;
}

function queryNumber(query: Uint8Array): number {
  return Buffer.from(query).readUInt32BE(1);
}

export function udpContract(name: string, traits: Traits): void {
  const { endpoint } = traits;

  suite(`${name} keeps the contract of UDP`, () => {
    test("every datagram gets its own answer, at any size", async () => {
      await using scene = await makeScene({ endpoint });
      const sizes = Array.from({ length: 2_000 }, (_, i) => (i * 37) % 1_228);
      const next = sizes.values();
      // Few enough at a time that no buffer overflows.
      const lanes = Array.from({ length: 32 }, async () => {
        for (const size of next) {
          const body = Buffer.alloc(size, size);
          assert.deepEqual((await scene.asker.ask("echo", body)).body, body);
        }
      });
      await Promise.all(lanes);
      const { received, answered, batches, latency, dropped } = await scene.finalCounters();
      assert.equal(received, sizes.length);
      assert.equal(answered, sizes.length);
      assert.ok(batches > 0 && batches <= sizes.length);
      assert.equal(
        latency.counts.reduce((sum, count) => sum + count),
        sizes.length,
      );
      assert.equal(latency.counts.length, latency.boundsSeconds.length + 1);
      assert.ok(latency.sumSeconds > 0);
      assert.ok(Object.values(dropped).every((count) => count === 0));
    });

    test("the responder learns who asks", async () => {
      for (const [host, asked, octets] of [
        ["127.0.0.1", "127.0.0.1", "7f000001"],
        ["0.0.0.0", "127.0.0.1", "7f000001"],
        ["::1", "::1", "00000000000000000000000000000001"],
        ["::", "::1", "00000000000000000000000000000001"],
        ["::", "127.0.0.1", "7f000001"],
      ] as const) {
        if (host.includes(":") && !HAS_IPV6) continue;
        await using scene = await makeScene({ endpoint, address: { host, port: 0 } });
        using asker = await makeAsker(scene.udp.address, asked);
        const { text } = await asker.ask("who");
        assert.equal(text, `${octets} ${asker.port}`, `asked ${asked} on ${host}`);
      }
    });

    test(
      "on all addresses, a reply leaves from the one that was asked",
      { skip: !traits.repliesFromAsked && "the system picks the address" },
      async () => {
        const answerLater = async (query: Uint8Array) => query;
        for (const host of HAS_IPV6 ? ["0.0.0.0", "::"] : ["0.0.0.0"]) {
          await using scene = await makeScene({
            endpoint,
            address: { host, port: 0 },
            answerLater,
          });
          using asker = await makeAsker(scene.udp.address, "127.0.0.2");
          for (const command of ["echo", "later", "echo"]) {
            assert.equal((await asker.ask(command)).from.address, "127.0.0.2");
          }
        }
      },
    );

    test("several threads share the port that the first one picked", async () => {
      await using scene = await makeScene({ endpoint, threads: 3 });
      assert.notEqual(scene.udp.address.port, 0);
      const threads = new Set<string>();
      for (let i = 0; i < 64; i++) {
        using asker = await makeAsker(scene.udp.address);
        threads.add((await asker.ask("thread")).text);
      }
      assert.equal(threads.size, traits.severalThreads ? 3 : 1);
      const { receivedByThread } = await scene.finalCounters();
      assert.equal(receivedByThread.length, threads.size);
      assert.ok(receivedByThread.every((count) => count > 0));
    });

    test("a query that the responder wants no answer to gets none, and is counted", async () => {
      await using scene = await makeScene({ endpoint });
      await scene.asker.tell("silence");
      await scene.asker.ask("echo");
      assert.equal((await scene.finalCounters()).dropped.noResponse, 1);
    });

    test("of a datagram that is too long the beginning is answered", async () => {
      await using scene = await makeScene({ endpoint });
      const { text } = await scene.asker.ask("size", new Uint8Array(5_000));
      assert.equal(Number(text), Math.min(5_005, traits.longestQuery));
    });

    test("a responder that throws loses that query only", async () => {
      await using scene = await makeScene({ endpoint });
      await scene.asker.tell("throw");
      await scene.asker.tell("throw");
      await scene.asker.ask("echo");
      const { dropped, restarts } = await scene.finalCounters();
      assert.equal(dropped.fault, 2);
      assert.equal(restarts, 0);
      assert.match(scene.logged.join(""), /asked to throw/);
    });

    test("a thread that crashes is replaced and answers again", async () => {
      await using scene = await makeScene({ endpoint });
      await scene.asker.ask("echo");
      const ended = scene.nextRestart();
      await scene.asker.tell("exit");
      await ended;
      await scene.asker.insist("echo");
      assert.deepEqual(scene.slots, { connected: [0, 1], disconnected: [0] });
      const { restarts, answered } = await scene.finalCounters();
      assert.equal(restarts, 1);
      assert.ok(answered >= 2, "the counters outlive the thread");
      assert.match(scene.logged.join(""), /query thread ended/);
    });

    test(
      "datagrams wait for the thread that replaces a crashed one",
      { skip: !traits.keepsDatagrams && "the socket ends with its thread" },
      async () => {
        await using scene = await makeScene({ endpoint });
        const ended = scene.nextRestart();
        await scene.asker.tell("exit");
        await ended;
        const asked = Array.from({ length: 20 }, () => scene.asker.ask("echo"));
        assert.equal((await Promise.all(asked)).length, 20);
      },
    );

    test("a thread that hangs is replaced", async () => {
      await using scene = await makeScene({ endpoint, beatMs: 100 });
      const ended = scene.nextRestart();
      await scene.asker.tell("hang");
      await ended;
      await scene.asker.insist("echo");
      assert.match(scene.logged.join(""), /hangs/);
    });

    test(
      "one thread that hangs does not stop the others",
      { skip: !traits.severalThreads && "there is only one" },
      async () => {
        await using scene = await makeScene({ endpoint, threads: 2, beatMs: NEVER_MS });
        const { text: first } = await scene.asker.ask("thread");
        await scene.asker.tell("hang");
        using askers = new DisposableStack();
        const asked = Array.from({ length: 32 }, async () => {
          const asker = askers.use(await makeAsker(scene.udp.address));
          return await asker.ask("thread");
        });
        assert.notEqual((await Promise.any(asked)).text, first);
      },
    );

    test("an idle thread is left alone", async () => {
      const beatMs = 400; // A busy machine may keep a thread that is well from some of its beats.
      await using scene = await makeScene({ endpoint, beatMs });
      const before = await scene.asker.ask("thread");
      await new Promise((resolve) => setTimeout(resolve, 7 * beatMs)); // It gets no sign but the beats.
      assert.equal((await scene.asker.ask("thread")).text, before.text);
      assert.equal((await scene.finalCounters()).restarts, 0);
    });

    test("new settings reach a thread that runs, and those that start later", async () => {
      await using scene = await makeScene({ endpoint, beatMs: NEVER_MS });
      assert.equal((await scene.asker.ask("settings")).text, '{"name":"first"}');
      scene.udp.configure(settingsOf("second"));
      await until(async () => (await scene.asker.ask("settings")).text === '{"name":"second"}');
      const ended = scene.nextRestart();
      await scene.asker.tell("exit");
      await ended;
      assert.equal((await scene.asker.insist("settings")).text, '{"name":"second"}');
    });
  });

  suite(`${name}, with answers that take time,`, () => {
    test("sends them when they are there, and answers others meanwhile", async () => {
      const gate = Promise.withResolvers<void>();
      await using scene = await makeScene({
        endpoint,
        answerLater: async (query, client) => {
          await gate.promise;
          assert.equal(client.addressLength, 4);
          assert.deepEqual([...client.address.subarray(0, 4)], [127, 0, 0, 1]);
          assert.equal(client.port, scene.asker.port);
          return Buffer.concat([query, Buffer.from(" at last")]);
        },
      });
      const late = scene.asker.ask("later", Buffer.from("here"));
      for (let i = 0; i < 10; i++) await scene.asker.ask("echo");
      gate.resolve();
      assert.equal((await late).text, "here at last");
      const { deferred, answered } = await scene.finalCounters();
      assert.equal(deferred, 1);
      assert.equal(answered, 11);
    });

    test("counts those that fail, and those that it wants no answer to", async () => {
      await using scene = await makeScene({
        endpoint,
        answerLater: async (query) => {
          if (queryNumber(query) === 1) throw new Error("no resolver");
          return queryNumber(query) === 2 ? null : query;
        },
      });
      await scene.asker.tell("later");
      await scene.asker.tell("later");
      await scene.asker.ask("later");
      const { dropped, deferred } = await scene.finalCounters();
      assert.equal(deferred, 3);
      assert.equal(dropped.fault, 1);
      assert.equal(dropped.noResponse, 1);
      assert.match(scene.logged.join(""), /no resolver/);
    });

    test("takes no more than its limit at a time", async () => {
      const gate = Promise.withResolvers<void>();
      await using scene = await makeScene({
        endpoint,
        answerLater: async (query) => {
          await gate.promise;
          return queryNumber(query) > 300 + 6 ? query : null;
        },
      });
      for (let i = 0; i < 300; i++) {
        await scene.asker.tell("later");
        if (i % 50 === 0) await scene.asker.ask("echo"); // No more at a time than a buffer holds.
      }
      const left = () => scene.udp.counters().dropped.deferredFull;
      await until(() => left() === 300 - MAX_OUTSTANDING);
      gate.resolve();
      await scene.asker.insist("later"); // There is room again.
    });
  });

  suite(`${name}, when it starts and stops,`, () => {
    test("is gone at once and leaves the port free", async () => {
      // A thread that does not go by itself is ended after two seconds.
      await assertQuick(1_500, async () => {
        const scene = await makeScene({ endpoint, threads: 2, beatMs: NEVER_MS });
        await scene.asker.ask("echo");
        const ms = await msOf(() => scene[Symbol.asyncDispose]());
        const { connected, disconnected } = scene.slots;
        assert.deepEqual(
          connected,
          disconnected.toSorted((a, b) => a - b),
        );
        const { address } = scene.udp;
        const probe = createSocket("udp4");
        probe.bind(address.port, address.host);
        await once(probe, "listening");
        probe.close();
        return ms;
      });
    });

    test("still answers what had arrived, also late", async () => {
      const gate = Promise.withResolvers<void>();
      await using scene = await makeScene({
        endpoint,
        answerLater: async (query) => {
          await gate.promise;
          return query;
        },
      });
      const late = scene.asker.ask("later");
      await scene.asker.ask("echo");
      const stopped = scene.udp[Symbol.asyncDispose]();
      gate.resolve();
      await Promise.all([late, stopped]);
      assert.equal((await scene.finalCounters()).answered, 2);
    });

    test(
      "answers what waits in the socket",
      { skip: !traits.keepsDatagrams && "it is closed at once" },
      async () => {
        await using scene = await makeScene({ endpoint });
        const asked = Array.from({ length: 100 }, () => scene.asker.ask("echo"));
        await scene.asker.tell("silence");
        await scene.udp[Symbol.asyncDispose]();
        assert.equal((await Promise.all(asked)).length, 100);
      },
    );

    test("ends a thread that hangs", async () => {
      const scene = await makeScene({ endpoint });
      await scene.asker.tell("hang");
      await assert.rejects(scene.asker.ask("echo", undefined, 200));
      await scene[Symbol.asyncDispose]();
      assert.equal(scene.slots.disconnected.length, 1);
    });

    test("takes a host name", async () => {
      await using scene = await makeScene({ endpoint, address: { host: "localhost", port: 0 } });
      await scene.asker.ask("echo");
      assert.match(scene.udp.address.host, /^(127\.0\.0\.1|::1)$/);
    });

    test("says whose address cannot be had, and why", async () => {
      await using scene = await makeScene({ endpoint });
      const { port } = scene.udp.address;
      await assert.rejects(makeScene({ endpoint, address: scene.udp.address }), {
        message:
          `Cannot listen on 127.0.0.1:${port} (--dns): another program uses this port. ` +
          "Choose another, or 0 for a free one.",
      });
      await assert.rejects(makeScene({ endpoint, address: { host: "192.0.2.1", port: 0 } }), {
        message: "Cannot listen on 192.0.2.1:0 (--dns): this machine does not have that address.",
      });
    });

    test("fails with the reason when a thread cannot start", async () => {
      const responderModule = "data:text/javascript,throw new Error('no such luck')";
      await assert.rejects(makeScene({ endpoint, responderModule }), /no such luck/);
    });
  });
}
