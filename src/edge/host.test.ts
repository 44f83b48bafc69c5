import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { requestTarget } from "./host.ts";

function head(url: string, ...hosts: string[]): IncomingMessage {
  const rawHeaders = hosts.flatMap((host) => ["Host", host]);
  return { url, rawHeaders, headers: { host: hosts[0] } } as unknown as IncomingMessage;
}

test("the hostname is lower case and has neither port nor last dot", () => {
  for (const host of [
    "WWW.Example.com",
    "www.example.com:8080",
    "www.example.com.",
    "www.example.com.:80",
  ])
    assert.deepEqual(requestTarget(head("/a?b=c", host)), {
      host,
      hostname: "www.example.com",
      target: "/a?b=c",
    });
  assert.equal(requestTarget(head("/", "[::1]:8080"))?.hostname, "[::1]");
});

test("an absolute target must name the same host", () => {
  assert.equal(requestTarget(head("http://a.example/x?y", "a.example"))?.target, "/x?y");
  assert.equal(requestTarget(head("http://A.example:80", "a.example"))?.target, "/");
  assert.equal(requestTarget(head("http://A.example?q", "a.example"))?.target, "/?q");
  assert.equal(requestTarget(head("http://b.example/", "a.example")), null);
});

test("what names no host, or two, is none", () => {
  for (const host of [
    "",
    "a b",
    "a/b",
    "user@a.example",
    "-a.example",
    "a.example:",
    "a.example:port",
    "é.example",
    "a..example\u0000",
  ])
    assert.equal(requestTarget(head("/", host)), null, JSON.stringify(host));
  assert.equal(requestTarget(head("/", "a.example", "b.example")), null);
  assert.equal(requestTarget(head("/", "a.example", "a.example")), null);
  assert.equal(requestTarget(head("/")), null);
  assert.equal(requestTarget(head("*", "a.example")), null);
});
