import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { Log } from "#kit/log.ts";
import { until } from "../../test/support/patience.ts";
import { MIB, octets } from "./expect.contract.ts";
import { scriptAccess } from "./script-access.ts";
import { listenStoreSocket } from "./store-socket.ts";
import { openTestStore, type TestStore } from "./test-store.contract.ts";

suite("the store's socket", () => {
  let opened: TestStore;
  let listener: AsyncDisposable;
  let path: string;
  before(async () => {
    opened = await openTestStore("sqlite");
    const { store, accountId, folder } = opened;
    await store.createBucket(accountId, "things");
    path = join(folder, "store.sock");
    const grant = { accountId, scriptId: "id", scriptName: "script", buckets: new Set(["things"]) };
    const authorize = scriptAccess((token) => (token === "t" ? grant : null), store);
    listener = await listenStoreSocket({ path, store, authorize, log: silent });
  });
  after(async () => {
    await listener[Symbol.asyncDispose]();
    await opened[Symbol.asyncDispose]();
  });

  const silent = { error: assert.fail } as unknown as Log;

  test("answers calls one after the other, though they come together or in pieces", async () => {
    using connection = new Connection(path);
    const calls = put("a", "one") + put("b", "two") + get("a") + get("b");
    connection.write(calls);
    assert.deepEqual(await connection.bodies(4), ["", "", "one", "two"]);
    for (const octet of get("b")) connection.write(octet);
    assert.deepEqual(await connection.bodies(1), ["two"]);
  });

  test("leaves a connection that carries something else to Node's server, in the middle", async () => {
    using connection = new Connection(path);
    connection.write(put("c", "small"));
    assert.deepEqual(await connection.bodies(1), [""]);
    const large = "x".repeat(MIB);
    connection.write(put("large", large) + get("c"));
    assert.deepEqual(await connection.bodies(2), ["", "small"]);
    connection.write(head("POST", `{"method":"get","key":"c"}`, 0, "Connection: close\r\n"));
    assert.deepEqual(await connection.bodies(1), ["small"]);
    await connection.closed;
    assert.equal(
      (await opened.store.head(await opened.store.bucket("things"), "large"))!.size,
      MIB,
    );
  });

  test("streams what is large, and goes on behind it", async () => {
    const bucket = await opened.store.bucket("things");
    const value = octets(3 * MIB + 5);
    await opened.store.put(bucket, "streamed", value);
    using connection = new Connection(path);
    connection.write(get("streamed") + put("d", "next") + get("d"));
    const [first, ...rest] = await connection.bodies(3);
    assert.ok(first === Buffer.from(value).toString("latin1"), "not the octets that were stored");
    assert.deepEqual(rest, ["", "next"]);
  });

  test("streams to many readers at once", async () => {
    const bucket = await opened.store.bucket("things");
    const value = octets(MIB);
    await opened.store.put(bucket, "popular", value);
    const text = Buffer.from(value).toString("latin1");
    const readers = Array.from({ length: 40 }, () => new Connection(path));
    for (const reader of readers) reader.write(get("popular"));
    for (const reader of readers) {
      using ending = reader;
      const [body] = await ending.bodies(1);
      assert.ok(body === text, "not the octets that were stored");
    }
  });

  test("a reader that leaves in the middle frees what it was sent", async () => {
    const bucket = await opened.store.bucket("things");
    await opened.store.put(bucket, "long", octets(16 * MIB));
    await opened.store.sweep();
    const before = (await blobsIn(opened.folder)).length;
    const reader = new Connection(path);
    reader.write(get("long"));
    await until(() => reader.text.length > 0);
    reader[Symbol.dispose]();
    await opened.store.delete(bucket, ["long"]);
    // What somebody reads is not collected.
    await until(async () => {
      await opened.store.sweep();
      return (await blobsIn(opened.folder)).length === before - 1;
    });
  });

  test("puts a few octets into the head, and more into the body", async () => {
    for (const length of [0, 1, 4096, 4097]) {
      const value = Buffer.from(octets(length)).toString("latin1");
      using connection = new Connection(path);
      connection.write(put("few", value));
      await connection.bodies(1);
      connection.write(get("few"));
      await until(() => connection.text.includes("\r\n\r\n"));
      const isInHead = connection.text.includes("store-few-octets: ");
      assert.equal(isInHead, length <= 4096, `${length}`);
      assert.deepEqual(await connection.bodies(1), [value]);
    }
  });

  test("ends a connection that asks without waiting, and one that is none of a script", async () => {
    using greedy = new Connection(path);
    greedy.write(put("a", "x").repeat(2_000));
    await greedy.closed;
    using other = new Connection(path);
    other.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
    await other.closed;
    assert.match(other.text, /^HTTP\/1\.1 404 /);
  });

  test("a body that is cut short stores nothing", async () => {
    for (const length of [100, MIB]) {
      using connection = new Connection(path);
      connection.write(put(`cut-${length}`, "x".repeat(length)).slice(0, -10));
      await connection.end();
    }
    const { objects } = await opened.store.list(await opened.store.bucket("things"), {
      prefix: "cut-",
    });
    assert.deepEqual(objects, []);
  });
});

async function blobsIn(folder: string): Promise<string[]> {
  const all = await readdir(join(folder, "blobs"), { recursive: true, withFileTypes: true });
  return all.filter((entry) => entry.isFile() && entry.name !== "lock").map(({ name }) => name);
}

function head(method: string, json: string, length: number, also = ""): string {
  const lines = `Authorization: Bearer t\r\nstore-json: ${json}\r\nContent-Length: ${length}\r\n${also}`;
  return `${method} /store/v1/things HTTP/1.1\r\nHost: store\r\n${lines}\r\n`;
}

function put(key: string, value: string): string {
  return head("POST", JSON.stringify({ method: "put", key }), value.length) + value;
}

function get(key: string): string {
  return head("POST", JSON.stringify({ method: "get", key }), 0);
}

/** A client that keeps what it was sent. */
class Connection implements Disposable {
  readonly #socket: Socket;
  readonly closed: Promise<unknown>;
  text = "";
  constructor(path: string) {
    this.#socket = connect({ path, allowHalfOpen: true });
    this.#socket.setEncoding("latin1").on("data", (text: string) => (this.text += text));
    this.#socket.on("error", () => {}).on("end", () => this.#socket.end());
    this.closed = new Promise((resolve) => this.#socket.once("close", resolve));
  }

  write(text: string): void {
    this.#socket.write(text, "latin1");
  }

  async end(): Promise<void> {
    this.#socket.end();
    await this.closed;
  }

  /** The bodies of so many answers. */
  async bodies(count: number): Promise<string[]> {
    const bodies: string[] = [];
    while (bodies.length < count) {
      let body: string | null = null;
      await until(() => (body = this.#take()) !== null);
      bodies.push(body!);
    }
    return bodies;
  }

  #take(): string | null {
    const headEnd = this.text.indexOf("\r\n\r\n");
    if (headEnd === -1) return null;
    const start = headEnd + 4;
    const length = Number(/^content-length: (\d+)\r$/im.exec(this.text)![1]);
    if (this.text.length < start + length) return null;
    assert.match(this.text, /^HTTP\/1\.1 200 OK\r\n/);
    const few = /^store-few-octets: (\S*)\r$/m.exec(this.text.slice(0, headEnd + 2))?.[1];
    const body =
      few === undefined
        ? this.text.slice(start, start + length)
        : Buffer.from(few, "base64").toString("latin1");
    this.text = this.text.slice(start + length);
    return body;
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }
}
