/**
 * Bad input and load on the S3 door: each gets S3's own error and leaves nothing behind. One process takes
 * all of it, and must stay within its memory.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, suite, test } from "node:test";
import fc from "fast-check";
import { PATIENCE_MS, until } from "../support/patience.ts";
import { startS3 } from "../support/s3.ts";
import {
  type Ask,
  ask as askAt,
  codeOf,
  documentOf,
  signed,
  targetOf,
  textsOf,
} from "./s3-wire.ts";
import { exchange, Wire } from "./wire.ts";

const MIB = 1024 ** 2;

const args = ["--dns", "off", "--edge", "off", "--edge-tls", "off"];
const server = await startS3({ args, env: { SELVEDGE_LIMITS_CONNECTIONS_PER_SOURCE: "3000" } });
after(() => server[Symbol.asyncDispose]());
const { endpoint } = server;

const ask = (method: string, path: string, more: Omit<Ask, "path"> = {}) =>
  askAt(endpoint, method, { path, ...more });

assert.equal((await ask("PUT", "/b-1")).status, 200);

/** The head of a signed request, for bodies that do not keep what it says. */
function head(
  method: string,
  wanted: Ask,
  payloadHash = "UNSIGNED-PAYLOAD",
  to = endpoint,
): string {
  const headers = signed(to, method, wanted, payloadHash);
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${targetOf(wanted)} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

const sized = (path: string, length: number, more: Record<string, string> = {}) => ({
  path,
  headers: { "content-length": String(length), ...more },
});

async function isStored(path: string): Promise<boolean> {
  return (await ask("HEAD", path)).status === 200;
}

/** What the process holds of memory. */
function residentMib(): number {
  const status = readFileSync(`/proc/${server.process.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}

suite("a body", () => {
  test("that ends too early is incomplete, and not stored", async () => {
    using wire = await Wire.open(endpoint);
    wire.write(`${head("PUT", sized("/b-1/short", 1_000))}only this`);
    wire.finish();
    const answer = await wire.answer();
    assert.equal(answer.status, 400);
    assert.match(answer.body, /<Code>IncompleteBody<\/Code>/);
    assert.equal(await isStored("/b-1/short"), false);
  });

  test("whose client goes away leaves nothing", async () => {
    for (const length of [1_000, 50 * MIB]) {
      using wire = await Wire.open(endpoint);
      wire.write(head("PUT", sized("/b-1/gone", length)));
      wire.write(randomBytes(Math.min(length / 2, MIB)));
      assert.ok(await wire.isTaken(PATIENCE_MS));
    }
    assert.equal(await isStored("/b-1/gone"), false);
    const uploads = documentOf(await ask("GET", "/b-1", { query: { uploads: "" } }));
    assert.deepEqual(textsOf(uploads, "Upload"), []);
  });

  test("that is longer than it said is stored as it said, and the rest is no request", async () => {
    const answers = await exchange(endpoint, `${head("PUT", sized("/b-1/long", 5))}hello, world`);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 400],
    );
    assert.equal((await ask("GET", "/b-1/long")).text, "hello");
  });

  test("that is not what was signed is refused, and not stored", async () => {
    const wanted = sized("/b-1/other", 5);
    using wire = await Wire.open(endpoint);
    wire.write(`${head("PUT", wanted, "0".repeat(64))}hello`);
    const answer = await wire.answer();
    assert.deepEqual(
      [answer.status, /<Code>(.*)<\/Code>/.exec(answer.body)?.[1]],
      [400, "XAmzContentSHA256Mismatch"],
    );
    assert.equal(await isStored("/b-1/other"), false);
  });

  test("in chunks with a wrong end, length or checksum is refused, and not stored", async () => {
    const trailer = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
    const whole = "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n";
    for (const [name, body, decoded, code] of [
      ["a wrong checksum", whole.replace("NhCmhg", "AAAAAA"), 5, "BadDigest"],
      ["another length", whole, 6, "IncompleteBody"],
      ["a length too small", whole, 4, "IncompleteBody"],
      ["a missing trailer", "5\r\nhello\r\n0\r\n\r\n", 5, "InvalidRequest"],
      ["no end", "5\r\nhello\r\n", 5, "IncompleteBody"],
      ["a size that is none", "x\r\nhello\r\n0\r\n\r\n", 5, null],
      ["a size beyond all", "ffffffffffffffff\r\nhello", 5, null],
      ["nothing", "", 5, "IncompleteBody"],
    ] as const) {
      const wanted = sized("/b-1/chunked", Buffer.byteLength(body), {
        "x-amz-decoded-content-length": String(decoded),
        "x-amz-trailer": "x-amz-checksum-crc32",
      });
      using wire = await Wire.open(endpoint);
      wire.write(head("PUT", wanted, trailer) + body);
      const answer = await wire.answer();
      assert.equal(answer.status, 400, `${name}: ${answer.body}`);
      if (code !== null) assert.match(answer.body, new RegExp(`<Code>${code}</Code>`), name);
      assert.equal(await isStored("/b-1/chunked"), false, name);
    }
  });

  test("that does not come is waited for, but not for ever", async () => {
    await using hasty = await startS3({ args, env: { SELVEDGE_LIMITS_REQUEST_SECONDS: "3" } });
    const at = (method: string, path: string) => askAt(hasty.endpoint, method, { path });
    assert.equal((await at("PUT", "/b-1")).status, 200);
    using wire = await Wire.open(hasty.endpoint);
    wire.write(`${head("PUT", sized("/b-1/slow", 1_000), undefined, hasty.endpoint)}a`);
    const answer = await wire.answer();
    assert.equal(answer.status, 400);
    assert.match(answer.body, /<Code>RequestTimeout<\/Code>/);
    assert.equal((await at("HEAD", "/b-1/slow")).status, 404);
  });

  test("without a length is refused", async () => {
    using wire = await Wire.open(endpoint);
    wire.write(head("PUT", { path: "/b-1/endless" }));
    const answer = await wire.answer();
    assert.equal(answer.status, 411);
    assert.match(answer.body, /<Code>MissingContentLength<\/Code>/);
  });
});

suite("a refusal before the body is read", () => {
  test("leaves the connection when the body is small", async () => {
    using wire = await Wire.open(endpoint);
    wire.write(`${head("PUT", sized("/nowhere-1/k", 5))}hello`);
    assert.equal((await wire.answer()).status, 404);
    wire.write(head("GET", { path: "/b-1" }));
    assert.equal((await wire.answer()).status, 200);
  });

  test("ends it when the body is large", async () => {
    const large = `${head("PUT", sized("/nowhere-1/k", 10 * MIB))}${"x".repeat(10 * MIB)}`;
    const answers = await exchange(endpoint, large);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [404],
    );
  });

  test("comes in place of the word to go on, which others get", async () => {
    const expect = { expect: "100-continue" };
    using refused = await Wire.open(endpoint);
    refused.write(head("PUT", sized("/nowhere-1/k", 5, expect)));
    assert.equal((await refused.answer()).status, 404);
    await refused.untilClosed();
    using taken = await Wire.open(endpoint);
    taken.write(head("PUT", sized("/b-1/expected", 5, expect)));
    assert.equal((await taken.answer()).status, 100);
    taken.write("hello");
    assert.equal((await taken.answer()).status, 200);
    taken.write(head("GET", { path: "/b-1/expected" }));
    assert.equal((await taken.answer()).body, "hello");
  });
});

suite("XML", () => {
  const bomb = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]><Delete><Object><Key>&b;</Key></Object></Delete>`;
  const documents: readonly (readonly [name: string, document: string | Uint8Array])[] = [
    ["with entities of its own", bomb],
    [
      "that reads a file",
      '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><Delete><Object><Key>&f;</Key></Object></Delete>',
    ],
    ["that is not closed", "<Delete><Object><Key>a</Key>"],
    ["that is closed twice", "<Delete></Delete></Delete>"],
    ["of a thousand levels", "<Delete>".repeat(1_000) + "</Delete>".repeat(1_000)],
    ["of a hundred thousand levels", "<a>".repeat(100_000)],
    ["of another kind", "<Other/>"],
    ["that is JSON", '{"Delete":[]}'],
    ["that is no text", randomBytes(1_000)],
    ["that is no UTF-8", Buffer.from("<Delete>\xff</Delete>", "latin1")],
    ["with a million attributes", `<Delete ${'a="b" '.repeat(200_000)}/>`],
    ["with an endless comment", `<Delete><!--${"-".repeat(1_000_000)}`],
    ["with an endless section", `<Delete><![CDATA[${"x".repeat(1_000_000)}`],
    ["with a million references", `<Delete>${"&#65;".repeat(250_000)}</Delete>`],
  ];
  const places = [
    ["POST", "/b-1", { delete: "" }],
    ["POST", "/b-1/k", { uploadId: "0".repeat(32) }],
    ["PUT", "/b-1", { cors: "" }],
    ["PUT", "/b-1", { lifecycle: "" }],
    ["PUT", "/b-1/long", { tagging: "" }],
    ["PUT", "/b-2", {}],
  ] as const;

  for (const [name, body] of documents) {
    test(`${name} is refused wherever it goes, and soon`, async () => {
      for (const [method, path, query] of places) {
        const began = performance.now();
        const answer = await ask(method, path, { query, body });
        assert.equal(answer.status, 400, `${path} ${JSON.stringify(query)}: ${answer.text}`);
        assert.match(codeOf(answer)!, /^(?:MalformedXML|MaxMessageLengthExceeded)$/);
        assert.ok(performance.now() - began < 5_000, `${path} took its time`);
      }
      assert.equal((await ask("HEAD", "/b-2")).status, 404);
    });
  }

  test("of 10 MiB is too long, and is not kept while it comes", async () => {
    const body = `<Delete><!--${"x".repeat(10 * MIB)}--></Delete>`;
    for (const [method, path, query] of places) {
      const answer = await ask(method, path, { query, body });
      assert.deepEqual([answer.status, codeOf(answer)], [400, "MaxMessageLengthExceeded"]);
    }
  });
});

suite("keys", () => {
  const odd = [
    "/",
    "//",
    "a//b",
    ".",
    "..",
    "../../etc/passwd",
    "a/./b/../c",
    "trailing/",
    "a b",
    "a+b",
    "a%b",
    "a%2Fb",
    "?#&=",
    "é",
    "\u{1F600}",
    "e\u0301",
    "\u0000",
    "\u0001\u001f\u007f",
    "\uFFFE",
    "\\",
    "\r\nx-injected: 1",
    "<&>\"'",
    " ",
    "k".repeat(1_024),
    "é".repeat(512),
  ];

  for (const key of odd) {
    const shown = JSON.stringify(key.length > 40 ? `${key.slice(0, 8)}…` : key);
    test(`${shown} is a key like any other`, async () => {
      const path = `/b-1/${encodeURIComponent(key)}`;
      const body = `of ${key}`;
      assert.equal((await ask("PUT", path, { body })).status, 200);
      const got = await ask("GET", path);
      assert.deepEqual([got.status, got.text], [200, body]);
      const query = { "list-type": "2", prefix: key, "max-keys": "1", "encoding-type": "url" };
      const listed = documentOf(await ask("GET", "/b-1", { query }));
      assert.deepEqual(textsOf(listed, "Key").map(decodeURIComponent), [key]);
      const source = `b-1/${encodeURIComponent(key)}`;
      const copied = await ask("PUT", "/b-1/copy-of-odd", {
        headers: { "x-amz-copy-source": source },
      });
      assert.equal(copied.status, 200, copied.text);
      assert.equal((await ask("DELETE", path)).status, 204);
      assert.equal((await ask("HEAD", path)).status, 404);
    });
  }

  test("stay apart where only their escapes or forms differ", async () => {
    const keys = ["x", "x ", "x%20", "x+", "%C3%A9", "e%CC%81"];
    for (const key of keys) {
      const path = `/b-1/apart-${encodeURIComponent(key)}`;
      assert.equal((await ask("PUT", path, { body: key })).status, 200);
    }
    for (const key of keys) {
      const path = `/b-1/apart-${encodeURIComponent(key)}`;
      assert.equal((await ask("GET", path)).text, key);
    }
  });

  test("as raw octets of UTF-8 are those that are escaped", async () => {
    assert.equal((await ask("PUT", "/b-1/raw-%C3%A9", { body: "é" })).status, 200);
    using wire = await Wire.open(endpoint);
    const signedHead = head("GET", { path: "/b-1/raw-%C3%A9" });
    wire.write(signedHead.replace("/b-1/raw-%C3%A9", "/b-1/raw-é"));
    const { status } = await wire.answer();
    assert.ok(status === 200 || status === 400, String(status)); // Node's parser may refuse them.
  });

  test("that are too long, or no text, are refused", async () => {
    const long = await ask("PUT", `/b-1/${"k".repeat(1_025)}`, { body: "x" });
    assert.deepEqual([long.status, codeOf(long)], [400, "KeyTooLongError"]);
    for (const path of ["/b-1/%ff", "/b-1/%c0%80", "/b-1/%ed%a0%80", "/b-1/%", "/b-1/%g1"]) {
      const answer = await ask("PUT", path, { body: "x" });
      assert.deepEqual([answer.status, codeOf(answer)], [400, "InvalidURI"], path);
    }
  });
});

suite("signatures", () => {
  test("of any form that is none open nothing", async () => {
    const parts = fc.constantFrom(
      "AWS4-HMAC-SHA256",
      "AWS4-ECDSA-P256-SHA256",
      "AWS",
      "Bearer",
      " ",
      ",",
      "Credential=",
      "SELVEDGETESTKEY00001/20261115/us-east-1/s3/aws4_request",
      "SignedHeaders=host;x-amz-date",
      "Signature=",
      "0".repeat(64),
      "=",
      "/",
    );
    await fc.assert(
      fc.asyncProperty(fc.array(parts, { maxLength: 12 }), async (words) => {
        using wire = await Wire.open(endpoint);
        const lines = [
          "GET /b-1 HTTP/1.1",
          "Host: x",
          `Authorization: ${words.join("")}`,
          "x-amz-date: 20261115T000000Z",
          "x-amz-content-sha256: UNSIGNED-PAYLOAD",
        ];
        wire.write(`${lines.join("\r\n")}\r\n\r\n`);
        const { status, body } = await wire.answer();
        assert.ok([400, 403, 501].includes(status), body);
        assert.match(body, /<Code>\w+<\/Code>/);
      }),
      { numRuns: 200 },
    );
  });

  test("are needed for everything", async () => {
    for (const [method, path] of [
      ["GET", "/"],
      ["GET", "/b-1"],
      ["GET", "/b-1/long"],
      ["PUT", "/b-1/unsigned"],
      ["DELETE", "/b-1/long"],
      ["POST", "/b-1?delete"],
    ] as const) {
      const { status } = await fetch(endpoint + path, { method });
      assert.equal(status, 403, `${method} ${path}`);
    }
    assert.ok(await isStored("/b-1/long"));
  });

  test("are never in the log, nor are secrets", async () => {
    const wanted = { path: "/b-1/long", query: { "X-Amz-Signature": "f00d".repeat(16) } };
    await fetch(endpoint + targetOf(wanted));
    await until(() => server.output.stderr.includes('"path":"/b-1/long"'));
    assert.doesNotMatch(server.output.stderr, /f00df00d|Signature=|secret\/of/);
  });
});

suite("load", () => {
  test("of 1000 idle connections lets others through", async () => {
    const idle = await Promise.all(Array.from({ length: 1_000 }, () => Wire.open(endpoint)));
    try {
      for (const wire of idle) wire.write("GET /b-1 HTTP/1.1\r\nHost: x\r\n"); // Never ends its head.
      assert.equal((await ask("GET", "/b-1/long")).status, 200);
    } finally {
      for (const wire of idle) wire[Symbol.dispose]();
    }
  });

  test("of 200 uploads at once stores each, in bounded memory", async () => {
    const was = residentMib();
    const body = randomBytes(2 * MIB);
    let most = 0;
    const watch = setInterval(() => (most = Math.max(most, residentMib())), 50);
    const statuses = await Promise.all(
      Array.from({ length: 200 }, async (_, i) => {
        const answer = await ask("PUT", `/b-1/parallel-${i}`, { body });
        return answer.status;
      }),
    );
    clearInterval(watch);
    assert.deepEqual(new Set(statuses), new Set([200]));
    assert.ok(most - was < 300, `grew by ${Math.round(most - was)} MiB`);
    const got = await ask("GET", "/b-1/parallel-199");
    assert.ok(got.body.equals(body));
  });

  test("of clients that do not read holds back, in bounded memory", async () => {
    const body = randomBytes(32 * MIB);
    assert.equal((await ask("PUT", "/b-1/huge", { body })).status, 200);
    const was = residentMib();
    const readers = await Promise.all(Array.from({ length: 100 }, () => Wire.open(endpoint)));
    try {
      for (const wire of readers) {
        wire.pause();
        wire.write(head("GET", { path: "/b-1/huge" }));
      }
      assert.equal((await ask("GET", "/b-1/long")).status, 200);
      assert.ok(residentMib() - was < 300, `grew by ${Math.round(residentMib() - was)} MiB`);
    } finally {
      for (const wire of readers) wire[Symbol.dispose]();
    }
  });

  test("leaves a server that serves", async () => {
    assert.equal((await ask("GET", "/b-1/long")).text, "hello");
    assert.equal(server.process.exitCode, null);
    const errors = server.output.stderr.split("\n").filter((line) => /"level":"error"/.test(line));
    assert.deepEqual(errors, []);
  });
});
