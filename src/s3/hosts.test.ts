import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { ranges } from "#kit/cidr.ts";
import { hostsOf } from "./hosts.ts";

function hosts(
  headers: Record<string, string>,
  remoteAddress = "127.0.0.1",
  domains: readonly string[] = [],
) {
  const request = { headers, socket: { remoteAddress } } as unknown as IncomingMessage;
  return hostsOf(request, ranges(["127.0.0.0/8"]), domains);
}

test("a stranger's word for another host is not believed", () => {
  const headers = { host: "a.test:9000", "x-forwarded-host": "b.test" };
  assert.deepEqual(hosts(headers, "192.0.2.1"), ["a.test:9000"]);
});

test("a default port may be missing from what was signed", () => {
  assert.deepEqual(hosts({ host: "a.test:80" }, "192.0.2.1"), ["a.test:80", "a.test"]);
});

test("a trusted proxy tells the host that the client saw, and its port", () => {
  assert.deepEqual(hosts({ host: "10.0.0.1:9000", "x-forwarded-host": "s3.test, inner.test" }), [
    "s3.test",
    "10.0.0.1:9000",
    "10.0.0.1",
  ]);
  assert.deepEqual(
    hosts({ host: "in:9000", "x-forwarded-host": "s3.test", "x-forwarded-port": "8443" }),
    ["s3.test", "s3.test:8443", "in:9000", "in:8443", "in"],
  );
});

test("no host may have been signed that names another bucket than the one that is asked for", () => {
  const from = (host: string, forwarded: string) =>
    hosts({ host, "x-forwarded-host": forwarded }, "127.0.0.1", ["s3.test"]);
  assert.deepEqual(from("mine.s3.test:9000", "yours.s3.test"), ["yours.s3.test"]);
  assert.deepEqual(from("s3.test", "yours.s3.test"), ["yours.s3.test"]);
  assert.deepEqual(from("mine.s3.test", "elsewhere.test"), ["elsewhere.test"]);
  assert.deepEqual(from("MINE.s3.test", "mine.s3.test"), ["mine.s3.test", "MINE.s3.test"]);
  assert.deepEqual(from("inner:9000", "s3.test"), ["s3.test", "inner:9000", "inner"]);
});
