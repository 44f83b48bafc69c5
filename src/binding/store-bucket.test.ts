import assert from "node:assert/strict";
import { after, test } from "node:test";
import { stopOwnPostgres } from "../../test/support/postgres.ts";
import { rejects } from "./expect.contract.ts";
import { localTransport } from "./local.ts";
import { storeBucketContract } from "./store-bucket.contract.ts";
import { bucketsOf, openTestStore } from "./test-store.contract.ts";

after(stopOwnPostgres);

for (const engine of ["sqlite", "postgres"] as const) {
  storeBucketContract(`a call, on ${engine}`, async () => {
    const opened = await openTestStore(engine);
    const { store } = opened;
    return {
      ...bucketsOf(opened, (name) => localTransport(store, name)),
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  });
}

test("an upload that is not finished is aborted after 7 days", async () => {
  let time = Date.now();
  await using opened = await openTestStore("sqlite", () => time);
  const { store } = opened;
  const bucket = await bucketsOf(opened, (name) => localTransport(store, name)).fresh();
  const upload = await bucket.createMultipartUpload("k");
  const part = await upload.uploadPart(1, "v");
  const DAY_MS = 86_400_000;
  time += 7 * DAY_MS - 1;
  await store.sweep();
  assert.deepEqual(await upload.uploadPart(1, "v"), part);
  time += 2;
  await store.sweep();
  const gone = "The specified multipart upload does not exist. (10024)";
  await rejects(upload.uploadPart(1, "v"), Error, `uploadPart: ${gone}`);
  await rejects(upload.complete([part]), Error, `completeMultipartUpload: ${gone}`);
  assert.equal(await upload.abort(), undefined);
});
