/** Connections of the thread's own loop, on the wire, and what they must not do to the rest of the process. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { PATIENCE_MS, until } from "../../../test/support/patience.ts";
import { isKnownPlatform } from "#kit/libc.ts";
import { type LoopListener, loopListener } from "./loop-listener.ts";
import type { LoopSocket } from "./loop-socket.ts";

const MIB = 1024 ** 2;

let server: Server;
let listener: LoopListener;
const taken: LoopSocket[] = [];
const clients: Socket[] = [];

afterEach(() => {
  for (const client of clients.splice(0)) client.destroy();
  for (const socket of taken.splice(0)) socket.destroy();
  listener?.[Symbol.dispose]();
});

/** What Node bound is taken over; `take` has each connection. */
async function listen(take: (socket: LoopSocket) => void, host = "127.0.0.1"): Promise<void> {
  server = createServer(() => assert.fail("Node has taken a connection")).listen(0, host);
  await once(server, "listening");
  port = (server.address() as { port: number }).port;
  const made = await loopListener(server, (socket) => {
    taken.push(socket);
    take(socket);
  });
  assert.ok(made !== null);
  listener = made;
  server.close();
  await once(server, "close");
}

let port = 0;

async function open(host = "127.0.0.1"): Promise<Socket> {
  const client = connect({ host, port, allowHalfOpen: true });
  clients.push(client);
  await once(client, "connect");
  return client;
}

function echo(socket: LoopSocket): void {
  socket.on("data", (octets: Buffer) => socket.write(octets));
}

/** All that comes, until the other end has no more to say. */
async function everything(client: Socket): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of client) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

test("where the calls of the system cannot be had, Node has all connections", async () => {
  const program = fileURLToPath(
    new URL("../../../test/support/listener-program.ts", import.meta.url),
  );
  for (const [args, hasLoop] of [
    [[], isKnownPlatform],
    [["--no-addons"], false],
  ] as const) {
    const stdio = ["ignore", "pipe", "inherit"] as const;
    const child = spawn(process.execPath, [...args, program], { stdio: [...stdio] });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    const told = JSON.parse(String(line)) as { port: number; hasLoop: boolean };
    assert.equal(told.hasLoop, hasLoop);
    const answer = await fetch(`http://127.0.0.1:${told.port}/a`);
    assert.equal(await answer.text(), "</a>");
    child.kill();
    const [code] = (await once(child, "exit")) as [number];
    assert.equal(code, 0);
  }
});

suite("the thread's own loop", { skip: !isKnownPlatform }, () => {
  test("takes what connects to an address that Node has bound, after a sleep too", async () => {
    await listen(echo);
    for (const text of ["at once", "later"]) {
      const client = await open();
      client.write(text);
      assert.equal(String((await once(client, "data"))[0]), text);
      await sleep(50); // It goes to sleep meanwhile.
      client.write("again");
      assert.equal(String((await once(client, "data"))[0]), "again");
    }
  });

  test("knows who has connected, also over IPv6", async () => {
    await listen(() => {});
    const client = await open();
    await until(() => taken.length === 1);
    assert.equal(taken[0]!.remoteAddress, "127.0.0.1");
    assert.equal(taken[0]!.remotePort, client.localPort);
    listener[Symbol.dispose]();
    await listen(() => {}, "::1");
    await open("::1");
    await until(() => taken.length === 2);
    assert.equal(taken[1]!.remoteAddress, "::1");
  });

  test("costs nothing while nothing comes", async () => {
    await listen(echo);
    await open();
    await sleep(50);
    const { user, system } = process.cpuUsage();
    await sleep(500);
    const used = process.cpuUsage({ user, system });
    assert.ok(used.user + used.system < 100_000, `${used.user + used.system} us of 500 ms`);
  });

  test("lets others have their turns while it is busy", async () => {
    await listen(echo);
    const client = await open();
    client.on("data", () => client.write("x"));
    client.write("x");
    const began = performance.now();
    for (let i = 0; i < 20; i++) await sleep(5);
    assert.ok(performance.now() - began < 1_000);
    assert.ok(taken[0]!.bytesRead > 100);
  });

  test("sends in order what a client takes slowly, and tells when all of it is on its way", async () => {
    const order: string[] = [];
    await listen((socket) => {
      const large = Buffer.alloc(16 * MIB, "a");
      assert.equal(
        socket.write(large, () => order.push("large")),
        false,
      );
      socket.write("b", "latin1", () => order.push("small"));
      socket.once("drain", () => {
        order.push("drain");
        socket.end("c");
      });
    });
    const client = await open();
    await sleep(50);
    assert.deepEqual(order, []);
    const octets = await everything(client);
    assert.equal(octets.length, 16 * MIB + 2);
    assert.equal(octets.subarray(-3).toString(), "abc");
    assert.deepEqual(new Set(order), new Set(["drain", "large", "small"]));
  });

  test("holds back what is corked, and sends it in one piece with what is not", async () => {
    await listen((socket) => {
      socket.cork();
      socket.write("one ", "latin1");
      socket.write(Buffer.from("two "));
      setTimeout(() => {
        socket.uncork();
        socket.end("three");
      }, 20);
    });
    const client = await open();
    const [first] = (await once(client, "data")) as [Buffer];
    assert.match(String(first), /^one two /);
  });

  test("does not read while it is paused, and reads on", async () => {
    let got = "";
    await listen((socket) => {
      socket.pause();
      socket.on("data", (octets: Buffer) => (got += String(octets)));
    });
    const client = await open();
    client.write("waits");
    await sleep(50);
    assert.equal(got, "");
    taken[0]!.resume();
    await until(() => got === "waits");
  });

  test("hears of a client's end and can still answer it", async () => {
    await listen((socket) => socket.once("end", () => socket.end("the answer")));
    const client = await open();
    client.end();
    assert.equal(String(await everything(client)), "the answer");
  });

  test("closes when a client resets, whether it is read or not, and tells who waits to write", async () => {
    for (const isPaused of [false, true]) {
      let failed: Error | null | undefined = null;
      await listen((socket) => {
        if (isPaused) socket.pause();
        socket.write(Buffer.alloc(16 * MIB), (error) => (failed = error));
      });
      const client = await open();
      await until(() => taken.length === 1);
      let isClosed = false;
      taken[0]!.once("close", () => (isClosed = true));
      client.resetAndDestroy();
      await until(() => isClosed);
      assert.match(String(failed), /closed|ECONNRESET/);
      assert.equal(taken.pop()!.write("more"), false);
      listener[Symbol.dispose]();
    }
  });

  test("says when nothing has moved for too long", async () => {
    await listen((socket) => {
      socket.setTimeout(100);
      socket.on("timeout", () => socket.destroy());
    });
    const client = await open();
    client.write("x");
    const began = performance.now();
    client.resume();
    await once(client, "end", { signal: AbortSignal.timeout(PATIENCE_MS) });
    assert.ok(performance.now() - began >= 90);
  });

  test("gives a connection to Node with what is still to be written", async () => {
    const large = Buffer.alloc(16 * MIB, "l");
    await listen((socket) => {
      socket.write(large);
      const node = socket.toNode();
      node.on("data", (octets: Buffer) => node.end(octets));
    });
    const client = await open();
    client.write("after");
    const octets = await everything(client);
    assert.equal(octets.length, large.length + 5);
    assert.equal(octets.subarray(-5).toString(), "after");
    assert.ok(taken[0]!.destroyed);
  });

  test("leaves no descriptor open", async () => {
    const count = () => readdirSync("/proc/self/fd").length;
    await listen(echo);
    (await open()).destroy();
    await until(() => taken.length === 1);
    await once(
      taken.pop()!.on("end", function (this: LoopSocket) {
        this.destroy();
      }),
      "close",
    );
    const before = count();
    for (let i = 0; i < 50; i++) {
      const client = await open();
      client.destroy();
      clients.pop();
    }
    await until(() => taken.length === 50);
    for (const socket of taken.splice(0)) socket.destroy();
    await until(() => count() <= before);
  });

  test("goes on when a handler has thrown, while it listens, and keeps a process alive no longer", async () => {
    const program = fileURLToPath(
      new URL("../../../test/support/loop-program.ts", import.meta.url),
    );
    const child = spawn(process.execPath, [program], { stdio: ["pipe", "pipe", "inherit"] });
    const [line] = (await once(child.stdout, "data")) as [Buffer];
    port = Number(String(line));
    await sleep(200);
    (await open()).end("throw");
    await sleep(100);
    const client = await open();
    client.write("stop");
    const [code] = (await once(child, "exit", { signal: AbortSignal.timeout(PATIENCE_MS) })) as [
      number,
    ];
    assert.equal(code, 0);
  });
});
