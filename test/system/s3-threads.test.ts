/** The S3 door on several threads: whichever takes a connection, its client sees one store. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { Agent, type IncomingMessage, request as sendRequest } from "node:http";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { until } from "../support/patience.ts";
import { type S3TestServer, startS3 } from "../support/s3.ts";
import { keyHeaders } from "../support/server.ts";
import { call } from "./api.ts";
import { firstIds } from "./policies.ts";
import { type Answer, type Ask, ask as askAt, codeOf, signed, targetOf } from "./s3-wire.ts";

const THREADS = 3;
const env = { SELVEDGE_S3_THREADS: String(THREADS) };
const MIB = 1024 ** 2;

const agents: Agent[] = [];
after(() => agents.forEach((agent) => agent.destroy()));

/** A connection that is kept to each of the threads: answers tell one from the other. */
async function connectToEach(endpoint: string): Promise<Agent[]> {
  const found = new Map<string, Agent>();
  await until(async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    agents.push(agent);
    const { headers } = await askAt(endpoint, "GET", { path: "/", agent });
    found.getOrInsert(String(headers["x-amz-id-2"]), agent);
    return found.size === THREADS;
  });
  return [...found.values()];
}

const server = await startS3({ env });
after(() => server[Symbol.asyncDispose]());
const { account } = await firstIds(server);
const each = await connectToEach(server.endpoint);

/** Asks the thread of that number, in turns. */
function ask(thread: number, method: string, path: string, more: Partial<Ask> = {}) {
  return askAt(server.endpoint, method, { path, agent: each[thread % THREADS]!, ...more });
}

function statusesOf(answers: readonly Answer[]): number[] {
  return answers.map(({ status }) => status);
}

const onEach = (method: string, path: string, more: Partial<Ask> = {}) =>
  Promise.all(each.map((_, thread) => ask(thread, method, path, more)));

suite("what one thread has acknowledged is seen by the others at once:", () => {
  test("objects, in reads and in lists", async () => {
    await ask(0, "PUT", "/seen");
    for (let i = 0; i < 150; i++) {
      const body = i % 10 === 0 ? randomBytes(200_000) : Buffer.from(`value ${i}`);
      assert.equal((await ask(i, "PUT", `/seen/${i % 7}`, { body })).status, 200);
      const read = await ask(i + 1, "GET", `/seen/${i % 7}`);
      assert.ok(read.body.equals(body), `put ${i} is not what another thread reads`);
      const listed = await ask(i + 2, "GET", "/seen", { query: { "list-type": "2" } });
      assert.ok(listed.text.includes(String(read.headers.etag).replaceAll('"', "")), `list ${i}`);
      if (i % 3 !== 0) continue;
      await ask(i, "DELETE", `/seen/${i % 7}`);
      assert.equal((await ask(i + 1, "GET", `/seen/${i % 7}`)).status, 404);
    }
  });

  test("buckets made, removed and made again, with what is set for them", async () => {
    const body =
      "<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET" +
      "</AllowedMethod></CORSRule></CORSConfiguration>";
    for (let i = 0; i < 20; i++) {
      assert.equal((await ask(i, "PUT", "/again")).status, 200);
      assert.deepEqual(statusesOf(await onEach("PUT", "/again/a", { body: "x" })), [200, 200, 200]);
      await ask(i, "PUT", "/again", { query: { cors: "" }, body });
      assert.deepEqual(
        statusesOf(await onEach("GET", "/again", { query: { cors: "" } })),
        [200, 200, 200],
      );
      await ask(i + 1, "DELETE", "/again", { query: { cors: "" } });
      assert.deepEqual(
        statusesOf(await onEach("GET", "/again", { query: { cors: "" } })),
        [404, 404, 404],
      );
      await ask(i + 1, "DELETE", "/again/a");
      assert.equal((await ask(i + 2, "DELETE", "/again")).status, 204);
      const refused = await onEach("PUT", "/again/a", { body: "x" });
      assert.deepEqual(refused.map(codeOf), Array(THREADS).fill("NoSuchBucket"));
    }
  });

  test("parts of an upload", async () => {
    await ask(0, "PUT", "/parts");
    const begun = await ask(0, "POST", "/parts/a", { query: { uploads: "" } });
    const uploadId = /<UploadId>(.*?)</.exec(begun.text)![1]!;
    const part = (partNumber: number) => ({ partNumber: String(partNumber), uploadId });
    const first = await ask(1, "PUT", "/parts/a", { query: part(1), body: randomBytes(5 * MIB) });
    const last = await ask(2, "PUT", "/parts/a", { query: part(2), body: "end" });
    const body = completion([first, last]);
    const completed = await ask(0, "POST", "/parts/a", { query: { uploadId }, body });
    assert.equal(completed.status, 200, completed.text);
    const lengths = (await onEach("HEAD", "/parts/a")).map(
      ({ headers }) => headers["content-length"],
    );
    assert.deepEqual(lengths, Array(THREADS).fill(String(5 * MIB + 3)));
  });
});

suite("what the main thread changes is seen by all at once:", () => {
  test("a key that is revoked opens nothing any more", async () => {
    for (let i = 0; i < 5; i++) {
      const body = { name: "test", permission: "read-write" };
      const keys = `/accounts/${account}/storage/keys`;
      const { result } = await call(server, "POST", keys, { body });
      const made = result as { access_key_id: string; secret_access_key: string };
      const key = { id: made.access_key_id, secret: made.secret_access_key };
      assert.deepEqual(statusesOf(await onEach("GET", "/", { key })), [200, 200, 200]);
      await call(server, "DELETE", `${keys}/${key.id}`);
      const refused = await onEach("GET", "/", { key });
      assert.deepEqual(refused.map(codeOf), Array(THREADS).fill("InvalidAccessKeyId"));
    }
  });

  test("buckets of the API", async () => {
    const buckets = `/accounts/${account}/r2/buckets`;
    for (let i = 0; i < 10; i++) {
      const { status, text } = await call(server, "POST", buckets, {
        body: { name: "of-the-api" },
      });
      assert.equal(status, 200, text);
      assert.deepEqual(statusesOf(await onEach("HEAD", "/of-the-api")), [200, 200, 200]);
      await call(server, "DELETE", `${buckets}/of-the-api`);
      assert.deepEqual(statusesOf(await onEach("HEAD", "/of-the-api")), [404, 404, 404]);
    }
    await ask(0, "PUT", "/of-s3");
    assert.equal((await call(server, "GET", `${buckets}/of-s3`)).status, 200);
    await ask(1, "DELETE", "/of-s3");
    assert.equal((await call(server, "GET", `${buckets}/of-s3`)).status, 404);
  });
});

test("an object that is read slowly on one thread keeps its parts, replaced and swept meanwhile", async () => {
  await using own = await startS3({ env });
  const parts = Array.from({ length: 4 }, () => randomBytes(8 * MIB));
  await askAt(own.endpoint, "PUT", { path: "/slow" });
  await upload(own, parts);
  const blobs = () =>
    readdirSync(join(own.data, "blobs"), { recursive: true }).filter(isBlob).length;
  assert.equal(blobs(), 4);
  const path = "/slow/big";
  const headers = signed(own.endpoint, "GET", { path });
  const sent = sendRequest(own.endpoint + path, { headers, agent: false }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  await upload(own, [randomBytes(6 * MIB)]);
  // Garbage is collected half a second after it was made; here three times over.
  for (let i = 0; i < 3; i++) {
    for (let again = 0; again < 2; again++) {
      await askAt(own.endpoint, "PUT", { path: "/slow/other", body: randomBytes(MIB) });
    }
    await until(() => blobs() === 4 + 2);
    await sleep(100);
  }
  const read = Buffer.concat(await Array.fromAsync(response as AsyncIterable<Buffer>));
  assert.ok(read.equals(Buffer.concat(parts)));
  await askAt(own.endpoint, "DELETE", { path: "/slow/other" });
  await until(() => blobs() === 1);
});

test("at a stop every thread answers what it has begun", async () => {
  await using own = await startS3({ env });
  await askAt(own.endpoint, "PUT", { path: "/bucket" });
  const puts = Array.from({ length: 12 }, (_, i) => slowPut(own.endpoint, `/bucket/${i}`));
  const begun = await Promise.all(puts.map(({ hasBegun }) => hasBegun));
  assert.equal(begun.length, 12);
  const ended = own.end();
  for (const { finish } of puts) finish();
  assert.deepEqual(await Promise.all(puts.map(({ status }) => status)), Array(12).fill(200));
  assert.equal(await ended, 0);
  await using again = await startS3({ env, data: own.data });
  const { text } = await askAt(again.endpoint, "GET", { path: "/bucket" });
  assert.equal(text.match(/<Key>/g)?.length, 12);
});

test("what all threads have counted is shown together, with their connections", async () => {
  const page = async () =>
    (await fetch(`${server.origin}/metrics`, { headers: keyHeaders })).text();
  const heads = async () =>
    Number(
      /^selvedge_s3_requests_total\{operation="HeadBucket",status="404"\} (\d+)$/m.exec(
        await page(),
      )?.[1] ?? 0,
    );
  const before = await heads();
  for (let i = 0; i < 5; i++) await onEach("HEAD", "/nowhere");
  await until(async () => (await heads()) === before + 5 * THREADS);
  await onEach("GET", "/");
  assert.match(await page(), /^selvedge_s3_connections [1-9]\d*$/m);
  assert.match(await page(), /^selvedge_s3_thread_restarts_total 0$/m);
});

async function upload({ endpoint }: S3TestServer, parts: readonly Uint8Array[]): Promise<void> {
  const path = "/slow/big";
  const begun = await askAt(endpoint, "POST", { path, query: { uploads: "" } });
  const uploadId = /<UploadId>(.*?)</.exec(begun.text)![1]!;
  const stored: Answer[] = [];
  for (const [i, body] of parts.entries()) {
    const query = { partNumber: String(i + 1), uploadId };
    stored.push(await askAt(endpoint, "PUT", { path, query, body }));
  }
  const body = completion(stored);
  assert.equal((await askAt(endpoint, "POST", { path, query: { uploadId }, body })).status, 200);
}

function completion(parts: readonly Answer[]): string {
  const listed = parts.map(
    ({ headers }, i) =>
      `<Part><PartNumber>${i + 1}</PartNumber><ETag>${headers.etag}</ETag></Part>`,
  );
  return `<CompleteMultipartUpload>${listed.join("")}</CompleteMultipartUpload>`;
}

function isBlob(path: string | Buffer): boolean {
  return /^[0-9a-f]{2}\/[0-9a-f]{30}$/.test(String(path));
}

/** A put whose body ends when the test says so. */
function slowPut(endpoint: string, path: string) {
  const asked: Ask = { path, body: "0123456789", headers: { expect: "100-continue" } };
  const headers = { ...signed(endpoint, "PUT", asked), "content-length": "10" };
  const sent = sendRequest(endpoint + targetOf(asked), { method: "PUT", headers, agent: false });
  sent.flushHeaders();
  const hasBegun = once(sent, "continue").then(() => sent.write("01234"));
  const status = once(sent, "response").then(([response]) => {
    (response as IncomingMessage).resume();
    return (response as IncomingMessage).statusCode;
  });
  return { hasBegun, status, finish: () => sent.end("56789") };
}
