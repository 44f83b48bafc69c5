import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { Generations } from "#kit/generations.ts";
import type { ScriptPlace } from "#scripts";
import { MainThread } from "./main-thread.ts";
import type { FromEdgeThread } from "./messages.ts";
import { ScriptLeases } from "./script-leases.ts";
import { ScriptPlaces } from "./script-places.ts";

/** Both ends in one thread, with a runtime whose process is the test's to change. */
function open() {
  const generations = new Generations();
  const { port1, port2 } = new MessageChannel();
  const runtime = { process: "/first", isCurrent: true, opened: 0, held: 0, lost: 0 };
  const leases = new ScriptLeases({
    generations,
    open: async (_scriptId, connectionLost) => {
      runtime.opened++;
      runtime.held++;
      if (connectionLost) runtime.lost++;
      return {
        socketPath: runtime.process,
        isCurrent: runtime.isCurrent,
        fault: () => ({ kind: "crashed" }),
        [Symbol.dispose]: () => runtime.held--,
      } as unknown as ScriptPlace;
    },
  });
  const main = new MainThread(port1);
  port2.on("message", (message: FromEdgeThread) => {
    if (message.kind === "release") leases.release(message.socketPath);
    if (message.kind !== "ask") return;
    const { ticket, about, key } = message;
    if (about === "fault") main.answered(ticket, leases.fault(key));
    else
      void leases
        .place(key, about === "place after loss")
        .then((fact) => main.answered(ticket, fact));
  });
  const world = { now: 0 };
  const places = new ScriptPlaces({ main, generations, now: () => world.now });
  return {
    generations,
    runtime,
    leases,
    places,
    [Symbol.dispose]() {
      places[Symbol.dispose]();
      port1.close();
    },
  };
}

async function settled(): Promise<void> {
  for (let i = 0; i < 5; i++) await new Promise(setImmediate);
}

suite("a thread's places with a script", () => {
  test("are one lease for all its requests, given back at the end", async () => {
    using opened = open();
    const { places, runtime } = opened;
    const held = await Promise.all([places.open("s"), places.open("s"), places.open("s")]);
    using another = await places.open("s");
    assert.equal(another.upstream, held[0].upstream);
    assert.deepEqual([runtime.opened, runtime.held], [1, 1]);
    assert.equal(await another.fault(), "crashed");
    for (const place of held) place[Symbol.dispose]();
    places[Symbol.dispose]();
    await settled();
    assert.equal(runtime.held, 0);
  });

  test("are with the new process from the moment that the script has moved", async () => {
    using opened = open();
    const { places, runtime, generations } = opened;
    using before = await places.open("s");
    runtime.process = "/second";
    generations.moved("s");
    using after = await places.open("s");
    assert.notEqual(after.upstream, before.upstream);
    assert.equal(runtime.held, 2, "the old one is still in use");
  });

  test("ask the process's state when a connection was lost, and each time while it is an old one", async () => {
    using opened = open();
    const { places, runtime } = opened;
    const place = await places.open("s");
    // There is no such socket: the connection is lost at once.
    const failed = new Promise((resolve) => {
      const nothing = () => {};
      const sink = { head: nothing, data: nothing, end: nothing, fail: resolve };
      place.upstream.send("GET", "GET / HTTP/1.1\r\n\r\n", sink);
    });
    await failed;
    runtime.isCurrent = false;
    using next = await places.open("s");
    assert.equal(next.upstream, place.upstream);
    assert.deepEqual([runtime.opened, runtime.lost], [2, 1]);
    using last = await places.open("s");
    assert.equal(last.upstream, place.upstream);
    await settled();
    assert.deepEqual([runtime.opened, runtime.held], [3, 1], "one lease is enough");
  });

  test("are given back by the main thread when the thread has died", async () => {
    using opened = open();
    const { places, runtime, leases } = opened;
    using _ = await places.open("s");
    leases[Symbol.dispose]();
    assert.equal(runtime.held, 0);
  });
});
