import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Generations } from "#kit/generations.ts";
import { Log } from "#kit/log.ts";
import { Metrics } from "#kit/metrics.ts";
import { ObjectStore, openBlobs } from "#objects";
import { CRASH_FILE } from "../test/support/crash-when-told.ts";
import { until } from "../test/support/patience.ts";
import { ACCESS_KEY_ID, SECRET_ACCESS_KEY } from "../test/support/s3.ts";
import { type Ask, ask as askAt } from "../test/system/s3-wire.ts";
import { openGround } from "./ground.ts";
import { startS3Threads } from "./s3-threads.ts";

const limits = {
  headerBytes: 16_384,
  headerSeconds: 10,
  requestSeconds: 60,
  idleSeconds: 30,
  drainSeconds: 5,
  connections: 100,
  connectionsPerSource: 100,
};

/** Two threads on a store of their own; a file of that name ends one of them. */
async function open() {
  await using opened = new AsyncDisposableStack();
  const dataDir = mkdtempSync(join(tmpdir(), "s3-threads-"));
  opened.defer(() => rmSync(dataDir, { recursive: true }));
  const crash = join(dataDir, "crash");
  process.env[CRASH_FILE] = crash;
  const [databaseUrl, blobsUrl, now] = ["sqlite:", "file:", Date.now];
  const ground = await openGround({
    dataDir,
    databaseUrl,
    secretKey: null,
    firstCredentials: {
      s3_access_key_id: ACCESS_KEY_ID,
      s3_secret_access_key: SECRET_ACCESS_KEY,
    },
    now,
    onError: assert.fail,
  });
  const { db, sealKey } = opened.use(ground);
  const blobs = opened.use(await openBlobs({ url: blobsUrl, dataDir, environment: {} }));
  const generations = new Generations();
  const objects = opened.use(new ObjectStore({ db, blobs, now, generations }));
  const metrics = new Metrics();
  const lines: string[] = [];
  const log = { format: "json", level: "error" } as const;
  const threads = opened.use(
    await startS3Threads({
      address: { host: "127.0.0.1", port: 0 },
      threads: 2,
      entry: new URL("./s3-crashing-thread.contract.ts", import.meta.url),
      settings: {
        domains: [],
        trustedProxies: [],
        limits,
        log,
        dataDir,
        databaseUrl,
        blobsUrl,
        sealKey,
      },
      db,
      objects,
      generations,
      metrics,
      log: new Log({ format: "json", level: "info", now, write: (text) => lines.push(text) }),
    }),
  );
  const endpoint = `http://127.0.0.1:${threads.address.port}`;
  const all = opened.move();
  return {
    lines,
    metrics,
    objects,
    crash: () => writeFileSync(crash, ""),
    ask: (method: string, path: string, more: Partial<Ask> = {}) =>
      askAt(endpoint, method, { path, ...more }),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

test("a thread that dies is started again, the others go on, and nothing acknowledged is lost", async () => {
  await using s3 = await open();
  const logged = (text: string) => s3.lines.join("").split(text).length - 1;
  await s3.ask("PUT", "/bucket");
  const stored = new Map<string, string>();
  const over = new AbortController();
  const write = async (writer: number) => {
    for (let i = 0; !over.signal.aborted; i++) {
      const [key, body] = [`${writer}-${i % 20}`, `${i} `.repeat(i % 5 === 0 ? 40_000 : 10)];
      // Who was connected to the dead thread hears nothing: the put may have happened, or not.
      stored.delete(key);
      const answer = await s3.ask("PUT", `/bucket/${key}`, { body }).catch(() => null);
      if (answer?.status === 200) stored.set(key, body);
    }
  };
  const writers = [0, 1, 2, 3].map(write);
  for (let deaths = 1; deaths <= 3; deaths++) {
    s3.crash();
    await until(() => logged("a thread of the S3 API is back") === deaths);
  }
  over.abort();
  await Promise.all(writers);
  assert.ok(stored.size > 20);
  for (const [key, body] of stored) {
    assert.equal((await s3.ask("GET", `/bucket/${key}`)).text, body);
  }
  assert.equal(logged("a thread of the S3 API ended"), 3);
  assert.match(s3.lines.join(""), /"message":"The thread has crashed"/);
  assert.match(s3.metrics.print(), /selvedge_s3_thread_restarts_total 3\n/);
  const bucket = await s3.objects.bucket("bucket");
  await s3.objects.put(bucket, "of the main thread", Buffer.from("here"));
  assert.equal((await s3.ask("GET", "/bucket/of%20the%20main%20thread")).text, "here");
  await s3.objects.sweep();
});
