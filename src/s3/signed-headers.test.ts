import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { signedHeaders } from "./signed-headers.ts";

test("headers that come once are Node's own record", () => {
  const headers = { host: "a", "x-amz-date": "1" };
  const rawHeaders = ["Host", "a", "X-Amz-Date", "1"];
  assert.equal(signedHeaders({ headers, rawHeaders } as unknown as IncomingMessage), headers);
});

test("a repeated header has all its values, with commas between them", () => {
  const rawHeaders = ["Host", "a", "X-Amz-Meta-A", "1", "x-amz-meta-a", "2", "content-type", "x"];
  const headers = { host: "a", "x-amz-meta-a": "1, 2", "content-type": "x" };
  assert.deepEqual(signedHeaders({ headers, rawHeaders } as unknown as IncomingMessage), {
    host: "a",
    "x-amz-meta-a": "1,2",
    "content-type": "x",
  });
});
