/** The cache between a real origin and real clients. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { suite, test } from "node:test";
import { Upstream } from "#http";
import { Deadlines } from "#kit/deadlines.ts";
import { until } from "../../../test/support/patience.ts";
import { CacheCounts } from "./cache-counts.ts";
import { Cache } from "./cache.ts";
import { DiskLedger } from "./disk-ledger.ts";
import { DiskStore } from "./disk-store.ts";
import { askOrigin } from "./origin-answer.ts";
import { PurgeRules } from "./purge-rules.ts";
import { sendCached } from "./send-cached.ts";

async function listen(handle: RequestListener): Promise<{ server: Server; port: number }> {
  const server = createServer(handle);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

/** A small edge: one cache on disk, before the origin that the test is. */
async function openEdge(origin: RequestListener) {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-cache-"));
  const behind = await listen(origin);
  const ledger = new DiskLedger({ folder, limitOctets: 256 * 1024 ** 2, onError: assert.fail });
  const cache = new Cache({
    counts: new CacheCounts(),
    memoryOctets: 32 * 1024 ** 2,
    disk: await DiskStore.open(folder, ledger),
    purges: new PurgeRules(),
    objectOctets: 128 * 1024 ** 2,
    waitMs: 5000,
    now: Date.now,
    onError: assert.fail,
    onForgotten: () => {},
  });
  const target = { host: "127.0.0.1", port: behind.port };
  const upstream = new Upstream({ target, idleMs: 5000, connectMs: 2000, readsAtOnce: Infinity });
  const front = await listen((request, response) => {
    const { method, url, headers } = request;
    const asked = { method: method!, target: url!, headers, hostname: "a.test", zoneId: "z" };
    const onward = {
      upstream,
      target: url!,
      headers: request.rawHeaders,
      answerWithin: new Deadlines(5000),
    };
    const fetchOrigin = (conditions: readonly string[] | null) =>
      askOrigin(onward, method!, conditions, () => {});
    const level = "aggressive" as const;
    const serve = async () =>
      sendCached(response, await cache.handle({ ...asked, level, scheme: "http" }, fetchOrigin), [
        "X-Request-Id",
        "r",
      ]);
    serve().catch(() =>
      response.headersSent ? response.destroy() : response.writeHead(502).end(),
    );
  });
  return {
    cache,
    ledger,
    url: `http://127.0.0.1:${front.port}`,
    port: front.port,
    async [Symbol.asyncDispose]() {
      upstream[Symbol.dispose]();
      for (const { server } of [front, behind]) {
        server.closeAllConnections();
        server.close();
      }
      await ledger.settled();
      await rm(folder, { recursive: true });
    },
  };
}

const fresh = { "Cache-Control": "max-age=60" };

suite("the cache on the wire", () => {
  test("answers from memory what it has fetched, and passes on what it may not keep", async () => {
    let asked = 0;
    await using edge = await openEdge((request, response) => {
      asked++;
      response.writeHead(200, request.url === "/own" ? {} : { ...fresh, "X-Own": "1" });
      response.end(request.url);
    });
    const get = async (path: string) => {
      const response = await fetch(edge.url + path);
      return [response.headers.get("cf-cache-status"), await response.text()];
    };
    assert.deepEqual(await get("/a"), ["MISS", "/a"]);
    assert.deepEqual(await get("/a"), ["HIT", "/a"]);
    assert.deepEqual(await get("/own"), ["BYPASS", "/own"]);
    assert.deepEqual(await get("/own"), ["BYPASS", "/own"]);
    assert.equal(asked, 3);
  });

  test("carries a large body to clients of any pace, and keeps it", async () => {
    const large = randomBytes(24 * 1024 ** 2);
    let asked = 0;
    await using edge = await openEdge((_request, response) => {
      asked++;
      response.writeHead(200, fresh).end(large);
    });
    const read = async (pauseMs: number) => {
      const response = await fetch(edge.url);
      const chunks: Uint8Array[] = [];
      for await (const chunk of response.body!) {
        if (chunks.length % 20 === 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
        chunks.push(chunk);
      }
      return Buffer.concat(chunks);
    };
    const bodies = await Promise.all([read(0), read(1), read(3)]);
    assert.ok(bodies.every((body) => body.equals(large)));
    await until(() => edge.ledger.size === 1);
    assert.ok((await read(0)).equals(large));
    const part = await fetch(edge.url, { headers: { Range: "bytes=1000000-1999999" } });
    assert.equal(part.status, 206);
    const octets = Buffer.from(await part.arrayBuffer());
    assert.ok(octets.equals(large.subarray(1_000_000, 2_000_000)));
    assert.equal(asked, 1);
  });

  test("breaks off when the origin does, and asks again", async () => {
    let asked = 0;
    await using edge = await openEdge((_request, response) => {
      response.writeHead(200, { ...fresh, "Content-Length": "10" });
      if (asked++ === 0) response.write("12345", () => response.destroy());
      else response.end("1234567890");
    });
    await assert.rejects(fetch(edge.url).then((response) => response.text()));
    const again = await fetch(edge.url);
    assert.deepEqual(
      [again.headers.get("cf-cache-status"), await again.text()],
      ["MISS", "1234567890"],
    );
  });

  test("lets go of the origin when all clients have left and little has come", async () => {
    const left: string[] = [];
    await using edge = await openEdge((request, response) => {
      response.writeHead(200, request.url === "/kept" ? fresh : {});
      response.write("a little");
      response.once("close", () => left.push(request.url!));
    });
    for (const path of ["/kept", "/passed"]) {
      const socket = connect(edge.port, "127.0.0.1");
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`);
      await once(socket, "data");
      socket.destroy();
      await until(() => left.includes(path));
    }
  });

  test("tries a new connection when the origin has closed the old one", async () => {
    let asked = 0;
    await using edge = await openEdge((request, response) => {
      if (asked++ === 1) request.socket.destroy();
      else response.writeHead(200, fresh).end("ok");
    });
    for (const path of ["/1", "/2"])
      assert.equal(await (await fetch(edge.url + path)).text(), "ok");
    assert.equal(asked, 3);
  });
});
