/** Requests that are read once, though they come again. */
import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { suite, test } from "node:test";
import { readHead } from "../../src/http/plain/head.ts";
import { PlainRequest } from "../../src/http/plain/request.ts";
import { ranges } from "../../src/kit/cidr.ts";
import { beginning } from "../../src/s3/observe.ts";
import { operations } from "../../src/s3/operations/index.ts";
import { RequestReader } from "../../src/s3/read-request.ts";
import { Routes } from "../../src/s3/routes.ts";

function requestOf(lines: string, url = "/bucket/key?X-Amz-Signature=1"): IncomingMessage {
  const head = readHead(Buffer.from(`GET ${url} HTTP/1.1\r\nHost: a\r\n${lines}\r\n`), 16_384);
  assert.ok(head !== null && head !== "more");
  return new PlainRequest(head, null, {} as Socket) as unknown as IncomingMessage;
}

function readerOf(trustedProxies: string[] = []) {
  const proxies = trustedProxies.length > 0 ? ranges(trustedProxies) : null;
  const routes = new Routes(operations);
  const reader = new RequestReader({ domains: [], trustedProxies: proxies, routes });
  return {
    read: (request: IncomingMessage) => reader.read(request, beginning(request, "1")),
    keep: (request: IncomingMessage) =>
      reader.keep(request, reader.read(request, beginning(request, "1"))),
  };
}

suite("a request that comes again", () => {
  test("is read anew unless it was kept, which what strangers send is not", () => {
    const reader = readerOf();
    assert.notEqual(reader.read(requestOf("")).signed, reader.read(requestOf("")).signed);
    reader.keep(requestOf(""));
    assert.equal(reader.read(requestOf("")).signed, reader.read(requestOf("")).signed);
    assert.equal(reader.read(requestOf("")).operation?.name, "GetObject");
  });

  test("is another with other headers, or another URL", () => {
    const reader = readerOf();
    reader.keep(requestOf(""));
    const { signed } = reader.read(requestOf(""));
    assert.notEqual(reader.read(requestOf("X-Amz-Acl: private\r\n")).signed, signed);
    assert.notEqual(reader.read(requestOf("", "/bucket/key?X-Amz-Signature=2")).signed, signed);
    assert.equal(reader.read(requestOf("")).signed, signed);
  });

  test("is not kept where its headers are long, or its host may be a proxy's word", () => {
    const long = `X-Long: ${"x".repeat(600)}\r\n`;
    const reader = readerOf();
    reader.keep(requestOf(long));
    assert.notEqual(reader.read(requestOf(long)).signed, reader.read(requestOf(long)).signed);
    const behind = readerOf(["10.0.0.0/8"]);
    behind.keep(requestOf(""));
    assert.notEqual(behind.read(requestOf("")).signed, behind.read(requestOf("")).signed);
  });
});
