/** Objects over the management API, as `wrangler r2 object` and the SDKs use them. */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { after, suite, test } from "node:test";
import { connectStore } from "selvedge/store";
import { Cloudflare } from "../clients/index.ts";
import { EMAIL, KEY, keyHeaders, startServer } from "../support/server.ts";
import { bearer, call } from "./api.ts";
import { accountKey, firstIds, policy } from "./policies.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { account } = await firstIds(server);
const store = connectStore({ url: server.origin, email: EMAIL, key: KEY });
await call(server, "POST", `/accounts/${account}/r2/buckets`, { body: { name: "objects" } });
const bucket = store.bucket("objects");
const path = `/accounts/${account}/r2/buckets/objects/objects`;

const send = (method: string, key: string, body?: RequestInit["body"], headers: object = {}) =>
  fetch(`${server.base}${path}/${key}`, {
    method,
    headers: { ...keyHeaders, ...headers },
    ...(body !== undefined && { body, duplex: "half" }),
  });

suite("an object over the API", () => {
  test("is put, fetched and deleted with its metadata", async () => {
    const metadata = {
      "content-type": "text/x; charset=utf-8",
      "cache-control": "no-cache",
      "content-disposition": "inline",
      "content-encoding": "identity",
      "content-language": "en",
    };
    const put = await send("PUT", "a/b.txt", "hello", {
      ...metadata,
      expires: "2030-01-01T00:00:00Z",
      "cf-r2-storage-class": "InfrequentAccess",
      "cf-r2-data-catalog-check": "true",
    });
    const { result } = (await put.json()) as { result: Record<string, string> };
    assert.equal(put.status, 200);
    assert.deepEqual([result["key"], result["size"]], ["a/b.txt", "5"]);
    assert.equal(result["storage_class"], "InfrequentAccess");

    const got = await send("GET", "a/b.txt");
    assert.equal(await got.text(), "hello");
    for (const [name, value] of Object.entries(metadata)) {
      assert.equal(got.headers.get(name), value, name);
    }
    assert.equal(got.headers.get("expires"), "Tue, 01 Jan 2030 00:00:00 GMT");
    assert.equal(got.headers.get("etag"), `"${result["etag"]}"`);
    const head = await send("HEAD", "a/b.txt");
    assert.deepEqual([head.status, head.headers.get("content-length")], [200, "5"]);

    const gone = await call(server, "DELETE", `${path}/a/b.txt`);
    assert.deepEqual([gone.status, gone.result], [200, { key: "a/b.txt" }]);
    const missing = await call(server, "GET", `${path}/a/b.txt`);
    assert.deepEqual([missing.status, missing.errors[0]?.code], [404, 10_007]);
    assert.equal((await send("HEAD", "a/b.txt")).status, 404);
  });

  test("is not sent again to those who have it", async () => {
    await send("PUT", "known", "x");
    const first = await send("GET", "known");
    const etag = first.headers.get("etag")!;
    const date = first.headers.get("last-modified")!;
    await first.text();
    const status = async (headers: object) =>
      (await send("GET", "known", undefined, headers)).status;
    for (const tags of [etag, `"other", W/${etag}`, "*"]) {
      assert.equal(await status({ "if-none-match": tags }), 304, tags);
    }
    assert.equal(await status({ "if-none-match": '"other"' }), 200);
    assert.equal(await status({ "if-modified-since": date }), 304);
    assert.equal(await status({ "if-modified-since": "Thu, 01 Jan 1970 00:00:00 GMT" }), 200);
    for (const nonsense of ["soon", ""]) {
      assert.equal(await status({ "if-modified-since": nonsense, "if-none-match": nonsense }), 200);
    }
    await send("DELETE", "known");
  });

  test("has the key that its path says, slashes and all", async () => {
    for (const key of ["a b/ü+%?#", "/begins", "ends/", "a//b", "%41", "?"]) {
      const { status } = await send("PUT", encodeURIComponent(key), key);
      assert.equal(status, 200, key);
      assert.equal(await (await bucket.get(key))?.text(), key);
      assert.equal(await (await send("GET", encodeURIComponent(key))).text(), key);
      await send("DELETE", encodeURIComponent(key));
      assert.equal(await bucket.head(key), null);
    }
    await send("PUT", "plain/slashes/ü", "x");
    assert.notEqual(await bucket.head("plain/slashes/ü"), null);
    for (const bad of ["%ff", "%"]) {
      assert.ok([400, 404].includes((await send("PUT", bad, "x")).status), bad);
    }
  });

  test("of many octets flows both ways", async () => {
    const chunk = randomBytes(1024 ** 2);
    const hash = createHash("sha256");
    const CHUNKS = 64;
    async function* octets() {
      for (let i = 0; i < CHUNKS; i++) {
        hash.update(chunk);
        yield chunk;
      }
    }
    const put = await send("PUT", "large", ReadableStream.from(octets()));
    assert.equal(put.status, 200, await put.text());
    const got = await send("GET", "large");
    assert.equal(got.headers.get("content-length"), String(CHUNKS * chunk.length));
    const received = createHash("sha256");
    for await (const piece of got.body!) received.update(piece);
    assert.equal(received.digest("hex"), hash.digest("hex"));
  });

  test("is not stored when its sender breaks off", async () => {
    const { port } = new URL(server.origin);
    const headers = Object.entries({ ...keyHeaders, host: "x", "content-length": "1000" });
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    const socket = connect(Number(port), "127.0.0.1").resume();
    socket.end(`PUT /client/v4${path}/half HTTP/1.1\r\n${lines}\r\nhalf`);
    await once(socket, "close");
    assert.equal(await bucket.head("half"), null);
  });

  test("is listed with the others in pages, and by the SDK", async () => {
    await bucket.delete("large");
    for (const key of ["l/1", "l/2", "l/3", "l/d/4"]) await bucket.put(key, key);
    const page = await call(server, "GET", `${path}?prefix=l/&delimiter=/&per_page=2`);
    const info = page.result_info as unknown as { cursor: string; is_truncated: boolean };
    assert.deepEqual(
      (page.result as { key: string }[]).map(({ key }) => key),
      ["l/1", "l/2"],
    );
    assert.equal(info.is_truncated, true);
    const next = await call(server, "GET", `${path}?prefix=l/&delimiter=/&cursor=${info.cursor}`);
    assert.deepEqual(
      (next.result as { key: string }[]).map(({ key }) => key),
      ["l/3"],
    );
    const { delimited } = next.result_info as unknown as { delimited: string[] };
    assert.deepEqual(delimited, ["l/d/"]);

    const client = new Cloudflare({
      baseURL: server.base,
      apiEmail: EMAIL,
      apiKey: KEY,
      apiToken: null,
      maxRetries: 0,
    });
    const keys: (string | undefined)[] = [];
    const where = { account_id: account, bucket_name: "objects" };
    const listed = client.r2.buckets.objects.list("objects", {
      account_id: account,
      prefix: "l/",
      per_page: 1,
    });
    for await (const { key } of listed) keys.push(key);
    assert.deepEqual(keys, ["l/1", "l/2", "l/3", "l/d/4"]);
    await client.r2.buckets.objects.upload("sdk/one", new Blob(["from the SDK"]), where);
    const got = await client.r2.buckets.objects.get("sdk/one", where);
    assert.equal(await got.text(), "from the SDK");
    assert.deepEqual(await client.r2.buckets.objects.delete("sdk/one", where), { key: "sdk/one" });
  });

  test("is for those who may", async () => {
    await bucket.put("secret", "x");
    const stranger = await call(server, "GET", `${path}/secret`, {
      headers: bearer("x".repeat(40)),
    });
    assert.equal(stranger.status, 403);
    const reader = {
      name: "reader",
      policies: [policy("allow", accountKey(account), "storageRead")],
    };
    const { result } = await call(server, "POST", "/user/tokens", { body: reader });
    const headers = bearer((result as { value: string }).value);
    assert.equal((await fetch(`${server.base}${path}/secret`, { headers })).status, 200);
    const large = new Uint8Array(8 * 1024 ** 2);
    const refused = await fetch(`${server.base}${path}/mine`, {
      method: "PUT",
      headers,
      body: large,
    });
    assert.equal(refused.status, 403);
    assert.equal(
      (await call(server, "GET", `${path.replace("objects/objects", "none/objects")}/x`)).errors[0]
        ?.code,
      10_006,
    );
  });
});
