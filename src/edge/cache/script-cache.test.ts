/** The cache of scripts, as real scripts use it. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type IncomingMessage, request as sendRequest } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { listenUnixSocket } from "#http";
import { until } from "../../../test/support/patience.ts";
import { scriptOf, TestRuntime } from "../../../test/support/script-runtime.ts";
import { CacheCounts } from "./cache-counts.ts";
import { DiskLedger } from "./disk-ledger.ts";
import { DiskStore } from "./disk-store.ts";
import { PurgeRules } from "./purge-rules.ts";
import { ScriptCache } from "./script-cache.ts";
import { Shelf } from "./shelf.ts";

const MIB = 1024 ** 2;
const BODY_LIMIT = 4 * MIB;

await using building = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), "selvedge-script-cache-"));
building.defer(() => rm(folder, { recursive: true }));
/** What the clock of the cache is ahead. */
let ahead = 0;
const socket = join(folder, "cache.sock");
const errors: Error[] = [];
const onError = (error: unknown) => void errors.push(error as Error);
const ledger = new DiskLedger({ folder: join(folder, "disk"), limitOctets: 64 * MIB, onError });
const cache = new ScriptCache({
  shelf: new Shelf({
    memoryOctets: MIB,
    disk: await DiskStore.open(join(folder, "disk"), ledger),
    purges: new PurgeRules(),
    counts: new CacheCounts(),
    onError,
  }),
  grant: (token) =>
    /^[ab]$/.test(token) ? { accountId: token, scriptName: "raw" } : runtime.runtime.grant(token),
  memoryObjectOctets: 64 * 1024,
  objectOctets: BODY_LIMIT,
  now: () => Date.now() + ahead,
  onError,
});
/** Under way. */
let calls = 0;
const handle: typeof cache.handle = async (request, response) => {
  calls++;
  await cache.handle(request, response).finally(() => calls--);
};
building.use(await listenUnixSocket({ path: socket, handle, onError }));
const runtime = building.use(await TestRuntime.open({}, { cacheSocket: socket }));
const all = building.move();
after(() => all.disposeAsync());

/** Runs a piece of code in a script, with `cache` at hand, and gives what it returns. */
async function run(code: string, name = "cached", accountId?: string): Promise<unknown> {
  const source = `export default { async fetch() {
    const cache = caches.default;
    const kept = (body, headers = {}) => new Response(body, { headers: { "cache-control": "max-age=60", ...headers } });
    const text = async (found) => found === undefined ? null : await found.text();
    return Response.json(await (async () => { ${code} })()); } }`;
  runtime.put(scriptOf(name, source, accountId === undefined ? {} : { accountId }));
  return JSON.parse(await runtime.text(name));
}

const RESPONSE = "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\n";

/** A call as a script's process makes it. */
function call(method: string, path: string, token: string, isWhole = false) {
  const sent = sendRequest({
    socketPath: socket,
    method,
    path: `http://raw.test${path}`,
    headers: { Authorization: `Bearer ${token}` },
    agent: false,
  });
  const status = once(sent, "response").then(
    ([answer]) => (answer as IncomingMessage).resume().statusCode,
  );
  if (isWhole) sent.end();
  return { sent, status };
}

const put = (body: string, headers = "{}") =>
  `await cache.put("https://a.test/x?q=1", kept(${body}, ${headers}));`;
const match = `return text(await cache.match("https://a.test/x?q=1"));`;

suite("a script's cache", () => {
  test("gives back what was put there, until it is deleted", async () => {
    assert.equal(await run(match), null);
    assert.equal(await run(`${put('"v"')} ${match}`), "v");
    assert.equal(await run(match), "v", "also to the script's next version");
    const other = (url: string) => `return text(await cache.match("${url}"));`;
    assert.equal(await run(other("http://a.test/x?q=1")), null);
    assert.equal(await run(other("https://a.test/x?q=2")), null);
    assert.equal(await run(other("https://a.test:444/x?q=1")), null);
    const drop = `return cache.delete("https://a.test/x?q=1");`;
    assert.deepEqual([await run(drop), await run(drop)], [true, false]);
    assert.equal(await run(match), null);
  });

  test("has names for caches of their own", async () => {
    await run(`${put('"default"')} return 0;`);
    const code = `const named = await caches.open("a b\\u00e9");
      const before = await text(await named.match("https://a.test/x?q=1"));
      await named.put("https://a.test/x?q=1", kept("named"));
      return [before, await text(await named.match("https://a.test/x?q=1"))];`;
    assert.deepEqual(await run(code), [null, "named"]);
    assert.equal(await run(match), "default");
  });

  test("is no other script's, and no other account's", async () => {
    await run(`${put('"mine"')} return 0;`);
    assert.equal(await run(match, "neighbour"), null);
    assert.equal(await run(match, "cached", "b".repeat(32)), null);
    assert.equal(await run(match), "mine");
    const forged = `return text(await cache.match(new Request("https://a.test/x?q=1",
      { headers: { "CF-Cache-Namespace": "../default", Authorization: "Bearer x" } })));`;
    assert.equal(await run(forged, "neighbour"), null);
  });

  test("lets what it has grow old, and keeps nothing that may not be kept", async () => {
    await run(`${put('"v"')} return 0;`);
    ahead = 61_000;
    assert.equal(await run(match), null);
    ahead = 0;
    const never = [
      `{ "cache-control": "no-store" }`,
      `{ "cache-control": "private, max-age=60" }`,
      `{ "set-cookie": "a=b" }`,
    ];
    for (const headers of never) {
      const url = "https://a.test/never";
      const code = `await cache.put("${url}", kept("v", ${headers}));
        return text(await cache.match("${url}"));`;
      assert.equal(await run(code), null, headers);
    }
  });

  test("answers conditions and ranges, and tells variants apart", async () => {
    const code = `await cache.put("http://a.test/r", kept("0123456789", { etag: '"1"' }));
      const ask = (headers) => cache.match(new Request("http://a.test/r", { headers }));
      const part = await ask({ range: "bytes=2-4" });
      const same = await ask({ "if-none-match": '"1"' });
      await cache.put(new Request("http://a.test/v", { headers: { a: "1" } }), kept("one", { vary: "a" }));
      const variant = (a) => cache.match(new Request("http://a.test/v", { headers: { a } })).then(text);
      return [part.status, await part.text(), same.status, await variant("1"), await variant("2")];`;
    assert.deepEqual(await run(code), [206, "234", 304, "one", null]);
  });

  test("takes streams and large bodies, up to a bound", async () => {
    const large = (size: number) => `
      const piece = new Uint8Array(65536).fill(97);
      let left = ${size};
      const stream = new ReadableStream({ pull(c) {
        if (left <= 0) return c.close();
        c.enqueue(piece.subarray(0, Math.min(left, piece.length))); left -= piece.length; } });
      await cache.put("http://a.test/l", kept(stream));
      const found = await cache.match("http://a.test/l");
      await cache.delete("http://a.test/l");
      return found === undefined ? null : (await found.text()).length;`;
    assert.equal(await run(large(3 * MIB)), 3 * MIB);
    assert.equal(await run(large(BODY_LIMIT + 1)), null);
  });

  test("takes only so many at a time from one script, and from others all the same", async () => {
    const held = Array.from({ length: 8 }, (_, i) => call("PUT", `/held/${i}`, "a"));
    for (const { sent } of held) sent.write(`${RESPONSE}Content-Length: 2\r\n\r\nh`);
    await until(() => calls === held.length);
    const bring = async (token: string) => {
      const { sent, status } = call("PUT", "/more", token);
      sent.end(`${RESPONSE}Content-Length: 2\r\n\r\nok`);
      return [await status, await call("GET", "/more", token, true).status];
    };
    assert.deepEqual(await bring("a"), [204, 504]);
    assert.deepEqual(await bring("b"), [204, 200]);
    for (const { sent } of held) sent.end("i");
    for (const { status } of held) assert.equal(await status, 204);
    assert.deepEqual(await bring("a"), [204, 200]);
    assert.equal(await call("GET", "/held/7", "a", true).status, 200);
  });

  test("keeps nothing of what breaks off", async () => {
    const { sent, status } = call("PUT", "/broken", "a");
    sent.write(`${RESPONSE}\r\n`);
    await new Promise((resolve) => sent.write("half", resolve));
    sent.destroy();
    await status.catch(() => {});
    await until(() => calls === 0);
    assert.equal(await call("GET", "/broken", "a", true).status, 504);
  });

  test("is nobody's without a token", async () => {
    assert.equal(await call("GET", "/", "nobody", true).status, 403);
    assert.deepEqual(errors, []);
  });
});
