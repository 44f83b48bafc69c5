import assert from "node:assert/strict";
import { test } from "node:test";
import { requestHeaders, responseHeaders } from "./forwarded.ts";

const client = {
  address: "192.0.2.7",
  peer: "192.0.2.7",
  forwardedFor: null,
  scheme: "https",
  host: "www.example.com",
  requestId: "id",
} as const;

function lines(headers: readonly string[]): string[] {
  return headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1]}`] : []));
}

test("a request keeps its own headers in order and spelling, each as often as it came", () => {
  const raw = ["HOST", "www.example.com", "Cookie", "a=1", "x-A", "1", "X-a", "2"];
  assert.deepEqual(lines(requestHeaders(raw, client, null)).slice(0, 4), [
    "Host: www.example.com",
    "Cookie: a=1",
    "x-A: 1",
    "X-a: 2",
  ]);
});

test("what belongs to the connection stays there, also what Connection names", () => {
  const raw = [
    "Connection",
    "close, X-Mine ,host",
    "X-Mine",
    "1",
    "Keep-Alive",
    "5",
    "TE",
    "trailers",
    "Transfer-Encoding",
    "chunked",
    "Upgrade",
    "h2c",
    "Host",
    "h",
  ];
  const sent = lines(requestHeaders(raw, client, null))
    .join("\n")
    .toLowerCase();
  for (const name of [
    "connection:",
    "x-mine",
    "keep-alive",
    "te:",
    "transfer-encoding",
    "upgrade:",
  ])
    assert.ok(!sent.includes(name), name);
  assert.ok(sent.startsWith("host: www.example.com\n"), "the host cannot be taken away");
  assert.equal(sent.match(/^host:/gm)?.length, 1);
});

test("the script hears of the client from the edge, not from the client", () => {
  const raw = [
    "X-Forwarded-For",
    "6.6.6.6",
    "CF-Connecting-IP",
    "6.6.6.6",
    "x-real-ip",
    "6.6.6.6",
    "X-Forwarded-Proto",
    "http",
    "X-Selvedge-Cf",
    "{}",
  ];
  const sent = lines(requestHeaders(raw, client, null));
  const forged = [
    "CF-IPCountry",
    "XX",
    "cf-worker",
    "evil",
    "True-Client-IP",
    "7.7.7.7",
    "Forwarded",
    "for=7.7.7.7",
  ];
  const kept = lines(requestHeaders(forged, client, null)).join();
  assert.ok(!/XX|evil|7\.7\.7\.7/.test(kept), kept);
  assert.ok(!sent.join().includes("6.6.6.6") && !/selvedge-cf/i.test(sent.join()));
  for (const line of [
    "X-Forwarded-For: 192.0.2.7",
    "X-Forwarded-Proto: https",
    "X-Forwarded-Host: www.example.com",
    "CF-Connecting-IP: 192.0.2.7",
    "X-Real-IP: 192.0.2.7",
    'CF-Visitor: {"scheme":"https"}',
    "X-Request-Id: id",
  ])
    assert.ok(sent.includes(line), line);
});

test("a trusted proxy's list of hops goes on", () => {
  const sent = lines(
    requestHeaders([], { ...client, peer: "10.0.0.2", forwardedFor: "192.0.2.7, 10.0.0.1" }, null),
  );
  assert.ok(sent.includes("X-Forwarded-For: 192.0.2.7, 10.0.0.1, 10.0.0.2"));
});

test("an upgrade is asked for anew, and an answer has the request's id", () => {
  const sent = lines(
    requestHeaders(["Connection", "Upgrade", "Upgrade", "websocket"], client, "websocket"),
  );
  assert.deepEqual(sent.slice(-2), ["Connection: Upgrade", "Upgrade: websocket"]);
  assert.deepEqual(
    lines(responseHeaders(["Set-Cookie", "a", "Set-Cookie", "b", "Connection", "close"], "id")),
    ["Set-Cookie: a", "Set-Cookie: b", "X-Request-Id: id"],
  );
});

test("settings of HTTP/2 go to nobody: it would refuse to carry them", () => {
  const raw = ["HTTP2-Settings", "AAA", "X", "y"];
  assert.deepEqual(lines(responseHeaders(raw, "id")), ["X: y", "X-Request-Id: id"]);
});

test("a request has one Host, and one Cookie of all its crumbs", () => {
  const crumbs = ["cookie", "a=1", "x", ":authority", "cookie", "b=2; c=3", "cookie", "d=4"];
  const sent = lines(requestHeaders([":authority", "h", "host", "h", ...crumbs], client, null));
  assert.deepEqual(sent.slice(0, 4), [
    "Host: www.example.com",
    "cookie: a=1; b=2; c=3; d=4",
    "x: :authority",
    "X-Forwarded-For: 192.0.2.7",
  ]);
});
