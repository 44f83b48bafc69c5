import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer as createHttp, type IncomingMessage, request } from "node:http";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { afterEach, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Upstream } from "#http";
import { Deadlines } from "#kit/deadlines.ts";
import type { Onward, Passage } from "./onward.ts";
import { passOn } from "./pass-on.ts";

const closing: (() => void)[] = [];
afterEach(() => closing.splice(0).forEach((close) => close()));

/** A door before a server that does as told with each connection. */
async function doorTo(serve: (socket: Socket) => void, options: Partial<Onward> = {}) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    serve(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const target = { host: "127.0.0.1", port };
  const upstream = new Upstream({ target, idleMs: 1_000, connectMs: 1_000, readsAtOnce: Infinity });
  const passages: Promise<Passage>[] = [];
  const drains: number[] = [];
  const door = createHttp((asked, response) => {
    const write = response.write.bind(response) as (...given: unknown[]) => boolean;
    response.write = (...given: unknown[]) => {
      drains.push(response.listenerCount("drain"));
      return write(...given);
    };
    const headers = ["Host", "a.test"];
    const onward = { upstream, target: asked.url!, headers, requestId: "1", ...options };
    const passage = passOn(asked, response, onward);
    passages.push(passage);
    void passage.then(({ kind }) => kind === "failed" && response.destroy());
  });
  door.listen(0, "127.0.0.1");
  await once(door, "listening");
  closing.push(() => {
    upstream[Symbol.dispose]();
    for (const socket of sockets) socket.destroy();
    door.closeAllConnections();
    door.close();
    server.close();
  });
  return { port: (door.address() as AddressInfo).port, passages, drains };
}

suite("a request that is passed on", () => {
  test("may be answered for longer than an answer may take to begin", async () => {
    const answerMs = 1_000; // Far more than a begin takes, also here and now.
    const { port, passages } = await doorTo(
      (socket) => {
        socket.once("data", () => {
          socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nbegun\r\n");
          socket.on("data", (octets: Buffer) => {
            if (!octets.includes("0\r\n\r\n")) return;
            setTimeout(() => socket.write("4\r\ndone\r\n0\r\n\r\n"), 1.5 * answerMs);
          });
        });
      },
      { answerWithin: new Deadlines(answerMs) },
    );
    const sent = request({ host: "127.0.0.1", port, method: "POST" });
    sent.write("one");
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    await once(response.setEncoding("utf8"), "readable");
    sent.end("two"); // Only now is the request whole.
    let text = "";
    for await (const piece of response) text += piece as string;
    assert.equal(text, "begundone");
    assert.deepEqual(await passages[0], { kind: "answered", status: 200 });
  });

  test("fails when no answer begins in time, and is not sent again", async () => {
    let requests = 0;
    const { port, passages } = await doorTo((socket) => void socket.on("data", () => requests++), {
      answerWithin: new Deadlines(50),
    });
    const sent = request({ host: "127.0.0.1", port }).end();
    await once(sent, "error");
    const passage = await passages[0]!;
    assert.ok(passage.kind === "failed");
    assert.equal(passage.cause.message, "No answer within 50 ms");
    assert.deepEqual([passage.answerBegan, passage.mayGoElsewhere, requests], [false, false, 1]);
  });

  test("is read no faster than its client takes the answer, and to its end", async () => {
    const piece = Buffer.alloc(1024 ** 2);
    const pieces = 64;
    let taken = 0;
    const { port } = await doorTo((socket) => {
      const next = () => void (taken++ < pieces && socket.write(piece, next));
      socket.once("data", () => {
        const length = pieces * piece.length;
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n`, next);
      });
    });
    const sent = request({ host: "127.0.0.1", port }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    // Until the system takes no more, however often it has its turn.
    for (let turns = 0, before = -1; turns < 20; turns++) {
      if (taken !== before) turns = 0;
      before = taken;
      await sleep(5);
    }
    assert.ok(taken < pieces, "all was read, though nobody takes it");
    let octets = 0;
    for await (const some of response) octets += (some as Buffer).length;
    assert.equal(octets, pieces * piece.length);
  });

  test("waits once for its client, however many pieces have come", async () => {
    const chunk = `200\r\n${"x".repeat(512)}\r\n`;
    const { port, drains } = await doorTo((socket) =>
      socket.once("data", () => {
        const chunks = chunk.repeat(2_000);
        socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
      }),
    );
    const sent = request({ host: "127.0.0.1", port }).end();
    const [response] = (await once(sent, "response")) as [IncomingMessage];
    let octets = 0;
    for await (const piece of response) octets += (piece as Buffer).length;
    assert.equal(octets, 2_000 * 512);
    assert.ok(Math.max(...drains) <= 2, `${Math.max(...drains)} wait`);
  });
});
