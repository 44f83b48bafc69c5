import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { authHeaders, serverUrl } from "./store-credentials.ts";

const data = await mkdtemp(join(tmpdir(), "selvedge-credentials-"));
after(() => rm(data, { recursive: true }));
await writeFile(join(data, "credentials.json"), '{"email":"me@x.test","key":"from folder"}');

const keyed = (email: string, key: string) => ({ "x-auth-email": email, "x-auth-key": key });
const FIRST = "admin@selvedge.local";

test("what is given counts before the environment, that before a folder", () => {
  const all = { SELVEDGE_TOKEN: "t", SELVEDGE_EMAIL: "e@x.test", SELVEDGE_KEY: "k" };
  assert.deepEqual(authHeaders({ token: "mine" }, all), { authorization: "Bearer mine" });
  assert.deepEqual(authHeaders({ key: "mine" }, all), keyed(FIRST, "mine"));
  assert.deepEqual(authHeaders({ email: "a@b.test", key: "mine" }, all), keyed("a@b.test", "mine"));
  assert.deepEqual(authHeaders({}, all), { authorization: "Bearer t" });
  assert.deepEqual(authHeaders({}, { ...all, SELVEDGE_TOKEN: "" }), keyed("e@x.test", "k"));
  assert.deepEqual(authHeaders({}, { SELVEDGE_KEY: "k" }), keyed(FIRST, "k"));
  assert.deepEqual(authHeaders({ data }, all), keyed("me@x.test", "from folder"));
  assert.deepEqual(authHeaders({}, { SELVEDGE_DATA: data }), keyed("me@x.test", "from folder"));
});

test("without any the error tells the ways", () => {
  assert.throws(
    () => authHeaders({ data: join(data, "none") }, {}),
    /^Error: There are no credentials for the store: give a key or a token.*credentials\.json/,
  );
});

test("the server is what is given, what the environment names, or the one on this machine", () => {
  const environment = { SELVEDGE_API: "edge.test:8700" };
  assert.equal(serverUrl("https://x.test/client/v4/", environment), "https://x.test");
  assert.equal(serverUrl(undefined, environment), "http://edge.test:8700");
  assert.equal(serverUrl(undefined, { SELVEDGE_API: "" }), "http://127.0.0.1:8700");
  assert.throws(() => serverUrl("http://[", {}), /^TypeError: "http:\/\/\[" is not the URL/);
});
