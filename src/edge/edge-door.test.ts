import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import {
  createServer,
  type IncomingMessage,
  request as sendRequest,
  type RequestListener,
  type Server,
} from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { suite, test } from "node:test";
import { listenHttp, Upstream } from "#http";
import { ranges } from "#kit/cidr.ts";
import { Log } from "#kit/log.ts";
import type { ScriptFaultKind } from "#scripts";
import { CachedOrigin } from "./cached-origin.ts";
import { edgeDoor } from "./edge-door.ts";
import type { HostFacts } from "./facts/facts.ts";
import { observer } from "./observe.ts";
import { OriginPool } from "./origin/origin-pool.ts";
import { OriginProxy } from "./origin/origin-proxy.ts";
import { EdgeCounters } from "./threads/counters.ts";
import { ScriptRefused } from "./threads/main-thread.ts";

const limits = {
  headerBytes: 16_384,
  headerSeconds: 10,
  requestSeconds: 60,
  idleSeconds: 30,
  drainSeconds: 5,
  connections: 100,
  connectionsPerSource: 100,
};

const zone = {
  id: "z",
  httpsOnly: false,
  tls13Only: false,
  securityHeaders: [],
  ssl: "full",
  cacheLevel: "off",
  developmentModeEnds: 0,
  browserTtlSeconds: 0,
} as const;

/** One name of the zone is proxied; a script has one of its own. */
function factsOf(hostname: string): HostFacts {
  if (hostname === "own.test") return { kind: "script", scriptId: "s" };
  if (!hostname.endsWith("example.com")) return { kind: "unknown" };
  const origin = hostname === "www.example.com" ? { addresses: ["192.168.1.1"] } : null;
  return { kind: "name", zoneName: "example.com", origin };
}

/** The door before one zone, with a server of the test's own in the place of a script's process. */
async function openEdge(script: RequestListener, setUp: (server: Server) => void = () => {}) {
  const folder = mkdtempSync(join(tmpdir(), "edge-"));
  const socketPath = join(folder, "s");
  const upstream = createServer(script);
  setUp(upstream);
  upstream.listen(socketPath);
  await once(upstream, "listening");
  const upstreamPool = new Upstream({
    target: { path: socketPath },
    readsAtOnce: Infinity,
    idleMs: 5_000,
    connectMs: 5_000,
  });
  const originPool = new OriginPool({ now: Date.now });
  const matched: string[] = [];
  const lines: string[] = [];
  const log = new Log({
    format: "json",
    level: "info",
    now: Date.now,
    write: (text) => lines.push(text),
  });
  const world = {
    fault: null as ScriptFaultKind | null,
    opens: null as ScriptRefused | null,
    held: 0,
  };
  const door = await listenHttp({
    address: { host: "127.0.0.1", port: 0 },
    flag: "--edge",
    limits,
    unlimited: null,
    onTurnedAway: () => {},
    ...edgeDoor({
      hosts: { get: factsOf },
      zones: {
        get: () => ({
          ...zone,
          routes: {
            match: (_host, target) => {
              matched.push(target);
              return target.startsWith("/off") ? null : { scriptId: "s" };
            },
          },
        }),
      },
      takeLent: async () => null,
      openScript: async () => {
        if (world.opens !== null) throw world.opens;
        world.held++;
        return {
          upstream: upstreamPool,
          fault: async () => world.fault,
          [Symbol.dispose]: () => world.held--,
        };
      },
      buckets: upstreamPool,
      trustedProxies: ranges(["127.0.0.2"]),
      log,
      observe: observer({ log, counters: new EdgeCounters() }),
      scheme: "http",
      httpsPort: 8443,
      origins: new CachedOrigin({
        origins: new OriginProxy({
          outside: () => [],
          allowed: ranges(["127.0.0.0/8"]),
          pool: originPool,
          answerMs: 10_000,
          loopMark: "selvedge-test",
          isEdge: (address) => address === "127.0.0.9",
        }),
        cache: null as never, // Off for the zone.
        now: Date.now,
      }),
    }),
  });
  return {
    world,
    matched,
    logged: () => (log.flush(), lines.join("")),
    port: door.address.port,
    async [Symbol.asyncDispose]() {
      upstreamPool[Symbol.dispose]();
      originPool[Symbol.dispose]();
      upstream.closeAllConnections();
      upstream.close();
      await door[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    },
  };
}

/** All that comes back on a connection of its own until it ends. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(text);
  return everything(socket);
}

async function everything(socket: Socket): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("latin1");
}

const get = (path: string, host = "www.example.com", more = "") =>
  `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n${more}\r\n`;

suite("the edge", () => {
  test("hands a request for a routed name to its script, and the answer back", async () => {
    await using edge = await openEdge((request, response) => {
      response.setHeader("X-Saw", `${request.method} ${request.url} ${request.headers.host}`);
      response.writeHead(201, "Made");
      response.end(String(request.headers["cf-connecting-ip"]));
    });
    const answer = await exchange(edge.port, get("/a?b=%20c"));
    assert.match(answer, /^HTTP\/1\.1 201 Made\r\n/);
    assert.match(answer, /X-Saw: GET \/a\?b=%20c www\.example\.com\r\n/);
    assert.match(answer, /X-Request-Id: [0-9a-f]{32}\r\n/);
    assert.match(answer, /127\.0\.0\.1/);
    assert.match(await exchange(edge.port, get("/", "own.test")), /^HTTP\/1\.1 201/);
    assert.equal(edge.world.held, 0);
  });

  test("finds a route by the path that its script will read, and hands the request on as it came", async () => {
    await using edge = await openEdge((request, response) => response.end(request.url));
    const paths = [
      ["/a/../private/x", "/private/x"],
      ["/./private/x?q=/../", "/private/x?q=/../"],
      ["/a/%2e%2E/private", "/private"],
      ["//private/x", "//private/x"],
      ["/a?b=..", "/a?b=.."],
    ] as const;
    for (const [sent, matched] of paths) {
      assert.ok((await exchange(edge.port, get(sent))).endsWith(sent));
      assert.equal(edge.matched.at(-1), matched);
    }
  });

  test("takes an upgrade only for what it is", async () => {
    await using edge = await openEdge((request, response) => {
      response.end(
        `[${String(request.headers.upgrade)} ${String(request.headers["x-selvedge-cf"])}]`,
      );
    });
    const withBody = get(
      "/",
      "own.test",
      "Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n",
    ).replace("Connection: close\r\n", "");
    const seen = '[undefined {"httpProtocol":"HTTP/1.1","tlsVersion":""}]';
    assert.ok((await exchange(edge.port, `${withBody}hi`)).endsWith(seen));
    const alone = get("/", "own.test", "Upgrade: websocket\r\n");
    assert.ok((await exchange(edge.port, alone)).endsWith(seen));
  });

  test("answers itself what leads nowhere, as JSON or as a page", async () => {
    await using edge = await openEdge((_request, response) => response.end());
    const cases = [
      [get("/", "other.test"), 421, "unknown_host"],
      [get("/", "mail.example.com"), 404, "not_proxied"],
      [get("/off"), 502, "origin_internal"],
      [get("/", "a b"), 400, "bad_host"],
    ] as const;
    for (const [request, status, code] of cases) {
      const answer = await exchange(edge.port, request);
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), code);
      const { error } = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n"))) as {
        error: { code: string; request_id: string };
      };
      assert.equal(error.code, code);
      assert.match(answer, new RegExp(`X-Request-Id: ${error.request_id}`));
    }
    const page = await exchange(edge.port, get("/", "other.test", "Accept: text/html\r\n"));
    assert.match(page, /Content-Type: text\/html/);
    assert.match(page, /<h1>421 Misdirected Request<\/h1>/);
  });

  test("streams a body up and down without holding it", async () => {
    const size = 64 * 1024 ** 2;
    await using edge = await openEdge((request, response) => {
      response.writeHead(200, { "Content-Type": "application/octet-stream" });
      request.pipe(response);
    });
    const before = process.memoryUsage().rss;
    const chunk = Buffer.alloc(64 * 1024, 7);
    const chunks = function* () {
      for (let sent = 0; sent < size; sent += chunk.length) yield chunk;
    };
    const asked = sendRequest({
      port: edge.port,
      method: "POST",
      headers: { Host: "www.example.com" },
    });
    const [[answer]] = await Promise.all([
      once(asked, "response") as Promise<[IncomingMessage]>,
      pipeline(chunks, asked).catch(() => {}),
      // The answer must be read while the body is sent, or both wait for ever.
      once(asked, "response").then(async ([early]) => {
        let got = 0;
        for await (const part of early as IncomingMessage) got += (part as Buffer).length;
        assert.equal(got, size);
      }),
    ]);
    assert.equal(answer.statusCode, 200);
    assert.ok(process.memoryUsage().rss - before < 200 * 1024 ** 2);
  });

  test("lets go of the script when its client leaves", async () => {
    const left = Promise.withResolvers<void>();
    await using edge = await openEdge((request, response) => {
      response.write("begun");
      request.once("close", () => left.resolve());
    });
    const socket = connect(edge.port, "127.0.0.1");
    socket.write(get("/"));
    await once(socket, "data");
    socket.destroy();
    await left.promise;
    while (edge.world.held > 0) await new Promise(setImmediate);
  });

  test("breaks the connection off when the answer breaks off, and says why when it has not begun", async () => {
    await using edge = await openEdge((request, response) => {
      if (request.url === "/half") {
        response.writeHead(200, { "Content-Length": "100" });
        response.write("half", () => response.destroy());
      } else response.destroy();
    });
    assert.match(
      await exchange(edge.port, get("/half")),
      /Content-Length: 100\r\n[^]*\r\n\r\nhalf$/,
    );
    assert.match(await exchange(edge.port, get("/none")), /^HTTP\/1\.1 502 [^]*script_broke_off/);
    edge.world.fault = "over-memory";
    assert.match(await exchange(edge.port, get("/none")), /^HTTP\/1\.1 503 [^]*script_over_memory/);
    edge.world.opens = new ScriptRefused("unavailable", "not now");
    assert.match(await exchange(edge.port, get("/")), /^HTTP\/1\.1 503 [^]*script_unavailable/);
    assert.equal(edge.world.held, 0);
  });

  test("goes on with a connection whose script did not take all of the body", async () => {
    await using edge = await openEdge((request, response) => {
      if (request.method === "POST") response.end("enough");
      else response.end("next");
    });
    const socket = connect(edge.port, "127.0.0.1");
    const length = 4 * 1024 ** 2;
    socket.write(`POST / HTTP/1.1\r\nHost: www.example.com\r\nContent-Length: ${length}\r\n\r\n`);
    socket.write(Buffer.alloc(length));
    socket.write(get("/again"));
    const all = await everything(socket);
    assert.match(all, /enough/);
    assert.match(all, /next$/);
  });

  test("joins the connections of an upgrade, and shows a refusal of it", async () => {
    await using edge = await openEdge(
      (_request, response) => response.writeHead(426).end("no"),
      (server) =>
        server.on("upgrade", (request, socket: Socket) => {
          if (request.url === "/closed") {
            socket.end("HTTP/1.1 403 No\r\nContent-Length: 2\r\n\r\nno");
            return;
          }
          socket.write(
            `HTTP/1.1 101 Switching\r\nUpgrade: ${request.headers.upgrade}\r\nConnection: Upgrade\r\n\r\nhello `,
          );
          socket.on("data", (data) => socket.end(data));
        }),
    );
    const ask = (path: string, host = "www.example.com") =>
      `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    const socket = connect(edge.port, "127.0.0.1");
    socket.write(ask("/"));
    const [head] = (await once(socket, "data")) as [Buffer];
    socket.write("there");
    const all = head.toString() + (await everything(socket));
    assert.match(all, /^HTTP\/1\.1 101 [^]*Upgrade: websocket[^]*hello there$/);
    assert.match(await exchange(edge.port, ask("/closed")), /^HTTP\/1\.1 403 No[^]*no$/);
    assert.match(await exchange(edge.port, ask("/", "other.test")), /^HTTP\/1\.1 421 /);
  });

  test("believes what a trusted proxy tells of the client, and nobody else", async () => {
    await using edge = await openEdge((request, response) => {
      const { "x-forwarded-for": hops, "x-forwarded-proto": scheme } = request.headers;
      response.end(`[${hops as string}] ${scheme as string}`);
    });
    const told = "X-Forwarded-For: 192.0.2.9\r\nX-Forwarded-Proto: https\r\n";
    assert.match(await exchange(edge.port, get("/", "own.test", told)), /\[127\.0\.0\.1\] http$/);
    const socket = connect({ port: edge.port, host: "127.0.0.1", localAddress: "127.0.0.2" });
    socket.write(get("/", "own.test", told));
    assert.match(await everything(socket), /\[192\.0\.2\.9, 127\.0\.0\.2\] https$/);
  });

  test("logs each request with its id and without its query", async () => {
    await using edge = await openEdge((_request, response) => response.end("ok"));
    const answer = await exchange(edge.port, get("/path?secret=1"));
    const id = /X-Request-Id: (\w+)/.exec(answer)![1]!;
    const line = edge
      .logged()
      .split("\n")
      .find((one) => one.includes(id))!;
    assert.match(line, /"path":"\/path"/);
    assert.match(line, /"status":200/);
    assert.ok(!line.includes("secret"));
  });
});
