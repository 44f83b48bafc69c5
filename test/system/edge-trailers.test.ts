/** What stands before an answer and behind a body, across the edge on the wire. RFC 8297, RFC 9110 §6.5. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, suite, test } from "node:test";
import { Edge, HTTP_PORT, HTTPS_PORT, ONE_THREAD, saying, valuesOf } from "./edge-rig.ts";

const edge = await Edge.start(ONE_THREAD);
after(() => edge[Symbol.asyncDispose]());

/** All that comes back to these octets, until the connection ends. */
async function exchange(octets: string): Promise<string> {
  const { hostname, port } = new URL(edge.http);
  const socket = connect(Number(port), hostname);
  socket.write(octets, "latin1");
  let text = "";
  for await (const chunk of socket.setEncoding("latin1")) text += chunk as string;
  return text;
}

function request(name: string, line: string, ...headers: readonly string[]): string {
  const host = `Host: ${name}.example.com:${HTTP_PORT}`;
  return `${[line, host, "Connection: close", ...headers].join("\r\n")}\r\n\r\n`;
}

interface Heard {
  readonly news: Record<string, unknown>[];
  readonly head: Record<string, unknown>;
  readonly text: string;
  readonly trailers: Record<string, unknown>;
}

/** What a client of HTTP/2 hears. */
async function askHttp2(
  name: string,
  fields: Record<string, string> = {},
  body?: { readonly text: string; readonly trailers: Record<string, string> },
): Promise<Heard> {
  const session = edge.session(name);
  try {
    const authority = `${name}.example.com:${HTTPS_PORT}`;
    const stream = session.request(
      { ":path": "/", ":authority": authority, ...fields },
      { endStream: body === undefined, waitForTrailers: body !== undefined },
    );
    if (body !== undefined) {
      stream.once("wantTrailers", () => stream.sendTrailers(body.trailers));
      stream.end(body.text);
    }
    const news: Record<string, unknown>[] = [];
    let trailers: Record<string, unknown> = {};
    stream.on("headers", (headers) => news.push(headers));
    stream.on("trailers", (last) => (trailers = Object.fromEntries(Object.entries(last))));
    const [head] = (await once(stream, "response")) as [Record<string, unknown>];
    let text = "";
    for await (const chunk of stream.setEncoding("latin1")) text += chunk as string;
    return { news, head, text, trailers };
  } finally {
    session.destroy();
  }
}

suite("trailers of a request", async () => {
  const origin = await edge.origin("up");
  const chunks = "2\r\nok\r\n0\r\n";

  test("in chunks reach the origin, those that say how it is read do not", async () => {
    const head = request(
      "up",
      "POST / HTTP/1.1",
      "Transfer-Encoding: chunked",
      "Trailer: X-Sum, Host",
    );
    const answer = await exchange(
      `${head}${chunks}X-Sum: 1\r\nHost: x\r\nAuthorization: x\r\nContent-Type: x\r\nIf-Match: x\r\nCF-Connecting-IP: x\r\nx-sum: 2\r\n\r\n`,
    );
    assert.match(answer, /^HTTP\/1\.1 200 /);
    const heard = origin.heard.pop()!;
    assert.deepEqual([heard.body, heard.trailers], ["ok", ["X-Sum: 1", "x-sum: 2"]]);
    assert.deepEqual(valuesOf(heard.headers, "trailer"), ["X-Sum"]);
    assert.deepEqual(valuesOf(heard.headers, "te"), []);
  });

  test("of HTTP/2 reach the origin", async () => {
    const body = { text: "ok", trailers: { "x-sum": "1", cookie: "a=b" } };
    const { head } = await askHttp2("up", { ":method": "POST", trailer: "x-sum" }, body);
    assert.equal(head[":status"], 200);
    const heard = origin.heard.pop()!;
    assert.deepEqual([heard.body, heard.trailers], ["ok", ["x-sum: 1"]]);
    assert.deepEqual(valuesOf(heard.headers, "trailer"), ["x-sum"]);
  });

  test("whose body has a length have no place to be, and are dropped", async () => {
    const body = { text: "ok", trailers: { "x-sum": "1" } };
    const fields = { ":method": "POST", "content-length": "2", trailer: "x-sum" };
    assert.equal((await askHttp2("up", fields, body)).head[":status"], 200);
    const heard = origin.heard.pop()!;
    assert.deepEqual([heard.body, heard.trailers], ["ok", []]);
    assert.deepEqual(valuesOf(heard.headers, "trailer"), []);
  });
  assert.deepEqual(origin.faults, []);
});

suite("trailers of an answer", async () => {
  const origin = await edge.origin(
    "down",
    saying(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum, Content-Length\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\nX-Sum: 2\r\nContent-Length: 9\r\nSet-Cookie: a=b\r\nCache-Control: public\r\n\r\n",
    ),
  );
  const asking = () => valuesOf(origin.heard.at(-1)!.headers, "te");

  test("go to a client of HTTP/1.1 that takes them", async () => {
    const answer = await exchange(request("down", "GET / HTTP/1.1", "TE: gzip;q=0.5, trailers"));
    assert.match(answer, /\r\nTrailer: X-Sum\r\n/);
    assert.match(answer, /\r\n\r\n2\r\nok\r\n0\r\nx-sum: 1\r\nx-sum: 2\r\n\r\n$/);
    assert.deepEqual(asking(), ["trailers"]);
    assert.deepEqual(valuesOf(origin.heard.at(-1)!.headers, "connection"), ["TE"]);
  });

  test("stay here for one that does not, and for HTTP/1.0 and HEAD", async () => {
    const answer = await exchange(request("down", "GET / HTTP/1.1"));
    assert.match(answer, /\r\n\r\n2\r\nok\r\n0\r\n\r\n$/);
    assert.doesNotMatch(answer, /trailer|x-sum/i);
    assert.deepEqual(asking(), []);
    const old = await exchange(request("down", "GET / HTTP/1.0", "TE: trailers"));
    assert.match(old, /^HTTP\/1\.1 200 [^]*\r\n\r\nok$/);
    assert.doesNotMatch(old, /trailer|x-sum/i);
  });

  test("go to a client of HTTP/2", async () => {
    const { head, text, trailers } = await askHttp2("down", { te: "trailers" });
    assert.deepEqual([head[":status"], text, head["trailer"]], [200, "ok", "X-Sum"]);
    assert.deepEqual(trailers, { "x-sum": "1, 2" });
    assert.deepEqual(asking(), ["trailers"]);
  });

  test("that HTTP/2 does not carry stay here", async () => {
    const answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n";
    await edge.origin("settings", saying(`${answer}HTTP2-Settings: AAA\r\nX-Sum: 1\r\n\r\n`));
    for (let i = 0; i < 2; i++) {
      const { text, trailers } = await askHttp2("settings");
      assert.deepEqual({ text, trailers }, { text: "ok", trailers: { "x-sum": "1" } });
    }
  });

  test("behind no body at all arrive too", async () => {
    const empty =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nGrpc-Status: 0\r\n\r\n";
    await edge.origin("empty", saying(empty));
    const answer = await exchange(request("empty", "GET / HTTP/1.1", "TE: trailers"));
    assert.match(answer, /\r\n\r\n0\r\ngrpc-status: 0\r\n\r\n$/);
    const { text, trailers } = await askHttp2("empty");
    assert.deepEqual([text, trailers], ["", { "grpc-status": "0" }]);
  });

  test("that have no end break the answer off", async () => {
    const endless = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n${"X-Sum: 1\r\n".repeat(10_000)}`;
    await edge.origin("endless", saying(endless));
    const answer = await exchange(request("endless", "GET / HTTP/1.1", "TE: trailers"));
    assert.doesNotMatch(answer, /0\r\n\r\n$|X-Sum/);
    await assert.rejects(askHttp2("endless"), /NGHTTP2_INTERNAL_ERROR/);
  });
});

suite("news before an answer", async () => {
  const news = (line: string) =>
    `HTTP/1.1 ${line}\r\nLink: </a.css>; rel=preload, </b.js>\r\nLink: </c>\r\nSet-Cookie: a=b\r\nContent-Length: 9\r\n\r\n`;
  const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  await edge.origin(
    "news",
    saying(`HTTP/1.1 100 Continue\r\n\r\n${news("103 Early Hints")}${news("102 Processing")}${OK}`),
  );
  const links = "</a.css>; rel=preload, </b.js>, </c>";

  test("with early hints goes to clients of HTTP/1.1, all other stays here", async () => {
    const [first, second, body] = (await exchange(request("news", "GET / HTTP/1.1"))).split(
      "\r\n\r\n",
    );
    assert.deepEqual(first!.split("\r\n"), ["HTTP/1.1 103 Early Hints", `Link: ${links}`]);
    assert.match(second!, /^HTTP\/1\.1 200 OK\r\n/);
    assert.equal(body, "ok");
  });

  test("waits for its turn behind the answers before it", async () => {
    const first = request("news", "GET /1 HTTP/1.1").replace("Connection: close\r\n", "");
    const answers = await exchange(`${first}${request("news", "GET /2 HTTP/1.1")}`);
    const statuses = [...answers.matchAll(/HTTP\/1\.1 (\d+)/g)].map((found) => Number(found[1]));
    assert.deepEqual(statuses, [103, 200, 103, 200]);
  });

  test("goes to no client of HTTP/1.0", async () => {
    assert.match(await exchange(request("news", "GET / HTTP/1.0")), /^HTTP\/1\.1 200 OK\r\n/);
  });

  test("reaches the one for whom the cache asks", async () => {
    await edge.setting("cache_level", "aggressive");
    const page = `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nok`;
    await edge.origin("kept", saying(page));
    const miss = await exchange(request("kept", "GET / HTTP/1.1"));
    assert.match(miss, /^HTTP\/1\.1 103 Early Hints\r\nLink: <\/a>\r\n\r\nHTTP\/1\.1 200 OK/);
    assert.match(miss, /MISS/);
    assert.match(await exchange(request("kept", "GET / HTTP/1.1")), /^HTTP\/1\.1 200 [^]*HIT/);
    await edge.setting("cache_level", "bypass");
  });

  test("goes to clients of HTTP/2", async () => {
    const { news: heard, head, text } = await askHttp2("news");
    assert.deepEqual(
      heard.map((headers) => [headers[":status"], headers["link"]]),
      [[103, links]],
    );
    assert.deepEqual([head[":status"], text], [200, "ok"]);
  });
});
