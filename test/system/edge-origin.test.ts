/** Proxied names whose origin is asked: over HTTP, HTTPS and HTTP/2, with origins that behave and that do not. */
import assert from "node:assert/strict";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer, request as sendRequest, type RequestListener } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { createServer as createHttps, request as sendHttps } from "node:https";
import { connect, createServer as createTcp, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { selfSigned } from "../../src/kit/self-signed.ts";
import { ownAddress } from "../support/own-address.ts";
import { startServer } from "../support/server.ts";
import { call } from "./api.ts";
import { ONE_THREAD } from "./edge-rig.ts";

/** Origins listen where the edge asks for clients that name these ports: none is free at all times, so on hosts of their own. */
const HTTP_PORT = 8880;
const server = await startServer({
  env: { SELVEDGE_EDGE_ORIGINS: "127.0.0.0/8", ...ONE_THREAD },
  args: ["--dns", "off"],
});
after(() => server[Symbol.asyncDispose]());
const edge = new URL(server.ready["edge"]!);
const edgeTls = new URL(server.ready["edge_tls"]!);
const ca = readFileSync(join(server.data, "local-ca.crt"), "utf8");

const zone = (
  (await call(server, "POST", "/zones", { body: { name: "example.com" } })).result as {
    id: string;
  }
).id;

async function record(name: string, type: string, content: string): Promise<void> {
  const body = { type, name, content, proxied: true };
  const { status } = await call(server, "POST", `/zones/${zone}/dns_records`, { body });
  assert.equal(status, 200);
}

async function setting(id: string, value: unknown): Promise<void> {
  const { status } = await call(server, "PATCH", `/zones/${zone}/settings/${id}`, {
    body: { value },
  });
  assert.equal(status, 200);
}

async function listen(origin: Server, host: string, port = HTTP_PORT): Promise<AsyncDisposable> {
  const sockets = new Set<Socket>();
  origin.on("connection", (socket: Socket) => sockets.add(socket));
  origin.listen(port, host);
  await once(origin, "listening");
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      origin.close();
    },
  };
}

function ask(
  name: string,
  {
    path = "/",
    method = "GET",
    headers = {},
    body = null,
    port = HTTP_PORT,
  }: { path?: string; method?: string; headers?: object; body?: string | null; port?: number } = {},
): Promise<{ status: number; headers: Record<string, unknown>; text: string }> {
  return new Promise((resolve, reject) => {
    const Host = `${name}.example.com:${port}`;
    const sent = sendRequest(
      {
        host: edge.hostname,
        port: edge.port,
        path,
        method,
        headers: { Host, ...headers },
        agent: false,
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.on("error", reject);
        response.on("end", () =>
          resolve({ status: response.statusCode!, headers: response.headers, text }),
        );
      },
    );
    sent.on("error", reject).end(body ?? undefined);
  });
}

function ownCertificate(name: string): { cert: string; key: string } {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const day = 24 * 3600 * 1000;
  const cert = selfSigned({
    privateKey,
    names: [name],
    addresses: [],
    serial: randomBytes(8),
    validFrom: Date.now() - day,
    validUntil: Date.now() + day,
  });
  return { cert, key: privateKey.export({ type: "pkcs8", format: "pem" }) };
}

const codeOf = ({ text }: { text: string }) =>
  (JSON.parse(text) as { error: { code: string } }).error.code;

suite("a proxied name", () => {
  test("is answered by its origin, which hears who asked", async () => {
    const host = ownAddress();
    await using _ = await listen(
      createServer((request, response) => {
        response.setHeader("X-Origin", "yes");
        response.end(JSON.stringify([request.method, request.url, request.headers]));
      }),
      host,
    );
    await record("plain", "A", host);
    const { status, headers, text } = await ask("plain", {
      path: "/a?b=c",
      headers: { Connection: "x-gone", "X-Gone": "1" },
    });
    assert.deepEqual([status, headers["x-origin"]], [200, "yes"]);
    const [method, url, heard] = JSON.parse(text) as [string, string, Record<string, string>];
    assert.deepEqual([method, url], ["GET", "/a?b=c"]);
    assert.equal(heard["host"], `plain.example.com:${HTTP_PORT}`);
    assert.equal(heard["cf-connecting-ip"], "127.0.0.1");
    assert.equal(heard["x-forwarded-proto"], "http");
    assert.match(heard["cdn-loop"]!, /^selvedge-[0-9a-f]{12}$/);
    assert.equal(heard["x-request-id"], headers["x-request-id"]);
    assert.equal(heard["x-gone"], undefined);
  });

  test("sends bodies of either kind through whole, up and down", async () => {
    const host = ownAddress();
    const echo: RequestListener = (request, response) => request.pipe(response);
    await using _ = await listen(createServer(echo), host);
    await record("echo", "A", host);
    const body = "0123456789".repeat(300_000);
    assert.equal((await ask("echo", { method: "POST", body })).text, body);
    const chunked = { method: "PUT", body, headers: { "Transfer-Encoding": "chunked" } };
    assert.equal((await ask("echo", chunked)).text, body);
  });

  test("goes to another of its addresses when one does not answer, but never twice with a body", async () => {
    const [good, bad] = [ownAddress(), ownAddress()];
    let asked = 0;
    await using _ = await listen(
      createServer((_request, response) => response.end(`${++asked}`)),
      good,
    );
    await record("two", "A", bad);
    await record("two", "A", good);
    for (let i = 0; i < 4; i++) assert.equal((await ask("two")).status, 200);
    assert.equal(asked, 4);

    await using cut = await listen(
      createTcp((socket) => socket.once("data", () => socket.destroy())),
      bad,
    );
    void cut;
    const before = asked;
    const posts = await Promise.all([1, 2].map(() => ask("two", { method: "POST", body: "x" })));
    const answered = posts.filter(({ status }) => status === 200).length;
    assert.equal(asked - before, answered, "what failed was not sent again");
  });

  test("follows a CNAME within the zone, and one that leads nowhere is told", async () => {
    const host = ownAddress();
    await using _ = await listen(
      createServer((_request, response) => response.end("behind")),
      host,
    );
    await record("target", "A", host);
    await record("alias", "CNAME", "target.example.com");
    assert.equal((await ask("alias")).text, "behind");
  });

  test("has a refusal with a reason when its origin is down, broken, or not to be asked", async () => {
    const [down, garbage, early] = [ownAddress(), ownAddress(), ownAddress()];
    const saying = (text: string) =>
      createTcp((socket) => socket.on("data", () => socket.end(text)));
    await using open = new AsyncDisposableStack();
    open.use(await listen(saying("SSH-2.0-x\r\n\r\n"), garbage));
    open.use(await listen(saying("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"), early));
    await record("down", "A", down);
    await record("garbage", "A", garbage);
    await record("early", "A", early);
    await record("internal", "A", "10.0.0.1");
    assert.deepEqual([502, "origin_down"], await outcome("down"));
    assert.deepEqual([502, "origin_down"], await outcome("garbage"));
    assert.deepEqual([502, "origin_internal"], await outcome("internal"));
    await assert.rejects(ask("early"), "half an answer is never taken for a whole one");
    const loop = await ask("down", { headers: { "CDN-Loop": await loopMark() } });
    assert.deepEqual([loop.status, codeOf(loop)], [508, "loop"]);
  });

  async function outcome(name: string): Promise<[number, string]> {
    const answer = await ask(name);
    return [answer.status, codeOf(answer)];
  }

  async function loopMark(): Promise<string> {
    const host = ownAddress();
    await using _ = await listen(
      createServer((request, response) => response.end(request.headers["cdn-loop"])),
      host,
    );
    await record("mark", "A", host);
    return (await ask("mark")).text;
  }

  test("joins a WebSocket with its origin", async () => {
    const host = ownAddress();
    const origin = createServer();
    origin.on("upgrade", (request, socket: Socket) => {
      socket.write(
        `HTTP/1.1 101 Switching Protocols\r\nUpgrade: ${request.headers.upgrade}\r\nConnection: Upgrade\r\n\r\n`,
      );
      socket.pipe(socket);
    });
    await using _ = await listen(origin, host);
    await record("socket", "A", host);
    const socket = connect(Number(edge.port), edge.hostname);
    socket.write(
      `GET / HTTP/1.1\r\nHost: socket.example.com:${HTTP_PORT}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    const [head] = (await once(socket, "data")) as [Buffer];
    assert.match(head.toString(), /^HTTP\/1\.1 101 /);
    socket.write("ping");
    assert.equal(String(((await once(socket, "data")) as [Buffer])[0]), "ping");
    socket.destroy();
  });

  test("answers a change of its record, or of a setting, on the next request", async () => {
    const [one, two] = [ownAddress(), ownAddress()];
    const saying = (text: string) => createServer((_request, response) => response.end(text));
    await using open = new AsyncDisposableStack();
    open.use(await listen(saying("one"), one));
    open.use(await listen(saying("two"), two));
    const body = { type: "A", name: "moves", content: one, proxied: true };
    const { result } = await call(server, "POST", `/zones/${zone}/dns_records`, { body });
    const { id } = result as { id: string };
    assert.equal((await ask("moves")).text, "one");
    await call(server, "PATCH", `/zones/${zone}/dns_records/${id}`, { body: { content: two } });
    assert.equal((await ask("moves")).text, "two");
    await call(server, "PATCH", `/zones/${zone}/dns_records/${id}`, { body: { proxied: false } });
    assert.equal((await ask("moves")).status, 404);
  });
});

test("a zone that has its cache on asks the origin once, until it is purged", async () => {
  const host = ownAddress();
  let asked = 0;
  await using _ = await listen(
    createServer((_request, response) => {
      response.writeHead(200, { "Cache-Control": "max-age=600" }).end(`answer ${++asked}`);
    }),
    host,
  );
  await record("cached", "A", host);
  const look = async () => {
    const { text, headers } = await ask("cached", { path: "/page" });
    return [text, headers["cf-cache-status"]];
  };
  assert.deepEqual(await look(), ["answer 1", undefined], "off until it is switched on");
  await setting("cache_level", "aggressive");
  assert.deepEqual(await look(), ["answer 2", "MISS"]);
  assert.deepEqual(await look(), ["answer 2", "HIT"]);
  const part = await ask("cached", { path: "/page", headers: { Range: "bytes=0-5" } });
  assert.deepEqual([part.status, part.text], [206, "answer"]);
  const purge = { body: { purge_everything: true } };
  assert.equal((await call(server, "POST", `/zones/${zone}/purge_cache`, purge)).status, 200);
  assert.deepEqual(await look(), ["answer 3", "MISS"]);
  await setting("cache_level", "bypass");
});

/** Where origins speak TLS for clients that name this port. */
const HTTPS_PORT = 8443;

suite("over TLS", () => {
  function askTls(
    host: string,
    maxVersion: "TLSv1.2" | "TLSv1.3" = "TLSv1.3",
  ): Promise<{ status: number; text: string; headers: Record<string, unknown> }> {
    return new Promise((resolve, reject) => {
      const headers = { Host: `${host}:${HTTPS_PORT}` };
      const { hostname, port } = edgeTls;
      const sent = sendHttps(
        { host: hostname, port, servername: host, ca, headers, agent: false, maxVersion },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
          response.on("end", () =>
            resolve({ status: response.statusCode!, text, headers: response.headers }),
          );
        },
      );
      sent.on("error", reject).end();
    });
  }

  test("a name has a certificate at the first start, which the local authority signed; others have none", async () => {
    await record("secure", "A", "10.0.0.1");
    const answer = await askTls("secure.example.com");
    assert.deepEqual([answer.status, codeOf(answer)], [502, "origin_internal"]);
    await assert.rejects(askTls("www.example.org"));
  });

  test("HTTP/2 is spoken, and its requests are those of HTTP/1.1", async () => {
    const host = ownAddress();
    const own = ownCertificate("h2.example.com");
    await using _ = await listen(
      createHttps(own, (request, response) => {
        const chunks: Buffer[] = [];
        request.on("data", (chunk: Buffer) => chunks.push(chunk));
        request.on("end", () => {
          response.setHeader("X-Saw", `${request.method} ${request.headers.host}`);
          response.end(Buffer.concat(chunks));
        });
      }),
      host,
      HTTPS_PORT,
    );
    await record("h2", "A", host);
    const session = connectHttp2("https://h2.example.com:8443", {
      ca,
      createConnection: undefined as never,
      host: edgeTls.hostname,
      port: Number(edgeTls.port),
      servername: "h2.example.com",
    } as never);
    const body = "x".repeat(200_000);
    const stream = session.request({
      ":method": "POST",
      ":path": "/p",
      ":authority": "h2.example.com:8443",
    });
    stream.end(body);
    const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
    let text = "";
    for await (const chunk of stream) text += String(chunk);
    session.close();
    assert.deepEqual([headers[":status"], headers["x-saw"]], [200, "POST h2.example.com:8443"]);
    assert.equal(text, body);
  });

  test("the zone's settings hold: strict certificates, HTTPS alone, TLS 1.3, HSTS", async () => {
    const host = ownAddress();
    await using _ = await listen(
      createHttps(ownCertificate("other.example.com"), (_request, response) => response.end("tls")),
      host,
      HTTPS_PORT,
    );
    await record("strict", "A", host);
    const name = "strict.example.com";
    assert.equal((await askTls(name)).text, "tls", "full does not look at the certificate");
    await setting("ssl", "strict");
    assert.equal(codeOf(await askTls(name)), "origin_tls");
    await setting("ssl", "full");

    await setting("min_tls_version", "1.3");
    assert.equal(codeOf(await askTls(name, "TLSv1.2")), "old_tls");
    assert.equal((await askTls(name)).text, "tls");
    await setting("min_tls_version", "1.0");

    const hsts = { enabled: true, max_age: 600, include_subdomains: true };
    await setting("security_header", { strict_transport_security: hsts });
    const { headers } = await askTls(name);
    assert.equal(headers["strict-transport-security"], "max-age=600; includeSubDomains");

    await setting("always_use_https", "on");
    const moved = await ask("strict", { path: "/x?y" });
    const location = `https://strict.example.com:${edgeTls.port}/x?y`;
    assert.deepEqual([moved.status, moved.headers["location"]], [301, location]);
    await setting("always_use_https", "off");
  });
});
