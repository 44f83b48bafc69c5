/** Heads that are read here are read as Node's own parser does; a real server of Node's is the witness. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { after, suite, test } from "node:test";
import fc from "fast-check";
import { type PlainHead, readHead } from "./head.ts";

const MOST = 16 * 1024;

function read(text: string): PlainHead | "more" | null {
  return readHead(Buffer.from(text, "latin1"), MOST);
}

const GET = "GET /a?b=c HTTP/1.1\r\nHost: x.test\r\n";

suite("a plain head", () => {
  test("tells method, target and headers, as they were spelled and by name", () => {
    assert.deepEqual(read(`${GET}X-Odd_Name:\t some text \t\r\n\r\nrest`), {
      method: "GET",
      url: "/a?b=c",
      headers: { host: "x.test", "x-odd_name": "some text" },
      rawHeaders: ["Host", "x.test", "X-Odd_Name", "some text"],
      length: 63,
      bodyLength: 0,
      isLast: false,
      isShared: true,
    });
  });

  test("has one record of the headers that come again, unless they are long", () => {
    const headersOf = (text: string) => {
      const head = read(text);
      assert.ok(head !== null && head !== "more");
      return { headers: head.headers, isShared: head.isShared };
    };
    const long = `${GET}X-Long: ${"x".repeat(600)}\r\n\r\n`;
    assert.equal(headersOf(`${GET}\r\n`).headers, headersOf(`${GET}\r\n`).headers);
    assert.equal(headersOf(`${GET}\r\n`).isShared, true);
    assert.notEqual(headersOf(long).headers, headersOf(long).headers);
    assert.equal(headersOf(long).isShared, false);
  });

  test("says how long its body is, and whether it is the last", () => {
    const head = read(
      "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 0012\r\nConnection: Close\r\n\r\n",
    );
    assert.ok(head !== null && head !== "more");
    assert.deepEqual([head.bodyLength, head.isLast], [12, true]);
  });

  for (const [name, text] of Object.entries({
    nothing: "",
    "a method begun": "DEL",
    "a target begun": "GET /a",
    "a line that has not ended": "GET / HTTP/1.1\r\nHos",
    "a line end begun": "GET / HTTP/1.1\r",
    "all but its end": GET,
    "all but the last octet": `${GET}\r`,
  })) {
    test(`is waited for: ${name}`, () => assert.equal(read(text), "more"));
  }

  for (const [name, text] of Object.entries({
    "another version": "GET / HTTP/1.0\r\nHost: x\r\n\r\n",
    "another method": "TRACE / HTTP/1.1\r\nHost: x\r\n\r\n",
    "a method in lower case": "get / HTTP/1.1\r\nHost: x\r\n\r\n",
    "an absolute target": "GET http://x/ HTTP/1.1\r\nHost: x\r\n\r\n",
    "a target with a blank": "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
    "no host": "GET / HTTP/1.1\r\n\r\n",
    "two hosts": `${GET}Host: y\r\n\r\n`,
    "a header twice": `${GET}A: 1\r\na: 2\r\n\r\n`,
    "an inherited name": `${GET}constructor: 1\r\n\r\n`,
    "a prototype": `${GET}__proto__: 1\r\n\r\n`,
    "a body in chunks": `${GET}Transfer-Encoding: chunked\r\n\r\n`,
    "a length that is none": `${GET}Content-Length: 1_0\r\n\r\n`,
    "a negative length": `${GET}Content-Length: -1\r\n\r\n`,
    "no length": `${GET}Content-Length:\r\n\r\n`,
    "a long body": `${GET}Content-Length: 100000\r\n\r\n`,
    "an expectation": `${GET}Expect: 100-continue\r\n\r\n`,
    "an upgrade": `${GET}Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n`,
    "a connection with other words": `${GET}Connection: keep-alive, x\r\n\r\n`,
    "what some take for a connection": `${GET}Proxy-Connection: close\r\n\r\n`,
    "a line that goes on in the next": `${GET}A: 1\r\n 2\r\n\r\n`,
    "a blank before the colon": `${GET}A : 1\r\n\r\n`,
    "a line without a colon": `${GET}A\r\n\r\n`,
    "no name": `${GET}: 1\r\n\r\n`,
    "a name with a bracket": `${GET}A(: 1\r\n\r\n`,
    "a NUL": `${GET}A: \0\r\n\r\n`,
    "an octet beyond ASCII": `${GET}A: \xe9\r\n\r\n`,
    "a bare line feed": `${GET}A: 1\nB: 2\r\n\r\n`,
    "a bare carriage return": `${GET}A: 1\rB: 2\r\n\r\n`,
    "an empty line before it": `\r\n${GET}\r\n`,
    "too many octets": `${GET}A: ${"a".repeat(MOST)}\r\n\r\n`,
    "too many octets, and no end": `${GET}A: ${"a".repeat(MOST)}`,
    "another protocol": "SSH-2.0-x",
    "a handshake": "\x16\x03\x01",
    "lines that end otherwise": "GET / HTTP/1.1\nHost: x\n",
  })) {
    test(`is left to Node: ${name}`, () => assert.equal(read(text), null));
  }
});

suite("beside Node's parser", () => {
  const server = createServer({ requireHostHeader: false }, (request, response) => {
    seen.push(request);
    request.resume().on("end", () => response.end());
  });
  let seen: IncomingMessage[] = [];
  after(() => server.close());

  /** What Node makes of these octets; null when it takes them for none. */
  async function nodes(text: string): Promise<IncomingMessage[]> {
    seen = [];
    if (!server.listening) await once(server.listen(0, "127.0.0.1"), "listening");
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    socket.on("error", () => {});
    socket.end(Buffer.from(text, "latin1"));
    socket.resume();
    await once(socket, "close");
    return seen;
  }

  const token = fc.stringMatching(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,12}$/);
  const name = fc.oneof(
    token,
    fc.constantFrom("Accept", "Cookie", "Range", "Content-Length", "Connection", "TE", "Trailer"),
    fc.constantFrom(
      "Keep-Alive",
      "Set-Cookie",
      "Upgrade",
      "Proxy-Connection",
      "Content-Type",
      "Date",
    ),
  );
  const octets = (minLength: number, maxLength: number) =>
    fc
      .array(fc.integer({ min: 1, max: 255 }), { minLength, maxLength })
      .map((codes) => String.fromCharCode(...codes));
  const value = fc.oneof(
    { weight: 8, arbitrary: fc.stringMatching(/^[\t -~]{0,30}$/) },
    fc.constantFrom(
      "0",
      "3",
      "00",
      "+3",
      "3,3",
      "close",
      "keep-alive",
      "Close ",
      "chunked",
      "\t",
      "",
    ),
    octets(0, 6),
  );
  const line = fc.tuple(name, fc.constantFrom(": ", ":", ":\t ", ":  ", ": ", ":", " : "), value);
  const lineEnd = fc.oneof(
    { weight: 60, arbitrary: fc.constant("\r\n") },
    fc.constantFrom("\n", "\r", "\r\n "),
  );
  const request = fc.record({
    method: fc.constantFrom(
      "GET",
      "HEAD",
      "PUT",
      "POST",
      "DELETE",
      "OPTIONS",
      "PATCH",
      "TRACE",
      "get",
    ),
    target: fc.oneof({ weight: 15, arbitrary: fc.stringMatching(/^\/[!-~]{0,20}$/) }, octets(1, 9)),
    version: fc.oneof(
      { weight: 20, arbitrary: fc.constant("HTTP/1.1") },
      fc.constantFrom("HTTP/1.0", "HTTP/2.0"),
    ),
    lines: fc.array(fc.tuple(line, lineEnd), { maxLength: 6 }),
    hosts: fc.constantFrom("Host: a.test\r\n", "Host: a.test\r\n", "host:b\r\n", "Host:\r\n", ""),
  });

  test("what is taken here is what Node would have handed on, to the last header", async () => {
    let taken = 0;
    await fc.assert(
      fc.asyncProperty(request, async ({ method, target, version, lines, hosts }) => {
        const fields = lines.map(([[one, colon, text], end]) => one + colon + text + end).join("");
        const head = `${method} ${target} ${version}\r\n${hosts}${fields}\r\n`;
        const ours = read(head);
        if (ours === null || ours === "more") return;
        taken++;
        const [node, ...others] = await nodes(head + "x".repeat(ours.bodyLength));
        assert.ok(node !== undefined, `Node refuses ${JSON.stringify(head)}`);
        assert.equal(others.length, 0);
        const { headers, rawHeaders, url, httpVersion } = node;
        assert.deepEqual(
          [ours.method, ours.url, { ...ours.headers }, ours.rawHeaders, "1.1"],
          [node.method, url, { ...headers }, rawHeaders, httpVersion],
        );
        assert.equal(node.complete, true, "the body is as long");
      }),
      { numRuns: 1_500 },
    );
    assert.ok(taken > 150, `only ${taken} were taken`);
  });
});
