/**
 * Clients and origins that mean harm, or are broken, on the wire. One server takes all of it: after each attack it
 * answers others over HTTP/1.1 and HTTP/2, and holds no more memory than before.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request as sendRequest } from "node:http";
import { type ClientHttp2Stream, constants } from "node:http2";
import { connect, type Socket } from "node:net";
import { after, suite, test } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { until } from "../support/patience.ts";
import { Edge, HTTP_PORT, HTTPS_PORT, type RawOrigin, saying, valuesOf } from "./edge-rig.ts";
import {
  END_HEADERS,
  END_STREAM,
  type Fields,
  fieldBlock,
  FRAME,
  frame,
  H2Wire,
} from "./h2-wire.ts";
import { Wire } from "./wire.ts";

/** Long enough for others on a slow machine while the attacks go on, short enough to wait for. */
const HEADER_SECONDS = 3;
const REQUEST_SECONDS = 6;
const ORIGIN_SECONDS = 9;
const IDLE_CONNECTIONS = 1_000;
/** What a process may grow by through its attacks together: collectors are in no hurry. */
const GROWTH_MIB = 160;
const MIB = 1024 ** 2;

const edge = await Edge.start({
  SELVEDGE_LIMITS_HEADER_SECONDS: String(HEADER_SECONDS),
  SELVEDGE_LIMITS_REQUEST_SECONDS: String(REQUEST_SECONDS),
  SELVEDGE_LIMITS_IDLE_SECONDS: String(ORIGIN_SECONDS),
  SELVEDGE_LIMITS_ORIGIN_SECONDS: String(ORIGIN_SECONDS),
  SELVEDGE_LIMITS_CONNECTIONS_PER_SOURCE: String(2 * IDLE_CONNECTIONS),
});
after(() => edge[Symbol.asyncDispose]());
const good = await edge.origin("good");
await assertServes();
const memoryBefore = edge.memory();

/** Others are served, over either version, and the memory is bounded. */
async function assertServes(): Promise<void> {
  using wire = await Wire.open(edge.http);
  wire.write(requestFor("good"));
  assert.equal((await wire.answer()).status, 200);
  const session = edge.session("good");
  assert.equal((await respond(session.request({ ":path": "/" }))).status, 200);
  session.destroy();
  assert.deepEqual(good.faults, []);
}

function attack(name: string, run: () => Promise<void>): void {
  test(name, async () => {
    await run();
    await assertServes();
    const grown = edge.memory() - memoryBefore;
    assert.ok(grown < GROWTH_MIB, `the server has grown by ${Math.round(grown)} MiB`);
  });
}

function requestFor(name: string, ...headers: readonly string[]): string {
  return lines(`GET / HTTP/1.1`, hostOf(name), ...headers);
}

function hostOf(name: string): string {
  return `Host: ${name}.example.com:${HTTP_PORT}`;
}

function lines(...all: readonly string[]): string {
  return `${all.join("\r\n")}\r\n\r\n`;
}

interface Response {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
}

async function respond(stream: ClientHttp2Stream): Promise<Response> {
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
  let text = "";
  for await (const chunk of stream) text += String(chunk);
  return { status: Number(headers[":status"]), headers, text };
}

async function askHttp2(name: string, fields: Record<string, string | string[]> = {}) {
  const session = edge.session(name);
  try {
    return await respond(session.request({ ":path": "/", ...fields }));
  } finally {
    session.destroy();
  }
}

async function ask(name: string, method = "GET", path = "/"): Promise<Response> {
  const { hostname, port } = new URL(edge.http);
  const headers = { Host: `${name}.example.com:${HTTP_PORT}` };
  const sent = sendRequest({ hostname, port, method, path, headers, agent: false }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode!, headers: response.headers, text };
}

/** What an origin heard since, all of it well-formed. */
function heardBy(origin: RawOrigin) {
  assert.deepEqual(origin.faults.splice(0), []);
  return origin.heard.splice(0);
}

suite("a request of HTTP/1.1 that two servers might read in two ways", async () => {
  const origin = await edge.origin("strict");
  const host = hostOf("strict");
  const post = (...headers: readonly string[]) => lines("POST / HTTP/1.1", host, ...headers);
  const hidden = lines("GET /hidden HTTP/1.1", host);

  const refused: [name: string, octets: string][] = [
    [
      "a length and chunks",
      `${post("Content-Length: 6", "Transfer-Encoding: chunked")}0\r\n\r\n${hidden}`,
    ],
    [
      "chunks and a length",
      `${post("Transfer-Encoding: chunked", "Content-Length: 6")}0\r\n\r\n${hidden}`,
    ],
    ["two lengths", `${post("Content-Length: 0", "Content-Length: 9")}${hidden}`],
    ["the same length twice", `${post("Content-Length: 2", "Content-Length: 2")}ok${hidden}`],
    ["a list of lengths", `${post("Content-Length: 2, 2")}ok${hidden}`],
    ["a length with a sign", `${post("Content-Length: +2")}ok${hidden}`],
    ["a length in base sixteen", `${post("Content-Length: 0x2")}ok${hidden}`],
    ["a negative length", `${post("Content-Length: -1")}${hidden}`],
    ["a length past all bounds", `${post("Content-Length: 18446744073709551618")}ok${hidden}`],
    [
      "another coding before chunks",
      `${post("Transfer-Encoding: gzip, chunked")}0\r\n\r\n${hidden}`,
    ],
    [
      "another coding behind chunks",
      `${post("Transfer-Encoding: chunked, identity")}0\r\n\r\n${hidden}`,
    ],
    [
      "chunks twice",
      `${post("Transfer-Encoding: chunked", "Transfer-Encoding: chunked")}0\r\n\r\n${hidden}`,
    ],
    ["a coding that is nearly chunks", `${post("Transfer-Encoding: xchunked")}0\r\n\r\n${hidden}`],
    ["a coding in quotes", `${post('Transfer-Encoding: "chunked"')}0\r\n\r\n${hidden}`],
    [
      "a control octet before the coding",
      `${post("Transfer-Encoding: \x0bchunked")}0\r\n\r\n${hidden}`,
    ],
    ["no coding at all", `${post("Transfer-Encoding: identity")}${hidden}`],
    [
      "chunks of HTTP/1.0",
      `${lines("POST / HTTP/1.0", host, "Transfer-Encoding: chunked")}0\r\n\r\n${hidden}`,
    ],
    ["a blank before the colon", `${post("Content-Length : 2")}ok${hidden}`],
    [
      "a blank before the colon of the coding",
      `${post("Transfer-Encoding : chunked")}0\r\n\r\n${hidden}`,
    ],
    ["a blank in a name", `${post("Content Length: 2")}ok${hidden}`],
    ["a header without a name", `${post(": x")}${hidden}`],
    ["a header without a colon", `${post("X")}${hidden}`],
    ["a folded header", `${post("X: a", " b")}${hidden}`],
    ["a folded coding", `${post("Transfer-Encoding:", " chunked")}0\r\n\r\n${hidden}`],
    ["a blank before the first header", `GET / HTTP/1.1\r\n ${host}\r\n\r\n${hidden}`],
    ["line feeds alone", `GET / HTTP/1.1\n${host}\n\n${hidden}`],
    ["a line feed alone among headers", `${post("X: a\nContent-Length: 40")}${hidden}`],
    [
      "a line feed alone at the head's end",
      `POST / HTTP/1.1\r\n${host}\r\nContent-Length: 2\r\n\nok${hidden}`,
    ],
    ["a return alone among headers", `${post("X: a\rContent-Length: 40")}${hidden}`],
    ["a NUL in a header", `${post("X: a\0b")}${hidden}`],
    ["two hosts", `${lines("GET / HTTP/1.1", host, hostOf("good"))}${hidden}`],
    ["the same host twice", `${lines("GET / HTTP/1.1", host, host)}${hidden}`],
    ["no host", `${lines("GET / HTTP/1.1")}${hidden}`],
    ["an empty host", `${lines("GET / HTTP/1.1", "Host:")}${hidden}`],
    ["a host of two", lines("GET / HTTP/1.1", `${host}, good.example.com`)],
    ["a host with a user", lines("GET / HTTP/1.1", `Host: good@strict.example.com:${HTTP_PORT}`)],
    ["a host with a path", lines("GET / HTTP/1.1", "Host: strict.example.com/x")],
    ["an absolute target of another host", lines("GET http://good.example.com/ HTTP/1.1", host)],
    ["an absolute target with a user", lines("GET http://x@strict.example.com/ HTTP/1.1", host)],
    ["an absolute target of another scheme", lines("GET ftp://strict.example.com/ HTTP/1.1", host)],
    ["a target without a slash", lines("GET x HTTP/1.1", host)],
    ["a target of all", lines("OPTIONS * HTTP/1.1", host)],
    ["a target with a blank", lines("GET /a b HTTP/1.1", host)],
    ["a target with a tab", lines("GET /a\tb HTTP/1.1", host)],
    ["a target of an authority", lines("CONNECT strict.example.com:80 HTTP/1.1", host)],
    ["a method that is none", lines('G"T / HTTP/1.1', host)],
    ["a version that is none", lines("GET / HTTP/1.2", host)],
    ["HTTP/2 in the clear", lines("GET / HTTP/2.0", host)],
    [
      "a WebSocket of HTTP/2 in the clear",
      lines("GET / HTTP/2.0", host, "Connection: Upgrade", "Upgrade: websocket"),
    ],
    ["no version", `GET /\r\n${host}\r\n\r\n`],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"],
  ];
  for (const [name, octets] of refused) {
    attack(`is refused: ${name}`, async () => {
      using wire = await Wire.open(edge.http);
      wire.write(Buffer.from(octets, "latin1"));
      const { status } = await wire.answer();
      assert.ok(status >= 400 && status < 500, `answered with ${status}`);
      // What follows on the connection is a request of its own, or is dropped.
      const wanted = heardBy(origin).filter(({ line }) => !line.startsWith("GET /hidden "));
      assert.deepEqual(wanted, []);
    });
  }

  const brokenBodies: [name: string, body: string][] = [
    ["a chunk that is longer than it says", "2\r\nokay\r\n0\r\n\r\n"],
    ["a chunk's size with a sign", "+2\r\nok\r\n0\r\n\r\n"],
    ["a chunk's size in base sixteen, said so", "0x2\r\nok\r\n0\r\n\r\n"],
    ["a chunk's size past all bounds", "fffffffffffffffff\r\nok\r\n0\r\n\r\n"],
    ["a chunk's size behind a blank", " 2\r\nok\r\n0\r\n\r\n"],
    ["a line feed alone behind a chunk's size", "2\nok\r\n0\r\n\r\n"],
    ["a line feed alone behind a chunk", "2\r\nok\n0\r\n\r\n"],
    ["a line feed alone in a chunk's extension", "2;a\nb\r\nok\r\n0\r\n\r\n"],
    ["a line feed alone in the trailer", "2\r\nok\r\n0\r\nX: a\nY: b\r\n\r\n"],
    ["a chunk's extension without an end", `2;${"a".repeat(64 * 1024)}`],
    ["a length in the trailer", "2\r\nok\r\n0\r\nContent-Length: 2\r\n\r\n"],
    ["a trailer without an end", `0\r\n${"X: a\r\n".repeat(16 * 1024)}`],
  ];
  for (const [name, body] of brokenBodies) {
    attack(`never becomes whole: ${name}`, async () => {
      using wire = await Wire.open(edge.http);
      wire.write(`${post("Transfer-Encoding: chunked")}${body}${hidden}`);
      await until(() => wire.isClosed);
      assert.deepEqual(heardBy(origin), []);
      await until(() => origin.sockets.size === 0);
    });
  }

  const passed: [name: string, octets: string, body: string][] = [
    [
      "chunks with extensions and a trailer",
      `${post("Transfer-Encoding: chunked", "Trailer: X-Last")}2;a=b;c="d"\r\nok\r\n0;e\r\nX-Last: 1\r\nHost: x\r\n\r\n`,
      "ok",
    ],
    ["a coding in capitals", `${post("Transfer-Encoding: CHUNKED")}2\r\nok\r\n0\r\n\r\n`, "ok"],
    ["a length with zeros before it", `${post("Content-Length: 002")}ok`, "ok"],
    ["a body of GET", `${lines("GET / HTTP/1.1", host, "Content-Length: 2")}ok`, "ok"],
    [
      "an absolute target",
      lines(`GET http://strict.example.com:${HTTP_PORT}/x HTTP/1.1`, host),
      "",
    ],
    [
      "a Connection that names the length and the host",
      `${post("Content-Length: 2", "Connection: content-length, host, transfer-encoding")}ok`,
      "ok",
    ],
    [
      "a header with the name of another version's",
      lines("GET / HTTP/1.1", host, "X: :authority"),
      "",
    ],
    [
      "an upgrade with a body",
      `${post("Content-Length: 2", "Connection: Upgrade", "Upgrade: websocket")}ok`,
      "ok",
    ],
    [
      "an upgrade to HTTP/2 in the clear",
      lines(
        "GET / HTTP/1.1",
        host,
        "Connection: Upgrade, HTTP2-Settings",
        "Upgrade: h2c",
        "HTTP2-Settings: AAMAAABkAAQAAP__",
      ),
      "",
    ],
    ["HTTP/1.0", lines("GET / HTTP/1.0", host), ""],
    ["a long target", lines(`GET /${"a".repeat(15_000)} HTTP/1.1`, host), ""],
    [
      "many cookies",
      lines("GET / HTTP/1.1", host, ...Array.from({ length: 500 }, (_, i) => `Cookie: c${i}=${i}`)),
      "",
    ],
  ];
  for (const [name, octets, body] of passed) {
    attack(`becomes one that has one meaning: ${name}`, async () => {
      using wire = await Wire.open(edge.http);
      wire.write(Buffer.from(octets, "latin1"));
      assert.equal((await wire.answer()).status, 200);
      const all = heardBy(origin);
      assert.deepEqual(
        all.map((request) => request.body),
        [body],
      );
      const names = new Set(all[0]!.headers.map((header) => header.split(":")[0]!.toLowerCase()));
      for (const gone of ["x-last", "upgrade", "connection", "http2-settings"]) {
        assert.ok(!names.has(gone), gone);
      }
    });
  }

  attack("has an end, so that those behind it are heard as they are", async () => {
    using wire = await Wire.open(edge.http);
    wire.write(
      `${post("Content-Length: 2")}ok${post("Transfer-Encoding: chunked")}0\r\n\r\n${hidden}`,
    );
    for (let i = 0; i < 3; i++) assert.equal((await wire.answer()).status, 200);
    const targets = heardBy(origin).map(({ line }) => line.split(" ")[1]!);
    assert.deepEqual(targets.toSorted(), ["/", "/", "/hidden"]);
  });

  attack("is too large: answered with 431", async () => {
    for (const head of [
      requestFor("strict", `X: ${"a".repeat(20_000)}`),
      requestFor("strict", ...Array.from({ length: 5_000 }, (_, i) => `X${i}: y`)),
      lines(`GET /${"a".repeat(20_000)} HTTP/1.1`, host),
    ]) {
      using wire = await Wire.open(edge.http);
      wire.write(head);
      assert.equal((await wire.answer()).status, 431);
    }
    assert.deepEqual(heardBy(origin), []);
  });
});

suite("a request of HTTP/2", async () => {
  const origin = await edge.origin("down");
  const authority = `down.example.com:${HTTPS_PORT}`;
  const pseudo = (changed: Record<string, string> = {}): Fields =>
    Object.entries({
      ":method": "GET",
      ":scheme": "https",
      ":path": "/",
      ":authority": authority,
      ...changed,
    });
  const injected = "a\r\nX-Injected: 1\r\n\r\nGET /hidden HTTP/1.1";

  const bad: [name: string, fields: Fields][] = [
    ["another Host than its authority", [...pseudo(), ["host", `good.example.com:${HTTPS_PORT}`]]],
    ["two Hosts", [...pseudo(), ["host", authority], ["host", authority]]],
    ["two authorities", [...pseudo(), [":authority", "good.example.com"]]],
    ["an authority with a user", pseudo({ ":authority": `x@${authority}` })],
    ["an authority with a line", pseudo({ ":authority": `${authority}\r\nX-Injected: 1` })],
    ["an empty authority", pseudo({ ":authority": "" })],
    ["no path", pseudo().filter(([name]) => name !== ":path")],
    ["an empty path", pseudo({ ":path": "" })],
    ["two paths", [...pseudo(), [":path", "/hidden"]]],
    ["a path with a blank", pseudo({ ":path": "/ HTTP/1.1" })],
    ["a path with a line", pseudo({ ":path": `/${injected}` })],
    ["a path with a NUL", pseudo({ ":path": "/\0" })],
    ["a path without a slash", pseudo({ ":path": "x" })],
    ["a path of another host", pseudo({ ":path": "https://good.example.com/" })],
    ["a method with a line", pseudo({ ":method": `GET /${injected}` })],
    ["a method with a blank", pseudo({ ":method": "GET /hidden" })],
    ["no method", pseudo().filter(([name]) => name !== ":method")],
    ["a pseudo-header behind others", [["a", "b"], ...pseudo()]],
    ["a pseudo-header that is none", [...pseudo(), [":x", "y"]]],
    ["one of an answer", [...pseudo(), [":status", "200"]]],
    ["Transfer-Encoding", [...pseudo({ ":method": "POST" }), ["transfer-encoding", "chunked"]]],
    ["Connection", [...pseudo(), ["connection", "close"]]],
    ["Upgrade", [...pseudo(), ["upgrade", "websocket"]]],
    ["Keep-Alive", [...pseudo(), ["keep-alive", "1"]]],
    ["TE with more than trailers", [...pseudo(), ["te", "gzip"]]],
    [
      "two lengths",
      [...pseudo({ ":method": "POST" }), ["content-length", "0"], ["content-length", "2"]],
    ],
    ["a length and no body", [...pseudo({ ":method": "POST" }), ["content-length", "2"]]],
    ["a length that is no number", [...pseudo({ ":method": "POST" }), ["content-length", "+0"]]],
    [
      "a WebSocket",
      [
        ...pseudo({ ":method": "CONNECT", ":protocol": "websocket" }),
        ["sec-websocket-version", "13"],
      ],
    ],
    [
      "a tunnel",
      [
        [":method", "CONNECT"],
        [":authority", authority],
      ],
    ],
    [
      "more headers than are taken",
      [...pseudo(), ...Array.from({ length: 1_000 }, (_, i) => [`x${i}`, "y"] as const)],
    ],
    [
      "larger headers than are taken",
      [...pseudo(), ["x", "y".repeat(16_000)], ["z", "y".repeat(1_000)]],
    ],
  ];
  for (const [name, fields] of bad) {
    attack(`does not reach the origin: ${name}`, async () => {
      using wire = await H2Wire.open(edge.https, "down.example.com");
      const block = fieldBlock(fields);
      if (block.length <= 16_384) wire.headers(1, fields);
      else wire.write(splitHeaders(block));
      const end = await wire.end(1);
      assert.ok(typeof end === "string" || (end >= 400 && end < 500), `answered with ${end}`);
      assert.deepEqual(heardBy(origin), []);
    });
  }

  const dropped: [name: string, field: readonly [string, string]][] = [
    ["a name in capitals", ["X-Upper", "1"]],
    ["a name with a blank", ["x y", "1"]],
    ["a name with a colon", ["x:y", "1"]],
    ["a name with a line", ["x\r\ny", "1"]],
    ["an empty name", ["", "1"]],
    ["a value with a line", ["x", injected]],
    ["a value with a line feed", ["x", "a\nb"]],
    ["a value with a return", ["x", "a\rb"]],
    ["a value with a NUL", ["x", "a\0b"]],
  ];
  for (const [name, field] of dropped) {
    attack(`cannot bring its origin ${name}`, async () => {
      using wire = await H2Wire.open(edge.https, "down.example.com");
      wire.headers(1, [...pseudo(), field, ["x-behind", "1"]]);
      const end = await wire.end(1);
      const all = heardBy(origin);
      assert.equal(all.length, end === 200 ? 1 : 0);
      const names = new Set(
        all.flatMap(({ headers }) => headers.map((header) => header.split(":")[0]!)),
      );
      for (const lost of [field[0], "x", "X-Injected"]) assert.ok(!names.has(lost), lost);
    });
  }

  attack("has one Host for its origin, and one Cookie of all its crumbs", async () => {
    using wire = await H2Wire.open(edge.https, "down.example.com");
    wire.headers(1, [
      ...pseudo(),
      ["host", authority],
      ["cookie", "a=1"],
      ["x", "y"],
      ["cookie", "b=2; c=3"],
      ["cookie", "d=4"],
    ]);
    assert.equal(await wire.end(1), 200);
    const [request] = heardBy(origin);
    assert.deepEqual(valuesOf(request!.headers, "host"), [authority]);
    assert.deepEqual(valuesOf(request!.headers, "cookie"), ["a=1; b=2; c=3; d=4"]);
    assert.deepEqual(valuesOf(request!.headers, "x"), ["y"]);
  });

  attack("may name its host with Host alone", async () => {
    using wire = await H2Wire.open(edge.https, "down.example.com");
    wire.headers(1, [...pseudo().filter(([name]) => name !== ":authority"), ["host", authority]]);
    assert.equal(await wire.end(1), 200);
    assert.deepEqual(valuesOf(heardBy(origin)[0]!.headers, "host"), [authority]);
  });

  const trailers: [name: string, fields: Fields, kept: readonly string[]][] = [
    ["a sum", [["x-last", "1"]], ["x-last: 1"]],
    ["a length", [["content-length", "9"]], []],
    ["a host", [["host", "good.example.com"]], []],
    ["a value with a line", [["x-lines", injected]], []],
    ["a name with a line", [["x-\r\ny", "1"]], []],
    ["a connection", [["connection", "close"]], []],
  ];
  for (const [name, fields, kept] of trailers) {
    attack(`whose trailer has ${name} is whole with what may stand there, or never`, async () => {
      using wire = await H2Wire.open(edge.https, "down.example.com");
      wire.headers(1, pseudo({ ":method": "POST" }), END_HEADERS);
      wire.frame(FRAME.data, 0, 1, Buffer.from("ok"));
      wire.headers(1, fields);
      const end = await wire.end(1);
      const heard = heardBy(origin).map(({ body, trailers: last }) => [body, last]);
      assert.deepEqual(heard, end === 200 ? [["ok", kept]] : []);
    });
  }

  attack("with more in its trailer than is taken arrives without it, or not at all", async () => {
    using wire = await H2Wire.open(edge.https, "down.example.com");
    wire.headers(1, pseudo({ ":method": "POST" }), END_HEADERS);
    wire.frame(FRAME.data, 0, 1, Buffer.from("ok"));
    wire.headers(1, [["x-last", "a".repeat(9_000)]]);
    assert.equal(await wire.end(1), 200);
    assert.deepEqual(
      heardBy(origin).map(({ body, trailers }) => [body, trailers]),
      [["ok", []]],
    );
    using other = await H2Wire.open(edge.https, "down.example.com");
    other.headers(1, pseudo({ ":method": "POST" }), END_HEADERS);
    other.write(splitHeaders(fieldBlock([["x-last", "a".repeat(70_000)]])));
    assert.equal(typeof (await other.end(1)), "string");
    assert.deepEqual(heardBy(origin), []);
  });

  attack("whose body is not as long as it says never becomes whole", async () => {
    for (const body of ["o", "okay"]) {
      using wire = await H2Wire.open(edge.https, "down.example.com");
      wire.headers(1, [...pseudo({ ":method": "POST" }), ["content-length", "2"]], END_HEADERS);
      await until(() => origin.sockets.size > 0);
      wire.frame(FRAME.data, END_STREAM, 1, Buffer.from(body));
      assert.equal(typeof (await wire.end(1)), "string");
      wire.socket.destroy();
      await until(() => origin.sockets.size === 0);
      assert.deepEqual(
        heardBy(origin).filter((request) => request.body !== "ok"),
        [],
      );
    }
  });
});

/** A block of fields in as many frames as it takes. */
function splitHeaders(block: Buffer, stream = 1): Buffer {
  const parts: Buffer[] = [];
  for (let at = 0; at < block.length; at += 16_384) {
    const isLast = at + 16_384 >= block.length;
    const type = at === 0 ? FRAME.headers : FRAME.continuation;
    const flags = (at === 0 ? END_STREAM : 0) | (isLast ? END_HEADERS : 0);
    parts.push(frame(type, flags, stream, block.subarray(at, at + 16_384)));
  }
  return Buffer.concat(parts);
}

suite("a flood of HTTP/2", async () => {
  const origin = await edge.origin("flood");
  const silent = await edge.origin("silent-flood", () => {});
  const open = () => H2Wire.open(edge.https, "flood.example.com");
  const fields = (name: string): Fields => [
    [":method", "GET"],
    [":scheme", "https"],
    [":path", "/"],
    [":authority", `${name}.example.com:${HTTPS_PORT}`],
  ];
  const cancel = Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]);

  attack(
    "of requests that are reset at once ends with its connection (CVE-2023-44487)",
    async () => {
      using wire = await open();
      const requests = Array.from({ length: 5_000 }, (_, i) => [
        frame(FRAME.headers, END_HEADERS | END_STREAM, 2 * i + 1, fieldBlock(fields("flood"))),
        frame(FRAME.reset, 0, 2 * i + 1, cancel),
      ]);
      wire.write(Buffer.concat(requests.flat()));
      await wire.closed();
      assert.ok(origin.heard.splice(0).length < 1_000, "the origin was spared");
      await until(() => origin.sockets.size < 10);
    },
  );

  attack(
    "of requests that make the server reset them ends with its connection (CVE-2025-8671)",
    async () => {
      using wire = await open();
      const none = Buffer.alloc(4); // An update by nothing is an error of its stream.
      const requests = Array.from({ length: 5_000 }, (_, i) => [
        frame(FRAME.headers, END_HEADERS | END_STREAM, 2 * i + 1, fieldBlock(fields("flood"))),
        frame(FRAME.windowUpdate, 0, 2 * i + 1, none),
      ]);
      wire.write(Buffer.concat(requests.flat()));
      await wire.closed();
      assert.ok(origin.heard.splice(0).length < 2_000, "the origin was spared");
      await until(() => origin.sockets.size < 10);
    },
  );

  attack("of streams at once is held to their number", async () => {
    using wire = await H2Wire.open(edge.https, "silent-flood.example.com");
    const block = fieldBlock(fields("silent-flood"));
    for (let i = 0; i < 400; i++) {
      wire.frame(FRAME.headers, END_HEADERS | END_STREAM, 2 * i + 1, block);
    }
    const last = await wire.end(799);
    assert.equal(typeof last, "string", "the last is one too many");
    assert.ok(silent.heard.splice(0).length <= 128);
    wire.socket.destroy();
    await until(() => silent.sockets.size === 0);
  });

  attack("of CONTINUATION without an end is cut off", async () => {
    using wire = await open();
    wire.frame(FRAME.headers, END_STREAM, 1, fieldBlock(fields("flood")));
    const more = frame(FRAME.continuation, 0, 1, fieldBlock([["x", "y".repeat(1_000)]]));
    for (let i = 0; i < 2_000 && !wire.isClosed; i++) {
      wire.write(more);
      if (i % 50 === 0) await wait(1);
    }
    await wire.closed();
    assert.deepEqual(heardBy(origin), []);
  });

  attack("of empty CONTINUATION frames is cut off", async () => {
    using wire = await open();
    wire.frame(FRAME.headers, END_STREAM, 1, fieldBlock(fields("flood")));
    wire.write(
      Buffer.concat(
        Array.from({ length: 2_000 }, () => frame(FRAME.continuation, 0, 1, Buffer.alloc(0))),
      ),
    );
    await wire.closed();
    assert.deepEqual(heardBy(origin), []);
  });

  /** Frames that want an answer each, from a client that reads none. */
  const unread: [name: string, octets: Buffer][] = [
    ["PING", frame(FRAME.ping, 0, 0, Buffer.alloc(8))],
    ["SETTINGS", frame(FRAME.settings, 0, 0, Buffer.alloc(0))],
  ];
  for (const [name, octets] of unread) {
    attack(`of ${name} whose answers are not read costs a bounded memory`, async () => {
      using wire = await open();
      wire.socket.pause();
      const many = Buffer.concat(Array.from({ length: 10_000 }, () => octets));
      for (let i = 0; i < 50 && !wire.socket.destroyed; i++) wire.write(many);
      await assertServes();
    });
  }

  const idle: [name: string, octets: Buffer][] = [
    ["empty DATA", frame(FRAME.data, 0, 1, Buffer.alloc(0))],
    ["PRIORITY", frame(FRAME.priority, 0, 3, Buffer.from([0, 0, 0, 1, 1]))],
    ["window updates", frame(FRAME.windowUpdate, 0, 0, Buffer.from([0, 0, 0, 1]))],
    ["unknown frames", frame(0xbe, 0, 0, Buffer.alloc(16))],
  ];
  for (const [name, octets] of idle) {
    attack(`of ${name} does not keep others waiting`, async () => {
      using wire = await open();
      const post = fields("flood").map(
        ([key, value]) => [key, key === ":method" ? "POST" : value] as const,
      );
      wire.headers(1, post, END_HEADERS);
      wire.write(Buffer.concat(Array.from({ length: 20_000 }, () => octets)));
      await assertServes();
    });
  }

  attack("of headers that unpack to much more is refused", async () => {
    using wire = await open();
    // One entry of the table, then thousands of references to it. RFC 7541 §6.1.
    const entry = Buffer.concat([
      Buffer.of(0x40),
      fieldBlock([["x", "y".repeat(3_000)]]).subarray(1),
    ]);
    const block = Buffer.concat([fieldBlock(fields("flood")), entry, Buffer.alloc(10_000, 0xbe)]);
    wire.frame(FRAME.headers, END_HEADERS | END_STREAM, 1, block);
    assert.equal(typeof (await wire.end(1)), "string");
    assert.deepEqual(heardBy(origin), []);
  });
});

suite("a client that takes its time", { concurrency: true }, async () => {
  const origin = await edge.origin("slow");
  after(async () => {
    await until(() => origin.sockets.size === 0);
    assert.deepEqual(heardBy(origin), [], "none of them became whole");
  });

  /** Sends an octet now and then until the server hangs up. */
  async function drip(write: (octet: number) => void, isClosed: () => boolean): Promise<void> {
    for (let i = 0; !isClosed(); i++) {
      write(i);
      await wait(100);
    }
  }

  function openTls(): Socket {
    const socket = connectTls({
      host: edge.https.hostname,
      port: Number(edge.https.port),
      servername: "slow.example.com",
      rejectUnauthorized: false,
    });
    return socket.on("error", () => {}).on("data", () => {});
  }

  attack("with a head is cut off", async () => {
    using wire = await Wire.open(edge.http);
    wire.write("GET / HTTP/1.1\r\nX: ");
    await drip(
      () => wire.write("a"),
      () => wire.isClosed,
    );
    assert.equal((await wire.answer()).status, 408);
  });

  attack("with a head over TLS is cut off", async () => {
    const socket = openTls();
    await once(socket, "secureConnect");
    socket.write("GET / HTTP/1.1\r\nX: ");
    await drip(
      () => socket.write("a"),
      () => socket.destroyed,
    );
  });

  attack("with the handshake of TLS, or after it, is cut off", async () => {
    const socket = openTls();
    await once(socket, "secureConnect");
    await until(() => socket.destroyed);
  });

  attack("with a body is cut off, and its origin let go", async () => {
    using wire = await Wire.open(edge.http);
    wire.write(lines("POST /slow-body HTTP/1.1", hostOf("slow"), "Content-Length: 1000"));
    await drip(
      () => wire.write("a"),
      () => wire.isClosed,
    );
    assert.equal((await wire.answer()).status, 408);
  });

  attack("with a body over TLS is cut off", async () => {
    const socket = openTls();
    await once(socket, "secureConnect");
    socket.write(lines("POST /slow-body HTTP/1.1", hostOf("slow"), "Content-Length: 1000"));
    await drip(
      () => socket.write("a"),
      () => socket.destroyed,
    );
  });

  attack("with a head of HTTP/2 is cut off", async () => {
    using wire = await H2Wire.open(edge.https, "slow.example.com");
    const octets = frame(FRAME.headers, END_HEADERS, 1, Buffer.alloc(10_000));
    await drip(
      (i) => wire.write(octets.subarray(i, i + 1)),
      () => wire.isClosed,
    );
  });

  attack("with the preface of HTTP/2 is cut off", async () => {
    const { hostname: host, port } = edge.https;
    const to = { host, port: Number(port), servername: "slow.example.com" };
    const socket = connectTls({ ...to, ALPNProtocols: ["h2"], rejectUnauthorized: false });
    socket.on("error", () => {}).on("data", () => {});
    await once(socket, "secureConnect");
    await drip(
      (i) => socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".slice(i, i + 1) || "\0"),
      () => socket.destroyed,
    );
  });

  attack("with a body of HTTP/2 is cut off, while its connection lives", async () => {
    using wire = await H2Wire.open(edge.https, "slow.example.com");
    wire.headers(
      1,
      [
        [":method", "POST"],
        [":scheme", "https"],
        [":path", "/slow-body"],
        [":authority", `slow.example.com:${HTTPS_PORT}`],
      ],
      END_HEADERS,
    );
    let end: unknown = null;
    void wire.end(1).then((how) => (end = how));
    await drip(
      () => wire.frame(FRAME.data, 0, 1, Buffer.from("a")),
      () => end !== null,
    );
    assert.ok(end === "reset" || end === 408, `ended with ${String(end)}`);
    assert.equal(wire.isClosed, false);
  });

  attack("with a body of HTTP/2 that keeps moving has all the time it needs", async () => {
    await edge.origin("moving");
    const session = edge.session("moving");
    const stream = session.request({ ":method": "POST", ":path": "/" });
    for (const end = performance.now() + 1.5 * REQUEST_SECONDS * 1_000; performance.now() < end;) {
      stream.write(Buffer.alloc(64 * 1024));
      await wait(100);
    }
    stream.end();
    assert.equal((await respond(stream)).status, 200);
    session.destroy();
  });
});

suite("an origin", { concurrency: true }, () => {
  const OK = "HTTP/1.1 200 OK\r\n";
  const garbage: [name: string, answer: string][] = [
    ["no HTTP", "SSH-2.0-OpenSSH_9.9\r\n\r\n"],
    [
      "octets of all kinds",
      `${String.fromCharCode(...Array.from({ length: 256 }, (_, i) => i))}\r\n\r\n`,
    ],
    ["a status that is none", "HTTP/1.1 99 Low\r\nContent-Length: 0\r\n\r\n"],
    ["another version", "HTTP/2 200\r\nContent-Length: 0\r\n\r\n"],
    ["two lengths", `${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nok`],
    [
      "a length and chunks",
      `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ["a negative length", `${OK}Content-Length: -1\r\n\r\n`],
    ["a folded header", `${OK}X: a\r\n b\r\nContent-Length: 0\r\n\r\n`],
    ["a line feed in a header", `${OK}X: a\nX-Injected: 1\r\nContent-Length: 0\r\n\r\n`],
    ["a return in a header", `${OK}X: a\rX-Injected: 1\r\nContent-Length: 0\r\n\r\n`],
    ["a NUL in a header", `${OK}X: a\0b\r\nContent-Length: 0\r\n\r\n`],
    ["a return in its reason", "HTTP/1.1 200 O\rX-Injected: 1\r\nContent-Length: 0\r\n\r\n"],
    ["a blank before a colon", `${OK}X : a\r\nContent-Length: 0\r\n\r\n`],
    [
      "another protocol that nobody wanted",
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhello",
    ],
    ["a head without an end", `${OK}${"X: a\r\n".repeat(20_000)}`],
  ];
  garbage.forEach(([name, answer], i) => {
    attack(`that answers with ${name} is a bad gateway`, async () => {
      await edge.origin(`garbage${i}`, saying(answer));
      const answers = await Promise.all([ask(`garbage${i}`), askHttp2(`garbage${i}`)]);
      for (const { status, headers, text } of answers) {
        assert.deepEqual([status, headers["x-injected"]], [502, undefined]);
        assert.match(text, /"origin_down"/);
      }
    });
  });

  const cut: [name: string, answer: string][] = [
    ["a part of its length", `${OK}Content-Length: 9\r\n\r\nhalf`],
    ["a part of its chunks", `${OK}Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n`],
    ["a chunk without a size", `${OK}Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nx\r\n`],
    ["a chunk that is longer than it says", `${OK}Transfer-Encoding: chunked\r\n\r\n3\r\nhalf\r\n`],
  ];
  cut.forEach(([name, answer], i) => {
    attack(`that breaks off after ${name} never looks whole`, async () => {
      await edge.origin(`cut${i}`, (socket) => socket.end(answer));
      await assert.rejects(ask(`cut${i}`));
      await assert.rejects(askHttp2(`cut${i}`));
    });
  });

  attack("that closes without a word is a bad gateway", async () => {
    await edge.origin("closes", (socket) => socket.destroy());
    assert.equal((await ask("closes")).status, 502);
    assert.equal((await askHttp2("closes")).status, 502);
  });

  const never: [name: string, behave: (socket: Socket) => void][] = [
    ["answers nothing", () => {}],
    ["trickles its head", (socket) => trickle(socket, `${OK}X: ${"a".repeat(1_000)}`)],
    [
      "has only news of an answer",
      (socket) => repeat(socket, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
    ],
  ];
  never.forEach(([name, behave], i) => {
    attack(`that ${name} has its time, and is let go`, async () => {
      const origin = await edge.origin(`never${i}`, behave);
      const answers = await Promise.all([ask(`never${i}`), askHttp2(`never${i}`)]);
      for (const { status, text } of answers) {
        assert.equal(status, 504);
        assert.match(text, /"origin_timeout"/);
      }
      await until(() => origin.sockets.size === 0);
    });
  });

  attack("that trickles its body is passed on as it comes", async () => {
    await edge.origin("trickles", (socket) =>
      trickle(socket, `${OK}Content-Length: 5\r\n\r\nhello`, OK.length + 21),
    );
    assert.equal((await ask("trickles")).text, "hello");
  });

  attack("that sends without an end to a client that reads nothing is made to wait", async () => {
    const sent: { octets: number }[] = [];
    await edge.origin("endless", (socket) => {
      const count = { octets: 0 };
      sent.push(count);
      socket.write(`${OK}Connection: close\r\n\r\n`);
      void flood(socket, count);
    });
    const socket = connect(Number(new URL(edge.http).port), new URL(edge.http).hostname);
    socket.on("error", () => {}).pause();
    socket.write(requestFor("endless"));
    using wire = await H2Wire.open(edge.https, "endless.example.com");
    wire.headers(1, [
      [":method", "GET"],
      [":scheme", "https"],
      [":path", "/"],
      [":authority", `endless.example.com:${HTTPS_PORT}`],
    ]);
    await until(() => sent.length === 2 && sent.every(({ octets }) => octets > MIB));
    await wait(500);
    for (const { octets } of sent) assert.ok(octets < 32 * MIB, `${octets} octets were taken`);
    assert.ok(wire.octetsOf(1) <= 65_535, "no more than the client's window");
    socket.destroy();
  });

  const odd: [name: string, answer: string, status: number, text: string][] = [
    [
      "news before it",
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`,
      200,
      "ok",
    ],
    ["HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nok", 200, "ok"],
    ["no reason", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok", 200, "ok"],
    ["the same length twice", `${OK}Content-Length: 2\r\nContent-Length: 2\r\n\r\nok`, 200, "ok"],
    [
      "a trailer",
      `${OK}Transfer-Encoding: chunked\r\nTrailer: X-Last\r\n\r\n2\r\nok\r\n0\r\nX-Last: 1\r\n\r\n`,
      200,
      "ok",
    ],
    [
      "a trailer with lengths and cookies",
      `${OK}Transfer-Encoding: chunked\r\nTrailer: Content-Length\r\n\r\n2\r\nok\r\n0\r\nContent-Length: 9\r\nSet-Cookie: a=1\r\nTransfer-Encoding: x\r\n\r\n`,
      200,
      "ok",
    ],
    [
      "news with a length",
      `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 9\r\n\r\n${OK}Content-Length: 2\r\n\r\nok`,
      200,
      "ok",
    ],
    [
      "204 that announces a body",
      "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok",
      204,
      "",
    ],
    [
      "204 that announces chunks",
      "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
      204,
      "",
    ],
    [
      "304 that announces a body",
      'HTTP/1.1 304 Not Modified\r\nETag: "a"\r\nContent-Length: 2\r\n\r\nok',
      304,
      "",
    ],
    [
      "two types",
      `${OK}Content-Type: a/b\r\nContent-Type: c/d\r\nContent-Length: 2\r\n\r\nok`,
      200,
      "ok",
    ],
    [
      "two cookies",
      `${OK}Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 2\r\n\r\nok`,
      200,
      "ok",
    ],
    [
      "headers of its connection",
      `${OK}Connection: x-gone\r\nX-Gone: 1\r\nKeep-Alive: 1\r\nProxy-Connection: x\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\nok`,
      200,
      "ok",
    ],
    [
      "a second answer behind it",
      `${OK}Content-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhidden`,
      200,
      "ok",
    ],
  ];
  odd.forEach(([name, answer, status, text], i) => {
    attack(`whose answer has ${name} is heard as it meant`, async () => {
      await edge.origin(`odd${i}`, (socket) => {
        socket.write(answer, "latin1");
        if (answer.startsWith("HTTP/1.0")) socket.end();
      });
      for (let times = 0; times < 2; times++) {
        for (const got of [await ask(`odd${i}`), await askHttp2(`odd${i}`)]) {
          assert.deepEqual([got.status, got.text], [status, text]);
          assert.equal(got.headers["x-gone"], undefined);
          if (status === 204) assert.equal(got.headers["content-length"], undefined);
          if (name === "two cookies") assert.deepEqual(got.headers["set-cookie"], ["a=1", "b=2"]);
        }
      }
    });
  });

  attack("that has more to say in its head than clients take does no harm", async () => {
    const long = `X: ${"a".repeat(1_000)}\r\n`.repeat(60);
    await edge.origin("wordy", saying(`${OK}${long}Content-Length: 2\r\n\r\nok`));
    using wire = await Wire.open(edge.http);
    wire.write(requestFor("wordy"));
    assert.equal((await wire.answer()).status, 200);
    await askHttp2("wordy").catch(() => {});
  });

  attack("answers HEAD without a body, with the length that it would have", async () => {
    await edge.origin("head", saying(`${OK}Content-Length: 12345\r\n\r\n`));
    for (const { status, headers, text } of [
      await ask("head", "HEAD"),
      await askHttp2("head", { ":method": "HEAD" }),
    ]) {
      assert.deepEqual([status, headers["content-length"], text], [200, "12345", ""]);
    }
  });

  attack("hears no Expect: its client is told to go on at once", async () => {
    const origin = await edge.origin("expects");
    using wire = await Wire.open(edge.http);
    wire.write(
      lines("POST / HTTP/1.1", hostOf("expects"), "Expect: 100-continue", "Content-Length: 2"),
    );
    assert.equal((await wire.answer()).status, 100);
    wire.write("ok");
    assert.equal((await wire.answer()).status, 200);
    const session = edge.session("expects");
    const stream = session.request({ ":method": "POST", ":path": "/", expect: "100-continue" });
    await once(stream, "continue");
    stream.end("ok");
    assert.equal((await respond(stream)).status, 200);
    session.destroy();
    const all = heardBy(origin);
    assert.deepEqual(
      all.map(({ body }) => body),
      ["ok", "ok"],
    );
    for (const { headers } of all) assert.deepEqual(valuesOf(headers, "expect"), []);
  });

  function trickle(socket: Socket, text: string, from = 0): void {
    socket.write(text.slice(0, from));
    void (async () => {
      for (let at = from; at < text.length && !socket.destroyed; at++) {
        socket.write(text[at]!);
        await wait(20);
      }
    })();
  }

  function repeat(socket: Socket, text: string): void {
    void (async () => {
      while (!socket.destroyed) {
        if (!socket.write(text)) await drained(socket);
        await wait(1);
      }
    })();
  }

  function drained(socket: Socket): Promise<void> {
    return new Promise((resolve) => socket.once("drain", resolve).once("close", resolve));
  }

  async function flood(socket: Socket, count: { octets: number }): Promise<void> {
    const octets = Buffer.alloc(64 * 1024);
    while (!socket.destroyed && count.octets < 128 * MIB) {
      const goesOn = socket.write(octets);
      count.octets += octets.length;
      if (!goesOn) await drained(socket);
    }
  }
});

suite("a client that leaves lets go of its origin", async () => {
  /** Says half an answer, and goes no further. */
  const origin = await edge.origin("left", (socket) => {
    socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\nhalf");
  });
  const to = (method: string): Fields => [
    [":method", method],
    [":scheme", "https"],
    [":path", "/"],
    [":authority", `left.example.com:${HTTPS_PORT}`],
  ];
  const isGone = () => until(() => origin.sockets.size === 0);
  const isThere = () => until(() => origin.sockets.size === 1);

  for (const [name, request] of [
    ["in the middle of a download", requestFor("left")],
    [
      "in the middle of an upload",
      `${lines("POST / HTTP/1.1", hostOf("left"), "Content-Length: 9")}half`,
    ],
    [
      "in the middle of a chunk",
      `${lines("POST / HTTP/1.1", hostOf("left"), "Transfer-Encoding: chunked")}9\r\nhalf`,
    ],
  ] as const) {
    attack(name, async () => {
      const wire = await Wire.open(edge.http);
      wire.write(request);
      await isThere();
      wire[Symbol.dispose]();
      await isGone();
    });
  }

  attack(
    "in the middle of a download over HTTP/2, with its stream or with its connection",
    async () => {
      using wire = await H2Wire.open(edge.https, "left.example.com");
      wire.headers(1, to("GET"));
      await isThere();
      wire.frame(FRAME.reset, 0, 1, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]));
      await isGone();
      wire.headers(3, to("GET"));
      await isThere();
      wire.socket.destroy();
      await isGone();
    },
  );

  attack("in the middle of an upload over HTTP/2", async () => {
    using wire = await H2Wire.open(edge.https, "left.example.com");
    wire.headers(1, to("POST"), END_HEADERS);
    wire.frame(FRAME.data, 0, 1, Buffer.from("half"));
    await isThere();
    wire.frame(FRAME.reset, 0, 1, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]));
    await isGone();
  });

  for (const level of ["bypass", "aggressive"]) {
    attack(`before it has any answer, with the cache at ${level}`, async () => {
      const endless = await edge.origin(`gone-${level}`, (socket) => {
        socket.write(
          "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 9999999\r\n\r\n",
        );
        setTimeout(() => socket.write(Buffer.alloc(9_000_000)), 50);
      });
      await edge.setting("cache_level", level);
      const name = `gone-${level}.example.com`;
      using wire = await H2Wire.open(edge.https, name);
      for (let i = 0; i < 20; i++) {
        const path = `/${i}`;
        const fields = {
          ":method": "GET",
          ":scheme": "https",
          ":path": path,
          ":authority": `${name}:${HTTPS_PORT}`,
        };
        wire.headers(2 * i + 1, Object.entries(fields));
        wire.frame(FRAME.reset, 0, 2 * i + 1, Buffer.from([0, 0, 0, constants.NGHTTP2_CANCEL]));
        const one = await Wire.open(edge.http);
        one.write(lines(`GET ${path} HTTP/1.1`, hostOf(`gone-${level}`)));
        one[Symbol.dispose]();
      }
      await wait(100);
      await until(() => endless.sockets.size === 0);
      await edge.setting("cache_level", "bypass");
    });
  }

  attack("also when it only stops reading, in time", async () => {
    using wire = await H2Wire.open(edge.https, "left.example.com");
    wire.headers(1, to("GET"));
    await isThere();
    await isGone();
  });
});

attack("a thousand idle connections cost little, and go in time", async () => {
  const before = edge.memory();
  const { hostname, port } = new URL(edge.http);
  const sockets = await Promise.all(
    Array.from({ length: IDLE_CONNECTIONS }, async () => {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => {}).on("data", () => {});
      await once(socket, "connect");
      return socket;
    }),
  );
  await assertServes();
  const each = ((edge.memory() - before) * 1024) / IDLE_CONNECTIONS;
  assert.ok(each < 40, `${Math.round(each)} KiB a connection`);
  await until(() => sockets.every((socket) => socket.destroyed));
});
