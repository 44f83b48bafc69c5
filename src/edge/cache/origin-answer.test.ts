import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { Upstream } from "#http";
import { askOrigin } from "./origin-answer.ts";

test("an answer that comes in small pieces holds little more memory than it has octets", async () => {
  const [pieces, octets] = [40, 5_000];
  const send = async (socket: Socket) => {
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (let i = 0; i < pieces; i++) {
      socket.write(`${octets.toString(16)}\r\n${"x".repeat(octets)}\r\n`);
      await setTimeout(1); // So that each is read by itself.
    }
    socket.end("0\r\n\r\n");
  };
  const server = createServer((socket) => socket.once("data", () => void send(socket)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const target = { host: "127.0.0.1", port: (server.address() as AddressInfo).port };
  using upstream = new Upstream({ target, idleMs: 5000, connectMs: 2000, readsAtOnce: Infinity });
  const onward = { upstream, target: "/", headers: ["Host", "a.test"], answerMs: 5000 };
  const { body } = await askOrigin(onward, "GET", [], () => {});
  const kept: Uint8Array[] = [];
  for await (const piece of body) kept.push(piece);
  server.close();
  const length = kept.reduce((sum, piece) => sum + piece.length, 0);
  assert.equal(length, pieces * octets);
  const memory = new Set(kept.map(({ buffer }) => buffer));
  const held = [...memory].reduce((sum, { byteLength }) => sum + byteLength, 0);
  assert.ok(held < 2 * length, `${held} for ${length}`);
});
