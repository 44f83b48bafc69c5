import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import type { Bucket } from "#objects";
import { S3Call } from "../call.ts";
import type { S3Parts } from "../operation.ts";
import { readTarget } from "../target.ts";
import { getObject } from "./get-object.ts";

/** Asks for an object as anyone. */
async function get(path: string, store: object) {
  const call = new S3Call({
    request: { headers: {}, method: "GET" } as unknown as IncomingMessage,
    target: readTarget(path, "h", []),
    authenticated: {
      caller: null,
      payload: { sha256: "UNSIGNED-PAYLOAD", headers: {}, hoisted: [], signing: null },
    },
    askForBody: () => {},
  });
  call.bucket = { name: "b" } as Bucket;
  return getObject.handle(call, { store, now: Date.now } as unknown as S3Parts);
}

test("what anyone may not ask for is refused before the object is opened, which nobody would close", async () => {
  const store = { get: () => assert.fail("It was opened") };
  const refused = get("/b/k?response-content-type=text%2Fhtml", store);
  await assert.rejects(refused, { code: "InvalidRequest" });
});

test("an object whose answer cannot be made is closed", async () => {
  let isClosed = false;
  const body = {
    [Symbol.asyncIterator]: () => body,
    next: () => assert.fail("It was read"),
    return: async () => ((isClosed = true), { done: true, value: undefined }),
  };
  const object = { etag: "e", uploadedAt: 0, size: 3, storageClass: "Standard", http: {} };
  const range = { offset: 0, length: 3 };
  const store = {
    get: async () => ({
      kind: "found",
      object: { ...object, encryption: null },
      range,
      body,
      isInFiles: false,
    }),
    setting: () => Promise.reject(new Error("The database is away")),
  };
  await assert.rejects(get("/b/k", store), /is away/);
  assert.equal(isClosed, true);
});
