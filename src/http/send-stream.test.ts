import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { suite, test } from "node:test";
import { setImmediate as soon, setTimeout as sleep } from "node:timers/promises";
import type { Outlet } from "#kit/outlet.ts";
import { breakOff } from "./break-off.ts";
import { sendStream } from "./send-stream.ts";

const MIB = 1024 ** 2;

/** Octets of one value, read into the room that is offered, as a file's are. */
class Source implements AsyncIterable<Uint8Array> {
  readonly rooms: Uint8Array[] = [];
  isLeft = false;
  readonly #value: number;
  #left: number;

  constructor(value: number, length: number) {
    this.#value = value;
    this.#left = length;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined, Outlet> {
    return {
      next: async (...[outlet]: [] | [Outlet]) => {
        assert.ok(outlet !== undefined);
        if (this.#left === 0) return { done: true, value: undefined };
        await soon(); // Others have their turn, as while a disk is read.
        const room = outlet.room();
        this.rooms.push(room);
        const octets = room.subarray(0, this.#left).fill(this.#value);
        this.#left -= octets.length;
        return { done: false, value: octets };
      },
      return: async () => {
        this.isLeft = true;
        return { done: true, value: undefined };
      },
    };
  }
}

/** Answers each request with the next of these. */
async function serve(bodies: readonly AsyncIterable<Uint8Array>[], length: number) {
  const left = [...bodies];
  const answer = async (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(200, { "Content-Length": length });
    const body = { length, first: new Uint8Array(0), rest: left.shift()! };
    await sendStream(response, body).catch(() => breakOff(response));
  };
  const server = createServer((request, response) => void answer(request, response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    ask: async () => {
      const request = get({ host: "127.0.0.1", port, agent: false });
      const [response] = (await once(request, "response")) as [IncomingMessage];
      return response;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

suite("a body that streams", () => {
  test("reaches each of many slow clients as it was read, though its memory is used again", async () => {
    const length = 6 * MIB + 1;
    const sources = Array.from({ length: 12 }, (_, i) => new Source(i + 1, length));
    await using server = await serve(sources, length);
    await Promise.all(
      sources.map(async () => {
        const response = await server.ask();
        let [value, read]: [number | null, number] = [null, 0];
        for await (const chunk of response as AsyncIterable<Buffer>) {
          value ??= chunk[0]!;
          assert.ok(chunk.equals(Buffer.alloc(chunk.length, value)), "octets of another");
          read += chunk.length;
          if (read % 7 === 0) await sleep(2);
        }
        assert.equal(read, length);
      }),
    );
    const rooms = sources.flatMap((source) => source.rooms);
    assert.ok(new Set(rooms.map(({ buffer }) => buffer)).size < rooms.length / 4);
  });

  test("is left by a client that goes, and what was on its way is not used again", async () => {
    const length = 64 * MIB;
    const stuck = new Source(1, length);
    const others = Array.from({ length: 20 }, () => new Source(2, MIB));
    {
      await using server = await serve([stuck], length);
      const response = await server.ask();
      // Until the system takes no more, however often it has its turn.
      for (let turns = 0, before = -1; turns < 20; turns++) {
        if (stuck.rooms.length !== before) turns = 0;
        before = stuck.rooms.length;
        await sleep(5);
      }
      assert.equal(stuck.isLeft, false);
      response.destroy();
      while (!stuck.isLeft) await sleep(5);
    }
    assert.ok(stuck.rooms.length * stuck.rooms[0]!.length < length);
    await using server = await serve(others, MIB);
    const responses = await Promise.all(others.map(() => server.ask()));
    for (const response of responses) {
      for await (const chunk of response as AsyncIterable<Buffer>) assert.equal(chunk.at(-1), 2);
    }
    const unsent = new Set(stuck.rooms.slice(-2).map(({ buffer }) => buffer));
    const used = others.flatMap((source) => source.rooms);
    assert.ok(!used.some(({ buffer }) => unsent.has(buffer)));
  });

  test("that cannot be read to its end breaks the connection", async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(1000);
      throw new Error("The disk is gone");
    }
    await using server = await serve([broken()], 2000);
    let read = 0;
    const whole = (async () => {
      const response = await server.ask();
      for await (const chunk of response as AsyncIterable<Buffer>) read += chunk.length;
    })();
    await assert.rejects(whole, { code: "ECONNRESET" });
    assert.ok(read <= 1000);
  });
});
