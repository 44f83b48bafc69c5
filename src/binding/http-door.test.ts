import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { AccountFault } from "#accounts";
import { type HttpListener, listenHttp, sendReply } from "#http";
import { until } from "../../test/support/patience.ts";
import type { Authorize, ObjectPermission } from "./access.ts";
import { MIB, octets } from "./expect.contract.ts";
import { MAX_JSON_BYTES } from "./frames.ts";
import { storeDoor } from "./http-door.ts";
import type { StoreRequest } from "./protocol.ts";
import { remoteTransport } from "./remote.ts";
import { storeBucketContract } from "./store-bucket.contract.ts";
import { bucketsOf, openTestStore, type TestStore } from "./test-store.contract.ts";

/** What the door made of the requests so far: a status, or the error that it threw. */
type Outcome = number | Error;

interface Door extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly outcomes: Outcome[];
  readonly listener: HttpListener;
}

async function openDoor(
  { store }: TestStore,
  allowed?: readonly ObjectPermission[],
): Promise<Door> {
  const authorize: Authorize = async ({ headers }, bucketName) => {
    if (headers["x-test"] === undefined) throw new AccountFault("no-credentials", "Nothing shown");
    if (headers["x-test"] !== "me") throw new AccountFault("unknown-token", "Not known");
    return {
      bucket: await store.bucket(bucketName),
      actor: "test",
      may: async (permission) => allowed?.includes(permission) ?? true,
    };
  };
  const door = storeDoor({ store, authorize });
  const outcomes: Outcome[] = [];
  const listener = await listenHttp({
    address: { host: "127.0.0.1", port: 0 },
    flag: "--test",
    limits: {
      headerBytes: 16_384,
      headerSeconds: 10,
      requestSeconds: 60,
      idleSeconds: 10,
      drainSeconds: 0,
      connections: 100,
      connectionsPerSource: 100,
    },
    unlimited: null,
    onTurnedAway: assert.fail,
    answerRejected: () => ({ type: "text/plain", body: "", requestId: "" }),
    handle: (request, response) => {
      const params = { bucket: request.url!.split("/").at(-1)! };
      door({ request, params, actor: null })
        .then(async (reply) => {
          outcomes.push(reply.status);
          await sendReply(response, reply, "id");
        })
        .catch((error: Error) => {
          outcomes.push(error);
          response.destroy();
        });
    },
  });
  const { port } = listener.address;
  return {
    url: `http://127.0.0.1:${port}/store/v1`,
    port,
    outcomes,
    listener,
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
  };
}

storeBucketContract("HTTP", async () => {
  const opened = await openTestStore("sqlite");
  const door = await openDoor(opened);
  const headers = { "x-test": "me" };
  return {
    ...bucketsOf(opened, (name) => remoteTransport({ fetch, url: `${door.url}/${name}`, headers })),
    async [Symbol.asyncDispose]() {
      await door[Symbol.asyncDispose]();
      await opened[Symbol.asyncDispose]();
    },
  };
});

suite("the door of the store", () => {
  let opened: TestStore;
  let door: Door;
  before(async () => {
    opened = await openTestStore("sqlite");
    await opened.store.createBucket(opened.accountId, "things");
    door = await openDoor(opened);
  });
  after(async () => {
    await door[Symbol.asyncDispose]();
    await opened[Symbol.asyncDispose]();
  });

  /** Sends a body as it stands and reads the JSON of the reply. */
  async function post(
    body: Uint8Array | string,
    { bytes = body.length, headers = {} }: { bytes?: number | string; headers?: object } = {},
    on: Door = door,
    bucket = "things",
  ) {
    const response = await fetch(`${on.url}/${bucket}`, {
      method: "POST",
      headers: { "x-test": "me", "store-json-bytes": String(bytes), ...headers },
      body: Buffer.from(body as string),
    });
    return { status: response.status, ...(await readReply(response)) };
  }

  /** The JSON of a reply is in its head, or before the octets when it is too long for that. */
  async function readReply(response: Response) {
    const whole = Buffer.from(await response.arrayBuffer());
    const length = Number(response.headers.get("store-json-bytes") ?? 0);
    const json = response.headers.get("store-json") ?? whole.subarray(0, length).toString();
    assert.notEqual(json, "", `${response.status} ${whole.toString()}`);
    const reply = JSON.parse(json) as Record<string, unknown>;
    return { reply, octets: whole.subarray(length) };
  }

  const head = (key: string): StoreRequest => ({ method: "head", key });

  test("answers a request with its reply, and octets behind both", async () => {
    const json = JSON.stringify({ method: "put", key: "k" });
    const put = await post(`${json}the octets`, { bytes: json.length });
    assert.deepEqual([put.status, put.reply["ok"], put.reply["hasBody"]], [200, true, false]);
    const got = await post(JSON.stringify({ method: "get", key: "k" }));
    assert.deepEqual([got.reply["hasBody"], got.octets.toString()], [true, "the octets"]);
  });

  test("takes and gives JSON in the head, and beside it the octets alone, unless it is too long", async () => {
    const send = async (request: object, body = "") => {
      const headers = { "x-test": "me", "store-json": JSON.stringify(request) };
      const init = { method: "POST", headers, body: body === "" ? null : body };
      return readReply(await fetch(`${door.url}/things`, init));
    };
    const long = { a: "é".repeat(1_000) };
    assert.equal((await send({ method: "put", key: "short" }, "octets")).reply["ok"], true);
    const put = JSON.stringify({ method: "put", key: "long", custom: long });
    await post(`${put}octets`, { bytes: Buffer.byteLength(put) });
    for (const key of ["short", "long"]) {
      const { reply, octets } = await send({ method: "get", key });
      assert.deepEqual([reply["ok"], octets.toString()], [true, "octets"], key);
    }
    const { reply } = await send({ method: "get", key: "long" });
    assert.deepEqual((reply["result"] as { custom: object }).custom, long);
    assert.match(
      JSON.stringify((await send({ method: "head", key: "short" }, "x")).reply),
      /10029/,
    );
  });

  test("the status says what the reply says", async () => {
    const missing = await post(JSON.stringify(head("none")));
    assert.equal(missing.status, 404);
    assert.deepEqual(missing.reply, {
      ok: false,
      status: 404,
      code: 10_007,
      message: "The specified key does not exist.",
    });
    const { status, reply } = await post(JSON.stringify(head("k")), {}, door, "no-bucket");
    assert.deepEqual([status, reply["code"]], [404, 10_006]);
  });

  const bad: [name: string, body: string, bytes: number | string][] = [
    ["no length of the JSON", JSON.stringify(head("k")), ""],
    ["a length that is no number", JSON.stringify(head("k")), "1e3"],
    ["JSON beyond its limit", "x", MAX_JSON_BYTES + 1],
    ["a body that ends within the JSON", '{"method"', 100],
    ["what is no JSON", "{junk", 5],
    ["JSON of another shape", "[]", 2],
    ["an unknown method", JSON.stringify({ method: "drop", key: "k" }), 27],
    ["a missing field", JSON.stringify({ method: "head" }), 17],
    ["a field of a wrong type", JSON.stringify({ method: "head", key: 5 }), 25],
    ["a field too many", JSON.stringify({ ...head("k"), more: 1 }), 33],
    ["octets where none belong", `${JSON.stringify(head("k"))}more`, 25],
  ];
  for (const [name, body, bytes] of bad) {
    test(`${name} is 10029, in words`, async () => {
      const { status, reply } = await post(body, { bytes });
      assert.deepEqual([status, reply["ok"], reply["code"]], [400, false, 10_029]);
      assert.match(String(reply["message"]), /^[^\n]{5,200}$/);
    });
  }

  test("chunks without an end store nothing and are 10013", async () => {
    const json = JSON.stringify({ method: "put", key: "chunks" });
    const chunk = [0, 0, 0, 2, 65, 66];
    const END = [0, 0, 0, 0];
    const put = (...octets: number[]) =>
      post(Buffer.concat([Buffer.from(json), Buffer.from(octets)]), {
        bytes: json.length,
        headers: { "store-octets": "chunks" },
      });
    for (const cut of [[], [0, 0], chunk.slice(0, -1), chunk, [...chunk, 0, 0, 0], [...END, 0]]) {
      const { status, reply } = await put(...cut);
      assert.deepEqual([status, reply["code"]], [400, 10_013], String(cut));
      assert.equal((await post(JSON.stringify(head("chunks")))).status, 404);
    }
    const { status } = await put(...chunk, ...chunk, ...END);
    assert.equal(status, 200);
    const got = await post(JSON.stringify({ method: "get", key: "chunks" }));
    assert.equal(got.octets.toString(), "ABAB");
  });

  test("whoever shows no credentials is 10002, with wrong ones too, and nothing is read", async () => {
    for (const headers of [{ "x-test": "you" }]) {
      const { status, reply } = await post(JSON.stringify(head("k")), { headers });
      assert.deepEqual([status, reply["code"], reply["message"]], [401, 10_002, "Not known"]);
    }
    const response = await fetch(`${door.url}/things`, { method: "POST", body: "junk" });
    assert.equal(response.status, 401);
    await response.arrayBuffer();
  });

  test("each method needs its permission", async () => {
    const reads = new Set(["head", "get", "list"]);
    const requests: StoreRequest[] = [
      head("k"),
      { method: "get", key: "k" },
      { method: "list", include: [] },
      { method: "put", key: "k" },
      { method: "delete", keys: ["k"] },
      { method: "createMultipartUpload", key: "k" },
      { method: "uploadPart", key: "k", uploadId: "x", partNumber: 1 },
      { method: "completeMultipartUpload", key: "k", uploadId: "x", parts: [] },
      { method: "abortMultipartUpload", key: "k", uploadId: "x" },
    ];
    for (const allowed of ["objects.read", "objects.edit"] as const) {
      await using limited = await openDoor(opened, [allowed]);
      for (const request of requests) {
        const { status, reply } = await post(JSON.stringify(request), {}, limited);
        const isAllowed = reads.has(request.method) === (allowed === "objects.read");
        assert.equal(status === 403, !isAllowed, `${request.method} with ${allowed}`);
        if (!isAllowed) assert.equal(reply["code"], 10_003);
      }
    }
  });

  test("connections serve one request after another", async () => {
    const before = door.listener.connections;
    const url = `${door.url}/things`;
    const transport = remoteTransport({ fetch, url, headers: { "x-test": "me" } });
    for (let i = 0; i < 20; i++) {
      await post(JSON.stringify(head("none")));
      const stream = new Blob([octets(100_000)]).stream();
      assert.ok((await transport.send({ method: "put", key: "streamed" }, stream)).ok);
    }
    assert.ok(door.listener.connections <= before + 2);
  });

  /** A request's head and the beginning of its body, on a bare socket. */
  function begin(request: StoreRequest, length: number, first: Uint8Array): Promise<Socket> {
    const json = Buffer.from(JSON.stringify(request));
    const lines = [
      "POST /store/v1/things HTTP/1.1",
      "Host: x",
      "X-Test: me",
      `Store-Json-Bytes: ${json.length}`,
      `Content-Length: ${json.length + length}`,
    ];
    const socket = connect(door.port, "127.0.0.1");
    socket.on("error", () => {});
    return new Promise((resolve) => {
      socket.write(`${lines.join("\r\n")}\r\n\r\n`);
      socket.write(json);
      socket.write(first, () => resolve(socket));
    });
  }

  const blobFiles = async () => {
    const all = await readdir(join(opened.folder, "blobs"), {
      recursive: true,
      withFileTypes: true,
    });
    return all.filter((entry) => entry.isFile() && entry.name !== "lock").map(({ name }) => name);
  };

  test("a client that leaves while it sends stores nothing and leaves nothing", async () => {
    const files = await blobFiles();
    const seen = door.outcomes.length;
    for (const size of [10, MIB]) {
      const socket = await begin({ method: "put", key: "cut" }, 4 * MIB, octets(size));
      await wait(50);
      socket.destroy();
    }
    await until(() => door.outcomes.length === seen + 2);
    assert.deepEqual(door.outcomes.slice(seen), [400, 400]);
    const bucket = await opened.store.bucket("things");
    assert.equal(await opened.store.head(bucket, "cut"), null);
    await until(async () => (await blobFiles()).length === files.length);
  });

  test("a client that leaves while it is sent to frees what it read", async () => {
    const bucket = await opened.store.bucket("things");
    await opened.store.put(bucket, "large", octets(16 * MIB));
    await opened.store.sweep();
    const files = await blobFiles();
    const seen = door.outcomes.length;
    const socket = await begin({ method: "get", key: "large" }, 0, octets(0));
    await new Promise((resolve) => socket.once("data", resolve));
    socket.destroy();
    await until(() => door.outcomes.length === seen + 1);
    assert.equal(door.outcomes.at(-1), 200);
    // What is still held by a reader is not collected.
    await opened.store.delete(bucket, ["large"]);
    await until(async () => {
      await opened.store.sweep();
      return (await blobFiles()).length === files.length - 1;
    });
  });

  test("a client that does not read is not written to without end", async () => {
    const bucket = await opened.store.bucket("things");
    await opened.store.put(bucket, "large", octets(64 * MIB));
    const before = process.memoryUsage();
    const sockets = await Promise.all(
      Array.from({ length: 4 }, () => begin({ method: "get", key: "large" }, 0, octets(0))),
    );
    for (const socket of sockets) socket.pause();
    await wait(500);
    const { rss } = process.memoryUsage();
    for (const socket of sockets) socket.destroy();
    assert.ok(rss - before.rss < 64 * MIB, `${(rss - before.rss) / MIB} MiB more`);
  });

  test("a refusal reaches a client that goes on sending", async () => {
    const request: StoreRequest = { method: "put", key: "x".repeat(1_025) };
    const socket = await begin(request, 1024 * MIB, octets(MIB));
    let answer = "";
    socket.on("data", (chunk: Buffer) => (answer += chunk.toString()));
    const ended = new Promise((resolve) => socket.once("close", resolve));
    const more = octets(MIB);
    while (!socket.destroyed && !answer.includes("10020")) {
      await new Promise((resolve) => socket.write(more, resolve));
    }
    socket.destroy();
    await ended;
    assert.match(answer, /^HTTP\/1\.1 400 /);
    assert.match(answer, /store-json: \{/i);
    assert.match(answer, /"code":10020/);
  });
});

suite("the transport over HTTP", () => {
  const answering = (response: () => Response) =>
    remoteTransport({ fetch: async () => response(), url: "http://store/v1/b", headers: {} });

  test("octets stand in the body of a reply, or a few of them in its head", async () => {
    const json = JSON.stringify({ ok: true, result: {}, hasBody: true });
    const replies = [
      () => new Response("abc", { headers: { "store-json": json, "content-length": "3" } }),
      () => new Response("", { headers: { "store-json": json, "store-few-octets": "YWJj" } }),
    ];
    for (const reply of replies) {
      const got = await answering(reply).send({ method: "get", key: "k" }, null);
      assert.deepEqual(got, { ok: true, result: {}, body: new Uint8Array([97, 98, 99]) });
    }
  });

  test("an internal error names the request", async () => {
    const headers = { "x-request-id": "abc" };
    const transport = answering(() => new Response("{}", { status: 500, headers }));
    await assert.rejects(transport.send(headOf("k"), null), {
      message: "internal error; reference = abc",
    });
  });

  test("an answer that is no reply of a store says what it is", async () => {
    const transport = answering(() => new Response("<html>hi", { status: 404 }));
    await assert.rejects(transport.send(headOf("k"), null), {
      message: "This is no store: it answered 404 <html>hi",
    });
  });

  test("a server that is not there is told of with its address", async () => {
    const url = "http://127.0.0.1:9/store/v1/b";
    const transport = remoteTransport({ fetch, url, headers: {} });
    await assert.rejects(
      transport.send(headOf("k"), null),
      /^Error: The store cannot be reached at http:\/\/127\.0\.0\.1:9\/store\/v1\/b: /,
    );
  });

  test("a reply that is cut short fails", async () => {
    const headers = { "store-json-bytes": "100" };
    const transport = answering(() => new Response('{"ok"', { headers }));
    await assert.rejects(transport.send(headOf("k"), null), /ends too early/);
  });
});

function headOf(key: string): StoreRequest {
  return { method: "head", key };
}
