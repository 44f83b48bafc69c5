import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttp, type IncomingMessage } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { afterEach, mock, suite, test } from "node:test";
import { type AnswerSink, Upstream } from "#http";
import { PATIENCE_MS } from "../../test/support/patience.ts";
import type { Passage } from "./onward.ts";
import { upgradeOn } from "./upgrade-on.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
  mock.timers.reset();
});

/** A server that does as told with what it is sent. */
async function behind(hear: (socket: Socket, text: string) => void): Promise<Upstream> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.setEncoding("latin1").on("error", () => {}));
    socket.on("data", (text: string) => hear(socket, text));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const target = { host: "127.0.0.1", port };
  const upstream = new Upstream({
    target,
    idleMs: 60_000,
    connectMs: 60_000,
    readsAtOnce: Infinity,
  });
  closing.push(() => {
    upstream[Symbol.dispose]();
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return upstream;
}

/** A request to upgrade as it came in. */
async function asked() {
  const door = createHttp();
  door.listen(0, "127.0.0.1");
  await once(door, "listening");
  const client = connect((door.address() as AddressInfo).port, "127.0.0.1").resume();
  const head =
    "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  client.write(head);
  const [request, socket] = (await once(door, "upgrade")) as [IncomingMessage, Duplex];
  closing.push(() => {
    client.destroy();
    socket.destroy();
    door.close();
  });
  const on = (upstream: Upstream): Promise<Passage> =>
    upgradeOn(request, socket, Buffer.alloc(0), {
      upstream,
      target: "/",
      headers: ["Host", "a.test", "Connection", "Upgrade", "Upgrade", "websocket"],
      requestId: "1",
    });
  return { client, socket, on };
}

const SWITCHED =
  "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

suite("a request to upgrade", () => {
  test("that was refused leaves the connection alone that others use then", async () => {
    const upstream = await behind((socket, text) => {
      if (text.includes("Upgrade")) socket.write("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno");
      else setTimeout(() => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"), 50);
    });
    const { socket, on } = await asked();
    assert.deepEqual(await on(upstream), { kind: "answered", status: 403 });
    const next = Promise.withResolvers<string>();
    const sink: AnswerSink = {
      head() {},
      data: (octets) => next.resolve(octets.toString()),
      end() {},
      fail: next.reject,
    };
    const exchange = upstream.send("GET", "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", sink);
    exchange.finish();
    assert.equal(exchange.isReused, true);
    socket.destroy();
    assert.equal(await Promise.race([next.promise, overdue()]), "ok");
  });

  test("that fails at one server lives on at the next", async () => {
    mock.timers.enable({ apis: ["setTimeout"] });
    const gone = await behind((socket) => socket.destroy());
    const there = await behind((socket) => socket.write(SWITCHED));
    const { client, socket, on } = await asked();
    assert.equal((await on(gone)).kind, "failed");
    const passage = on(there);
    const [head] = (await once(client, "data")) as [Buffer];
    assert.match(head.toString(), /^HTTP\/1\.1 101 /);
    mock.timers.tick(3_600_000);
    assert.equal(socket.destroyed, false);
    client.destroy();
    await passage;
  });

  test("goes nowhere when its client has gone already", async () => {
    let heard = 0;
    const upstream = await behind((socket) => {
      heard++;
      socket.write(SWITCHED);
    });
    const { socket, on } = await asked();
    await once(socket.destroy(), "close");
    assert.deepEqual(await Promise.race([on(upstream), overdue()]), { kind: "left" });
    assert.equal(heard, 0);
  });
});

function overdue(): Promise<string> {
  return new Promise((resolve) => setTimeout(() => resolve("nothing"), PATIENCE_MS).unref());
}
