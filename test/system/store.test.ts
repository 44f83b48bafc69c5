/** The store as a library: embedded in this process, and on a real server. */
import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { connectStore, openStore, type StoreBucket } from "selvedge/store";
import { freshPostgresUrl, stopOwnPostgres } from "../support/postgres.ts";
import { readMetrics } from "../support/prometheus.ts";
import { EMAIL, KEY, runSelvedge, startServer, type TestServer } from "../support/server.ts";
import { call } from "./api.ts";
import { accountKey, bucketKey, firstIds, policy, type PolicyInput } from "./policies.ts";

const MIB = 1024 * 1024;

after(stopOwnPostgres);

suite("a store on a server", () => {
  let server: TestServer;
  let account: string;
  const withKey = () => connectStore({ url: server.origin, email: EMAIL, key: KEY });
  const makeBucket = (name: string, of = account) =>
    call(server, "POST", `/accounts/${of}/storage/buckets`, { body: { name } });
  const token = async (...policies: PolicyInput[]): Promise<string> => {
    const made = await call(server, "POST", "/user/tokens", { body: { name: "t", policies } });
    return (made.result as { value: string }).value;
  };
  before(async () => {
    server = await startServer();
    ({ account } = await firstIds(server));
    await makeBucket("things");
    await makeBucket("others");
  });
  after(() => server[Symbol.asyncDispose]());

  test("is used with the key of an account", async () => {
    const bucket = withKey().bucket("things");
    const value = new Uint8Array(3 * MIB).fill(7);
    const { etag } = await bucket.put("k", value, { customMetadata: { a: "ü" } });
    const object = (await bucket.get("k"))!;
    assert.deepEqual([object.etag, object.customMetadata], [etag, { a: "ü" }]);
    assert.deepEqual(await object.bytes(), value);
  });

  test("is used with credentials that a data folder has", async () => {
    const bucket = connectStore({ url: server.origin, data: server.data }).bucket("things");
    assert.equal((await bucket.list({ prefix: "none" })).objects.length, 0);
  });

  test("takes the address in every form that people have at hand", async () => {
    for (const url of [server.origin, `${server.origin}/`, server.base, server.origin.slice(7)]) {
      assert.equal(await connectStore({ url, key: KEY }).bucket("things").head("none"), null);
    }
  });

  test("tokens open what their policies say, and no more", async () => {
    const values = {
      reads: await token(policy("allow", accountKey(account), "storageRead")),
      writes: await token(policy("allow", accountKey(account), "storageWrite")),
      readsThings: await token(policy("allow", bucketKey(account, "things"), "bucketItemRead")),
      writesThings: await token(policy("allow", bucketKey(account, "things"), "bucketItemWrite")),
      settings: await token(policy("allow", accountKey(account), "accountSettingsRead")),
    };
    const outcome = (work: Promise<unknown>) =>
      work.then(
        () => "done",
        (error: Error) => /\((\d+)\)$/.exec(error.message)?.[1] ?? error.message,
      );
    const tried = async (value: string, name: string) => {
      const bucket = connectStore({ url: server.origin, token: value }).bucket(name);
      return [await outcome(bucket.head("k")), await outcome(bucket.put("k", "v"))];
    };
    const NO = "10003";
    assert.deepEqual(await tried(values.reads, "things"), ["done", NO]);
    assert.deepEqual(await tried(values.writes, "things"), ["done", "done"]);
    assert.deepEqual(await tried(values.readsThings, "things"), ["done", NO]);
    assert.deepEqual(await tried(values.readsThings, "others"), [NO, NO]);
    assert.deepEqual(await tried(values.writesThings, "things"), ["done", "done"]);
    assert.deepEqual(await tried(values.writesThings, "others"), [NO, NO]);
    assert.deepEqual(await tried(values.settings, "things"), [NO, NO]);
  });

  test("a token of one account opens no bucket of another", async () => {
    const { result } = await call(server, "POST", "/accounts", { body: { name: "Other" } });
    const other = (result as { id: string }).id;
    await makeBucket("foreign", other);
    const policies = [policy("allow", accountKey(account), "storageWrite")];
    const path = `/accounts/${account}/tokens`;
    const made = await call(server, "POST", path, { body: { name: "t", policies } });
    const { value } = made.result as { value: string };
    const store = connectStore({ url: server.origin, token: value });
    assert.ok(await store.bucket("things").put("k", "v"));
    await assert.rejects(store.bucket("foreign").head("k"), /\(10003\)$/);
    await assert.rejects(store.bucket("none-such").head("k"), /\(10006\)$/);
  });

  test("strangers are told so, and nothing is stored", async () => {
    const strangers = [
      { url: server.origin, key: "f".repeat(37) },
      { url: server.origin, token: "f".repeat(40) },
      { url: server.origin, token: "junk" },
    ];
    for (const credentials of strangers) {
      const bucket = connectStore(credentials).bucket("things");
      await assert.rejects(bucket.put("stranger", "v"), /^Error: put: .* \(10002\)$/);
      const large = bucket.put("stranger", new Uint8Array(8 * MIB));
      await assert.rejects(large, /^Error: put: .* \(10002\)$/);
    }
    assert.equal(await withKey().bucket("things").head("stranger"), null);
  });

  test("large bodies pass through in little memory, and others are served meanwhile", async () => {
    const bucket = withKey().bucket("things");
    const memory = async () => (await readMetrics(server)).value("process_resident_memory_bytes");
    const before = await memory();
    let most = before;
    let looks = 0;
    const over = new AbortController();
    const watching = (async () => {
      while (!over.signal.aborted) {
        most = Math.max(most, await memory());
        looks++;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    const size = 256 * MIB;
    const chunk = new Uint8Array(MIB).fill(1);
    let left = size / MIB;
    const stream = new ReadableStream<Uint8Array>({
      pull: (controller) => (left-- > 0 ? controller.enqueue(chunk) : controller.close()),
    });
    assert.equal((await bucket.put("large", stream)).size, size);
    let read = 0;
    for await (const part of (await bucket.get("large"))!.body) read += part.length;
    assert.equal(read, size);
    over.abort();
    await watching;
    assert.ok(most - before < 100 * MIB, `${Math.round((most - before) / MIB)} MiB more`);
    assert.ok(looks > 10, `${looks} looks at the memory meanwhile`);
    await bucket.delete("large");
  });

  test("/metrics and the log tell of it", async () => {
    const before = await readMetrics(server);
    const bucket = withKey().bucket("things");
    await bucket.put("k", "value");
    await (await bucket.get("k"))!.text();
    await assert.rejects(bucket.get("x".repeat(2_000)));
    const after = await readMetrics(server);
    const more = (name: string, labels: Record<string, string>) =>
      after.value(name, labels) - before.value(name, labels);
    const labels = { method: "POST", route: "/store/v1/:bucket", status: "200" };
    assert.equal(more("selvedge_api_requests_total", labels), 2);
    const operations = "selvedge_objects_operations_total";
    assert.equal(more(operations, { operation: "put", result: "ok" }), 1);
    assert.equal(more(operations, { operation: "get", result: "ok" }), 1);
    assert.equal(more(operations, { operation: "get", result: "bad-key" }), 1);
    assert.equal(more("selvedge_objects_octets_total", { direction: "in" }), 5);
    assert.equal(more("selvedge_objects_octets_total", { direction: "out" }), 5);
    assert.match(server.output.stderr, /"path":"\/store\/v1\/things".*"actor":"user:/);
  });
});

test("a server on PostgreSQL keeps objects, and says whose files they are in", async () => {
  await using server = await startServer({ args: ["--database", await freshPostgresUrl()] });
  const { account } = await firstIds(server);
  const body = { name: "things" };
  await call(server, "POST", `/accounts/${account}/storage/buckets`, { body });
  const bucket = connectStore({ url: server.origin, email: EMAIL, key: KEY }).bucket("things");
  for (const value of ["v", "v".repeat(MIB)]) {
    await bucket.put("k", value);
    assert.equal(await (await bucket.get("k"))!.text(), value);
  }
  assert.match(server.output.stderr, /others that share its database need --blobs s3:/);
});

suite("an embedded store", () => {
  let data: string;
  before(async () => {
    data = await mkdtemp(join(tmpdir(), "selvedge-test-"));
  });
  after(() => rm(data, { recursive: true }));

  test("keeps what was put until it is opened again", async () => {
    const value = new Uint8Array(2 * MIB).fill(3);
    {
      await using store = await openStore({ data });
      const bucket = await store.createBucket("kept");
      await bucket.put("small", "v");
      await bucket.put("large", value);
    }
    await using store = await openStore({ data });
    const bucket = store.bucket("kept");
    assert.equal(await (await bucket.get("small"))!.text(), "v");
    assert.deepEqual(await (await bucket.get("large"))!.bytes(), value);
  });

  test("makes, lists and deletes buckets, and says what it will not do", async () => {
    await using store = await openStore({ data });
    const cold = await store.createBucket("cold", { storageClass: "InfrequentAccess" });
    assert.equal((await cold.put("k", "v")).storageClass, "InfrequentAccess");
    await store.createBucket("made");
    const all = await store.buckets();
    assert.deepEqual(
      all.map(({ name, storageClass }) => [name, storageClass]),
      [
        ["cold", "InfrequentAccess"],
        ["kept", "Standard"],
        ["made", "Standard"],
      ],
    );
    assert.ok(all.every(({ created }) => Math.abs(created.getTime() - Date.now()) < 60_000));
    const refusals: [work: () => Promise<unknown>, message: RegExp][] = [
      [() => store.createBucket("made"), /^Error: createBucket: .* \(10073\)$/],
      [() => store.createBucket("No"), /^Error: createBucket: .* \(10005\)$/],
      [() => store.deleteBucket("cold"), /^Error: deleteBucket: .* \(10008\)$/],
      [() => store.deleteBucket("none-such"), /^Error: deleteBucket: .* \(10006\)$/],
      [() => store.bucket("none-such").head("k"), /^Error: head: .* \(10006\)$/],
    ];
    for (const [work, message] of refusals) await assert.rejects(work(), message);
    await cold.delete("k");
    await store.deleteBucket("cold");
    await store.deleteBucket("made");
  });

  test("a close waits for what is under way, and then nothing goes", async () => {
    const store = await openStore({ data });
    const bucket = store.bucket("kept");
    const puts = Array.from({ length: 20 }, (_, i) => bucket.put(`late/${i}`, "v"));
    await store.close();
    await Promise.all(puts);
    await store.close();
    await assert.rejects(bucket.head("small"), /^Error: The store is closed$/);
    await assert.rejects(store.buckets(), /^Error: The store is closed$/);
    await using again = await openStore({ data });
    const { objects } = await again.bucket("kept").list({ prefix: "late/" });
    assert.equal(objects.length, 20);
  });

  test("has its folder to itself", async () => {
    await using _ = await openStore({ data });
    await assert.rejects(openStore({ data }), /another Selvedge is running on it/);
    const child = runSelvedge(["serve", "--data", data, "--api", "127.0.0.1:0"]);
    let said = "";
    child.stderr!.on("data", (chunk: Buffer) => (said += chunk.toString()));
    const code = await new Promise((resolve) => child.once("close", resolve));
    assert.deepEqual([code, /another Selvedge is running on it/.test(said)], [1, true], said);
  });

  test("a folder that cannot be one is refused with a sentence", async () => {
    const path = join(data, "a-file");
    await writeFile(path, "");
    await assert.rejects(openStore({ data: path }), /^Error: Cannot use .*a-file/);
  });

  test("becomes a server's when one is started on its folder", async () => {
    {
      await using store = await openStore({ data });
      await store.bucket("kept").put("for the server", "v");
    }
    await using server = await startServer({ data });
    const store = connectStore({ url: server.origin, data });
    const bucket: StoreBucket = store.bucket("kept");
    assert.equal(await (await bucket.get("for the server"))!.text(), "v");
    await server.end();
    await using again = await openStore({ data });
    assert.ok(await again.bucket("kept").head("for the server"));
  });
});
