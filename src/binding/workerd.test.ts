import assert from "node:assert/strict";
import { request } from "node:http";
import { suite, test } from "node:test";
import type { ScriptPlace } from "#scripts";
import { until } from "../../test/support/patience.ts";
import { scriptOf } from "../../test/support/script-runtime.ts";
import { JSON_BYTES } from "./frames.ts";
import { bucket, openScriptBuckets, type ScriptBuckets } from "./script-buckets.contract.ts";

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
    await using opened = await openScriptBuckets();
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

  test("are globals of a script in the older syntax, whose code runs as it always did", async () => {
    await using opened = await openScriptBuckets();
    const { scripts, store, accountId } = opened;
    await store.createBucket(accountId, "things");
    const older = `greeting = "hello"; // No strict mode there.
      addEventListener("fetch", (event) => event.respondWith(answer(event.request)));
      addEventListener("scheduled", (event) => event.waitUntil(THINGS.put("cron", event.cron)));
      async function answer(request) {
        const key = new URL(request.url).pathname.slice(1);
        const kept = await THINGS.get(key);
        if (kept !== null) return new Response(kept.body);
        await THINGS.put(key, greeting + WORD + [main, env, listeners].every((code) => code instanceof WebAssembly.Module));
        return answer(request);
      }`;
    const data = Buffer.from("AGFzbQEAAAA=", "base64");
    scripts.put(
      scriptOf("older", older, {
        isServiceWorker: true,
        accountId,
        bindings: [
          bucket("THINGS", "things"),
          { type: "text", name: "WORD", text: "!" },
          ...["main", "env", "listeners"].map((name) => ({ type: "wasm", name, data }) as const),
        ],
      }),
    );
    assert.equal(await scripts.text("older", "/a"), "hello!true");
    await scripts.runtime.scheduled("id-older", { cron: "* * * * *", scheduledTime: 0 });
    assert.equal(await scripts.text("older", "/cron"), "* * * * *");
  });

  test("stay closed to those of another account, though it has the name", async () => {
    await using opened = await openScriptBuckets();
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
    await using opened = await openScriptBuckets();
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

  test("take streams whose length workerd knows, unless they end before it", async () => {
    const streams = `export default { async fetch(request, env) {
      const symbol = Object.getOwnPropertySymbols(ReadableStream.prototype)
        .find(({ description }) => description === "length");
      const known = typeof request.body[symbol];
      const put = (key, body) => env.THINGS.put(key, body).then(({ size }) => size, () => "refused");
      const { readable, writable } = new FixedLengthStream(1000);
      const writer = writable.getWriter();
      writer.write(new Uint8Array(10)).then(() => writer.abort(new Error("no more"))).catch(() => {});
      return Response.json([known, await put("whole", request.body), await put("short", readable)]);
    } }`;
    await using opened = await openScriptBuckets();
    const { scripts, store, accountId } = opened;
    const things = await store.createBucket(accountId, "things");
    scripts.put(scriptOf("user", streams, { bindings: [bucket("THINGS", "things")], accountId }));
    using place = await scripts.runtime.open("id-user");
    assert.equal(await postTo(place, "hello"), '["bigint",5,"refused"]');
    const { objects } = await store.list(things);
    assert.deepEqual(
      objects.map(({ key }) => key),
      ["whole"],
    );
  });

  test("take and give bodies of any size in bounded memory", async () => {
    const MIB = 1024 * 1024;
    const SIZE = 200;
    await using opened = await openScriptBuckets({ memoryMib: 64 });
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
    assert.ok(most - before < 150 * MIB, `${(most - before) / MIB} MiB more`);
  });
});

/** The status of a list of the bucket, asked for with the token from outside any script. */
function statusOf({ storeSocket }: ScriptBuckets, name: string, token: string): Promise<number> {
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

function postTo({ socketPath }: ScriptPlace, body: string): Promise<string> {
  const headers = { host: "example.com", "content-length": body.length };
  return new Promise((resolve, reject) => {
    request({ socketPath, agent: false, method: "POST", path: "/", headers }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("error", reject).on("end", () => resolve(text));
    })
      .on("error", reject)
      .end(body);
  });
}

/** How many octets the answer has. */
function lengthAt({ socketPath }: ScriptPlace, path: string): Promise<number> {
  return new Promise((resolve, reject) => {
    request({ socketPath, agent: false, path, headers: { host: "example.com" } }, (response) => {
      let length = 0;
      response.on("data", (chunk: Buffer) => (length += chunk.length));
      response.on("error", reject).on("end", () => resolve(length));
    })
      .on("error", reject)
      .end();
  });
}
