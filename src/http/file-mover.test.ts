/** Files on their way to clients: within the system where that can be, and the same octets either way. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import * as fs from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isKnownPlatform } from "#kit/libc.ts";
import type { Outlet } from "#kit/outlet.ts";
import { connectTo, listenForTest } from "../../test/support/http-listener.ts";
import { until } from "../../test/support/patience.ts";
import { breakOff } from "./break-off.ts";
import { fileMover } from "./file-mover.ts";
import { sendStream } from "./send-stream.ts";
import type { HttpListener } from "./server.ts";

const MIB = 1024 ** 2;
/** More than the system holds for a connection. */
const LENGTH = 24 * MIB + 4321;

const folder = fs.mkdtempSync(join(tmpdir(), "selvedge-moved-"));
after(() => fs.rmSync(folder, { recursive: true }));
const path = join(folder, "octets");
const octets = randomBytes(LENGTH);
fs.writeFileSync(path, octets);

/** A file, read as the store reads one, that tells which way its octets went. */
class Source implements AsyncIterable<Uint8Array> {
  moved = 0;
  /** In one turn of the loop. */
  mostMoved = 0;
  copied = 0;
  isLeft = false;
  readonly #fd: number;
  readonly #end: number;
  #at: number;
  #turn = -1;
  #movedInTurn = 0;

  constructor(at: number, length: number) {
    this.#fd = fs.openSync(path, "r");
    this.#at = at;
    this.#end = at + length;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array, undefined, Outlet> {
    return {
      next: async (...[outlet]: [] | [Outlet]) => {
        const left = this.#end - this.#at;
        if (left === 0) return this.#close();
        const moved = outlet!.move(this.#fd, this.#at, left);
        const room = moved > 0 ? new Uint8Array(0) : outlet!.room().subarray(0, left);
        const count = moved > 0 ? 0 : fs.readSync(this.#fd, room, { position: this.#at });
        if (moved + count === 0) throw new Error("The file ends before its time");
        this.moved += moved;
        this.#note(moved);
        this.copied += count;
        this.#at += moved + count;
        return { done: false, value: room.subarray(0, count) };
      },
      return: async () => {
        this.isLeft = true;
        return this.#close();
      },
    };
  }

  #note(moved: number): void {
    this.#movedInTurn = (this.#turn === turn ? this.#movedInTurn : 0) + moved;
    this.#turn = turn;
    this.mostMoved = Math.max(this.mostMoved, this.#movedInTurn);
  }

  #close(): IteratorReturnResult<undefined> {
    fs.closeSync(this.#fd);
    return { done: true, value: undefined };
  }
}

/** Counts while a test has it count. */
let turn = 0;

let listener: HttpListener;
let sources: Source[] = [];
const clients: Socket[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.destroy();
  await listener[Symbol.asyncDispose]();
});

/** Answers `/OFFSET-LENGTH` with so much of the file, and anything else with a word. */
async function listen({ isSecure = false, tellsLength = true, status = 200 } = {}): Promise<void> {
  sources = [];
  const handle = async ({ url = "" }: IncomingMessage, response: ServerResponse) => {
    const [offset = 0, length = 0] = url.slice(1).split("-").map(Number);
    if (length === 0) {
      response.end("word");
      return;
    }
    const rest = new Source(offset, length);
    sources.push(rest);
    response.writeHead(status, tellsLength ? { "Content-Length": length } : {});
    const body = { length, first: new Uint8Array(0), rest };
    await sendStream(response, body).catch(() => breakOff(response));
  };
  listener = await listenForTest({ isSecure, handle: (...both) => void handle(...both) });
}

/** A request that has Node's server take the connection. */
const TO_NODE =
  "POST /word HTTP/1.1\r\nHost: x.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";

async function ask(
  paths: readonly string[],
  { isSecure = false, isNode = false } = {},
): Promise<Socket> {
  const client = await connectTo(listener, isSecure);
  clients.push(client);
  const last = (i: number) => (i === paths.length - 1 ? "Connection: close\r\n" : "");
  const heads = paths.map((one, i) => `GET ${one} HTTP/1.1\r\nHost: x.test\r\n${last(i)}\r\n`);
  client.write((isNode ? TO_NODE : "") + heads.join(""));
  return client;
}

/** All that comes, with a pause after so many octets. */
async function gather(client: Socket, pauseAfter = Infinity): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let unpaused = 0;
  for await (const chunk of client as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    unpaused += chunk.length;
    if (unpaused < pauseAfter) continue;
    unpaused = 0;
    await sleep(5);
  }
  return Buffer.concat(chunks);
}

/** The bodies of the answers, each of which has told its length. */
function bodiesOf(answers: Buffer): Buffer[] {
  const bodies: Buffer[] = [];
  for (let at = 0; at < answers.length;) {
    const end = answers.indexOf("\r\n\r\n", at) + 4;
    const head = answers.toString("latin1", at, end);
    assert.match(head, /^HTTP\/1\.1 200 OK\r\n/);
    at = end + Number(/content-length: (\d+)/i.exec(head)![1]);
    bodies.push(answers.subarray(end, at));
  }
  return bodies;
}

/** Why nothing can be moved here; false where it can be. */
async function hindrance(): Promise<string | false> {
  if (!isKnownPlatform) return "the system has no such calls";
  await until(() => fileMover() !== null);
  // As those of tmpfs and overlayfs cannot.
  return isInMemory() ? false : `files in ${tmpdir()} cannot tell whether they are in memory`;
}

function isInMemory(): boolean {
  const fd = fs.openSync(path, "r");
  const isAtHand = fileMover()!.has(fd, 0) && fileMover()!.has(fd, LENGTH - 1);
  fs.closeSync(fd);
  return isAtHand;
}

const skip = await hindrance();

suite("a file that is sent", () => {
  for (const [client, pauseAfter, isNode] of [
    ["quick client", Infinity, false],
    ["slow client", MIB, false],
    ["quick client of Node's", Infinity, true],
    ["slow client of Node's", MIB, true],
  ] as const) {
    test(
      `goes within the system to a ${client}, and the next answers follow`,
      { skip },
      async () => {
        await listen();
        const paths = [`/0-${LENGTH}`, "/word", "/4096-1", `/777-${2 * MIB}`];
        const bodies = bodiesOf(await gather(await ask(paths, { isNode }), pauseAfter));
        const expected = [
          ...(isNode ? [Buffer.from("word")] : []),
          octets,
          Buffer.from("word"),
          octets.subarray(4096, 4097),
          octets.subarray(777, 777 + 2 * MIB),
        ];
        assert.equal(bodies.length, expected.length);
        for (const [i, body] of bodies.entries())
          assert.ok(body.equals(expected[i]!), `answer ${i}`);
        // Node gives an answer its connection when those before it are sent: till then it is written as always.
        const copied = sources.map((source) => source.copied);
        if (isNode) assert.ok(copied[0]! < MIB, `${copied[0]} were copied`);
        else assert.deepEqual(copied, [0, 0, 0]);
      },
    );
  }

  test("is encrypted where the connection is", async () => {
    await listen({ isSecure: true });
    const client = await ask([`/0-${LENGTH}`, "/word"], { isSecure: true });
    const [body] = bodiesOf(await gather(client));
    assert.ok(body!.equals(octets));
    assert.deepEqual([sources[0]!.moved, sources[0]!.copied], [0, LENGTH]);
  });

  test("goes in chunks where its length is not told", async () => {
    await listen({ tellsLength: false });
    const answer = await gather(await ask([`/0-${MIB}`]));
    assert.match(answer.toString("latin1", 0, 300), /Transfer-Encoding: chunked/);
    assert.deepEqual([sources[0]!.moved, sources[0]!.copied], [0, MIB]);
  });

  test(
    "is read in the usual way where the system has to ask the disk for it",
    { skip },
    async (t) => {
      // GNU's dd has the system drop a file from memory; that of others cannot.
      const drop = [`of=${path}`, "oflag=nocache", "conv=notrunc,fdatasync", "count=0"];
      if (spawnSync("dd", drop).status !== 0) return t.skip("dd cannot drop it from memory");
      assert.equal(isInMemory(), false);
      await listen();
      const [body] = bodiesOf(await gather(await ask([`/0-${LENGTH}`])));
      assert.ok(body!.equals(octets));
      const { moved, copied } = sources[0]!;
      assert.ok(copied > 0, "what was not in memory was waited for");
      assert.equal(moved + copied, LENGTH); // The system reads ahead of who reads in order.
    },
  );

  test("is left by a client that goes in its midst", async () => {
    await listen();
    const client = await ask([`/0-${LENGTH}`]);
    await until(() => client.bytesRead > 0);
    client.pause();
    const [source] = sources;
    for (let seen = -1; seen !== source!.moved; await sleep(50)) seen = source!.moved;
    assert.ok(source!.moved < LENGTH);
    client.destroy();
    await until(() => source!.isLeft);
  });

  test("that is cut short breaks the connection", async () => {
    await listen();
    const client = await ask([`/${LENGTH - 10}-${MIB}`, "/word"]);
    const answer = await gather(client).catch((error: NodeJS.ErrnoException) => error.code);
    if (answer instanceof Buffer) assert.doesNotMatch(answer.toString("latin1"), /word/);
    else assert.equal(answer, "ECONNRESET");
  });

  test("leaves other clients their turn", { skip }, async () => {
    await listen();
    const count = () => {
      turn++;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const paths = [`/0-${LENGTH}`, `/0-${LENGTH}`];
    const asked = Array.from({ length: 4 }, async () => gather(await ask(paths)));
    for (const answers of await Promise.all(asked)) assert.equal(bodiesOf(answers).length, 2);
    clearImmediate(next);
    for (const { moved, copied, mostMoved } of sources) {
      assert.deepEqual([moved, copied], [LENGTH, 0]);
      assert.ok(mostMoved < MIB, `${mostMoved} octets went in one turn`);
    }
  });

  test("does not go behind an answer that has no body", async () => {
    await listen({ status: 304 });
    const answers = await gather(await ask([`/0-${LENGTH}`, "/word"]));
    assert.match(
      answers.toString("latin1"),
      /^HTTP\/1\.1 304 [^]*\r\n\r\nHTTP\/1\.1 200 [^]*word$/,
    );
  });
});
