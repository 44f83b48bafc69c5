/** The blob driver on our own S3 door: a store that keeps its blobs in another one's bucket. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { after, test } from "node:test";
import { connectStore } from "selvedge/store";
import { blobDriverContract } from "../../src/objects/driver.contract.ts";
import { parseS3Url } from "../../src/objects/drivers/s3-location.ts";
import { openS3 } from "../../src/objects/drivers/s3.ts";
import { until } from "../support/patience.ts";
import { ACCESS_KEY_ID, SECRET_ACCESS_KEY, startS3 } from "../support/s3.ts";
import { EMAIL, KEY, startServer, type TestServer } from "../support/server.ts";
import { call } from "./api.ts";

const MIB = 1024 ** 2;
const BUCKET = "blobs";

const keeper = await startS3();
after(() => keeper[Symbol.asyncDispose]());
await makeBucket(keeper, BUCKET);
const kept = connectStore({ url: keeper.origin, email: EMAIL, key: KEY }).bucket(BUCKET);

blobDriverContract(
  "s3, on our own door",
  () =>
    openS3({
      location: parseS3Url(`s3://${BUCKET}/contract?endpoint=${keeper.endpoint}`),
      key: { id: ACCESS_KEY_ID, secret: SECRET_ACCESS_KEY },
      now: Date.now,
      sleep: async () => {},
      random: () => 0,
      idleMs: 10_000,
    }),
  { readsDeleted: false, keepsInMemory: false },
);

test("a server's large objects lie in the other's bucket, and go from there when they are deleted", async () => {
  await using server = await startServer({
    args: ["--blobs", `s3://${BUCKET}/server?endpoint=${keeper.endpoint}`],
    env: {
      SELVEDGE_BLOBS_ACCESS_KEY_ID: ACCESS_KEY_ID,
      SELVEDGE_BLOBS_SECRET_ACCESS_KEY: SECRET_ACCESS_KEY,
    },
  });
  await makeBucket(server, "things");
  const things = connectStore({ url: server.origin, email: EMAIL, key: KEY }).bucket("things");
  const octets = randomBytes(12 * MIB);
  await things.put("large", octets);
  assert.equal((await blobsOf()).length, 1);
  const back = await (await things.get("large"))!.arrayBuffer();
  assert.deepEqual(Buffer.from(back), octets);
  await things.delete("large");
  await until(async () => (await blobsOf()).length === 0);
});

async function blobsOf() {
  return (await kept.list({ prefix: "server/" })).objects;
}

async function makeBucket(server: TestServer, name: string): Promise<void> {
  const { result } = await call(server, "GET", "/accounts");
  const [{ id }] = result as [{ id: string }];
  await call(server, "POST", `/accounts/${id}/storage/buckets`, { body: { name } });
}
