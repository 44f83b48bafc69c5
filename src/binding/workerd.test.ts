import assert from "node:assert/strict";
import { request } from "node:http";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Binding, ScriptPlace } from "#scripts";
import { until } from "../../test/support/patience.ts";
import { scriptOf, TestRuntime } from "../../test/support/script-runtime.ts";
import { JSON_BYTES } from "./frames.ts";
import { bindingModule } from "./binding-module.ts";
import type { Outcome } from "./in-workerd.contract.ts";
import { scriptAccess } from "./script-access.ts";
import type { Compatibility } from "./store-bucket.ts";
import { listenStoreSocket } from "./store-socket.ts";
import { openTestStore, type TestStore } from "./test-store.contract.ts";

/** Scripts with buckets of a store of their own. */
interface Scripts extends TestStore {
  readonly scripts: TestRuntime;
  readonly storeSocket: string;
  /** Those that the store was shown. */
  readonly tokens: ReadonlySet<string>;
}

async function openScripts(limits = {}): Promise<Scripts> {
  await using opened = new AsyncDisposableStack();
  const kept = opened.use(await openTestStore("sqlite"));
  const storeSocket = join(kept.folder, "store.sock");
  const options = { storeSocket, bindingModule: await bindingModule() };
  const scripts = opened.use(await TestRuntime.open(limits, options));
  const tokens = new Set<string>();
  const grant = (token: string) => {
    tokens.add(token);
    return scripts.runtime.grant(token);
  };
  const authorize = scriptAccess(grant, kept.store);
  const { store, accountId, folder } = kept;
  opened.use(await listenStoreSocket({ path: storeSocket, store, authorize, log: scripts.log }));
  const all = opened.move();
  const known = { scripts, store, accountId, folder, storeSocket, tokens };
  return { ...known, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

function bucket(name: string, bucketName: string, keepsDelimiter = false): Binding {
  return { type: "bucket", name, bucketName, keepsDelimiter };
}

suite("the contract of the bucket inside workerd", async () => {
  /** Dates at which a script's buckets behave like this, and more buckets than the tests open there. */
  const dates: readonly [date: string, Omit<Compatibility, "keepsDelimiter">, buckets: number][] = [
    ["2025-12-02", { honorsInclude: true, showsAbsent: false }, 600],
    ["2026-11-01", { honorsInclude: true, showsAbsent: true }, 10],
    ["2022-08-03", { honorsInclude: false, showsAbsent: false }, 10],
  ];
  const opened = await openScripts({ memoryMib: 1024 }); // The tests hold large values whole.
  after(() => opened[Symbol.asyncDispose]());
  const { scripts, store, accountId } = opened;
  const source = await contractModule();
  for (const [date, compatibility, buckets] of dates) {
    const bindings: Binding[] = [
      { type: "json", name: "COMPATIBILITY", json: compatibility },
      bucket("MISSING", "no-such-bucket"),
      bucket("KEEPS_DELIMITER", `keeps-${date}`, true),
    ];
    await store.createBucket(accountId, `keeps-${date}`);
    for (let i = 0; i < buckets; i++) {
      const name = `bucket-${date}-${i}`;
      await store.createBucket(accountId, name);
      bindings.push(bucket(`BUCKET_${i}`, name));
    }
    const flags = ["nodejs_compat", "nodejs_compat_v2"];
    scripts.put(scriptOf(date, source, { date, bindings, flags, accountId }));
  }
  const names = JSON.parse(await scripts.text(dates[0]![0])) as string[];
  assert.ok(names.length > 50);
  for (const [index, name] of names.entries()) {
    test(name, async () => {
      for (const [date] of dates) {
        const answer = await scripts.text(date, `/?test=${index}`);
        const { needs, failure } = JSON.parse(answer) as Outcome;
        if (needs !== undefined) continue;
        if (failure !== undefined) assert.fail(failure);
        return;
      }
      assert.fail("no script has the compatibility that it needs");
    });
  }
});

/** The script that runs the contract: its tests are kept, and run when asked for. */
async function contractModule(): Promise<string> {
  const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [here("./in-workerd.contract.ts")],
    alias: {
      "node:test": here("./node-test.contract.ts"),
      "node:assert/strict": here("./node-assert.contract.ts"),
    },
    external: ["node:*"],
    bundle: true,
    write: false,
    format: "esm",
    target: "esnext",
    logLevel: "silent",
  });
  return outputFiles[0]!.text;
}

suite("a script's buckets", () => {
  /** Puts, gets and lists as the request says. */
  const source = `export default { async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    const bucket = env[searchParams.get("bucket") ?? "THINGS"];
    const key = searchParams.get("key") ?? "k";
    try {
      if (pathname === "/put") {
        const made = searchParams.get("mib");
        const body = made === null ? searchParams.get("value") : zeros(Number(made));
        return Response.json(await bucket.put(key, body));
      }
      if (pathname === "/get") return new Response((await bucket.get(key)).body);
      if (pathname === "/length") {
        let length = 0;
        for await (const chunk of (await bucket.get(key)).body) length += chunk.length;
        return Response.json(length);
      }
      const object = await bucket.get(key);
      const names = [bucket, object, object.checksums].map((one) => one.constructor.name);
      return Response.json(names);
    } catch (error) {
      return Response.json({ error: error.name + ": " + error.message });
    } } };
    function zeros(mib) {
      const { readable, writable } = new FixedLengthStream(mib * 2 ** 20);
      (async () => {
        const writer = writable.getWriter();
        for (let i = 0; i < mib * 16; i++) await writer.write(new Uint8Array(65536));
        await writer.close();
      })();
      return readable;
    }`;

  test("are those that it has bound, and are known by the names of their classes", async () => {
    await using opened = await openScripts();
    const { scripts, store, accountId } = opened;
    await store.createBucket(accountId, "things");
    scripts.put(scriptOf("user", source, { bindings: [bucket("THINGS", "things")], accountId }));
    const put = JSON.parse(await scripts.text("user", "/put?value=hello")) as { size: number };
    assert.equal(put.size, 5);
    assert.equal(await scripts.text("user", "/get"), "hello");
    assert.deepEqual(JSON.parse(await scripts.text("user", "/names")), [
      "StoreBucket",
      "GetResult",
      "Checksums",
    ]);
  });

  test("stay closed to those of another account, though it has the name", async () => {
    await using opened = await openScripts();
    const { scripts, store, accountId } = opened;
    await store.createBucket(accountId, "things");
    const bindings = [bucket("THINGS", "things")];
    scripts.put(scriptOf("thief", source, { bindings, accountId: "f".repeat(32) }));
    const expected = "put: The specified bucket does not exist. (10006)";
    assert.deepEqual(JSON.parse(await scripts.text("thief", "/put?value=x")), {
      error: `Error: ${expected}`,
    });
  });

  test("cannot be reached by requests that a script has forged, nor after its end", async () => {
    await using opened = await openScripts();
    const { scripts, store, accountId } = opened;
    for (const name of ["things", "others"]) await store.createBucket(accountId, name);
    scripts.put(scriptOf("user", source, { bindings: [bucket("THINGS", "things")], accountId }));
    await scripts.text("user", "/put?value=hello");
    const [token] = opened.tokens;
    assert.ok(token !== undefined);
    assert.deepEqual(scripts.runtime.grant(token)?.buckets, new Set(["things"]));
    assert.equal(await statusOf(opened, "things", token), 200);
    assert.equal(await statusOf(opened, "others", token), 403);
    assert.equal(await statusOf(opened, "things", `${token}x`), 401);
    assert.equal(await statusOf(opened, "..%2Fthings", token), 403);
    scripts.remove("user");
    await until(() => scripts.runtime.grant(token) === null);
    assert.equal(await statusOf(opened, "things", token), 401);
  });

  test("take and give bodies of any size in bounded memory", async () => {
    const MIB = 1024 * 1024;
    const SIZE = 200;
    await using opened = await openScripts({ memoryMib: 80 });
    const { scripts, store, accountId } = opened;
    await store.createBucket(accountId, "things");
    scripts.put(scriptOf("user", source, { bindings: [bucket("THINGS", "things")], accountId }));
    let most = 0;
    const before = process.memoryUsage.rss();
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 10);
    try {
      const put = JSON.parse(await scripts.text("user", `/put?mib=${SIZE}`)) as { size: number };
      assert.equal(put.size, SIZE * MIB);
      assert.equal(await scripts.text("user", "/length"), String(SIZE * MIB));
      using place = await scripts.runtime.open("id-user");
      assert.equal(await lengthAt(place, "/get"), SIZE * MIB);
      assert.equal(place.fault(), null);
    } finally {
      clearInterval(watch);
    }
    assert.ok(most - before < 100 * MIB, `${(most - before) / MIB} MiB more`);
  });
});

/** The status of a list of the bucket, asked for with the token from outside any script. */
function statusOf({ storeSocket }: Scripts, name: string, token: string): Promise<number> {
  const json = JSON.stringify({ method: "list", include: [] });
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, [JSON_BYTES]: String(json.length) };
    const path = `/store/v1/${name}`;
    request(
      { socketPath: storeSocket, method: "POST", path, headers, agent: false },
      (response) => {
        response.resume().on("end", () => resolve(response.statusCode!));
      },
    )
      .on("error", reject)
      .end(json);
  });
}

/** How many octets the answer has. */
function lengthAt({ socketPath, agent }: ScriptPlace, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ socketPath, agent, path, headers: { host: "example.com" } }, (response) => {
      let length = 0;
      response.on("data", (chunk: Buffer) => (length += chunk.length));
      response.on("error", reject).on("end", () => resolve(length));
    })
      .on("error", reject)
      .end();
  });
}
