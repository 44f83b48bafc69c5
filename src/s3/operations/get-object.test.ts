import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import type { Bucket } from "#objects";
import { S3Call } from "../call.ts";
import type { S3Parts } from "../operation.ts";
import { readTarget } from "../target.ts";
import { getObject } from "./get-object.ts";

test("what anyone may not ask for is refused before the object is opened, which nobody would close", async () => {
  const call = new S3Call({
    request: { headers: {}, method: "GET" } as unknown as IncomingMessage,
    target: readTarget("/b/k?response-content-type=text%2Fhtml", "h", []),
    authenticated: {
      caller: null,
      payload: { sha256: "UNSIGNED-PAYLOAD", headers: {}, query: [], signing: null },
    },
    askForBody: () => {},
  });
  call.bucket = { name: "b" } as Bucket;
  const store = { get: () => assert.fail("It was opened") };
  const parts = { store, now: Date.now } as unknown as S3Parts;
  await assert.rejects(async () => getObject.handle(call, parts), { code: "InvalidRequest" });
});
