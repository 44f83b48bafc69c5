/** Buckets under hostnames of zones, through the edge. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { request as httpRequest } from "node:http";
import { after, suite, test } from "node:test";
import { text } from "node:stream/consumers";
import { connectStore } from "selvedge/store";
import { EMAIL, KEY, startServer } from "../support/server.ts";
import { ownAddress } from "../support/own-address.ts";
import { call } from "./api.ts";
import { firstIds } from "./policies.ts";

const server = await startServer({
  env: { SELVEDGE_EDGE_ORIGINS: "127.0.0.0/8" },
  args: ["--dns", "off", "--edge", "127.0.0.1:0", "--edge-tls", "off", "--s3", "off"],
});
after(() => server[Symbol.asyncDispose]());
const { account } = await firstIds(server);
const store = connectStore({ url: server.origin, email: EMAIL, key: KEY });
const zone = (await api("POST", "/zones", { name: "example.com" })) as { id: string };

async function api(method: string, path: string, body?: object): Promise<unknown> {
  const { status, result, text } = await call(server, method, path, { ...(body && { body }) });
  assert.equal(status, 200, text);
  return result;
}

interface Got {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

function ask(
  host: string,
  path: string,
  method = "GET",
  headers: Record<string, string> = {},
): Promise<Got> {
  const { hostname, port } = new URL(server.ready["edge"]!);
  return new Promise((resolve, reject) => {
    const sent = httpRequest({ hostname, port, method, path, headers: { host, ...headers } });
    sent.once("error", reject);
    sent.once("response", (response) => {
      const { statusCode: status = 0, headers } = response;
      text(response).then((body) => resolve({ status, headers, body }), reject);
    });
    sent.end();
  });
}

let made = 0;
async function freshBucket(): Promise<{ name: string; path: string }> {
  const name = `public-${++made}`;
  await api("POST", `/accounts/${account}/r2/buckets`, { name });
  return { name, path: `/accounts/${account}/r2/buckets/${name}/domains/custom` };
}

suite("a bucket with a domain", () => {
  test("is attached, listed, switched off and on, and removed", async () => {
    const { path } = await freshBucket();
    const domain = "one.example.com";
    const attached = await api("POST", path, { domain: "One.example.com", zoneId: zone.id });
    assert.deepEqual(attached, { domain, enabled: true, zoneId: zone.id });
    const shown = {
      domain,
      enabled: true,
      status: { ownership: "active", ssl: "active" },
      minTLS: "1.2",
      zoneId: zone.id,
      zoneName: "example.com",
    };
    assert.deepEqual(await api("GET", path), { domains: [shown] });
    assert.deepEqual(await api("GET", `${path}/${domain}`), shown);
    const off = await api("PUT", `${path}/${domain}`, { enabled: false });
    assert.deepEqual(off, { domain, enabled: false });
    const records = `/zones/${zone.id}/dns_records?name=${domain}`;
    assert.equal(((await api("GET", records)) as object[]).length, 1);
    assert.deepEqual(await api("DELETE", `${path}/${domain}`), { domain });
    assert.deepEqual(await api("GET", path), { domains: [] });
    assert.deepEqual(await api("GET", records), []);
    assert.equal((await call(server, "GET", `${path}/${domain}`)).status, 404);
  });

  test("gives anyone its objects, in ranges and on conditions", async () => {
    const { name, path } = await freshBucket();
    await store.bucket(name).put("a b/ü.txt", "0123456789", {
      httpMetadata: { contentType: "text/plain", cacheControl: "max-age=60" },
      customMetadata: { secret: "no" },
    });
    const host = "files.example.com";
    await api("POST", path, { domain: host, zoneId: zone.id });
    const key = "/a%20b/%C3%BC.txt";
    const whole = await ask(host, `${key}?from=somewhere`);
    assert.deepEqual([whole.status, whole.body], [200, "0123456789"]);
    assert.equal(whole.headers["content-type"], "text/plain");
    assert.equal(whole.headers["cache-control"], "max-age=60");
    const ofS3 = Object.keys(whole.headers).filter((header) => header.startsWith("x-amz"));
    assert.deepEqual(ofS3, []);
    const part = await ask(host, key, "GET", { range: "bytes=-3" });
    assert.deepEqual([part.status, part.body], [206, "789"]);
    assert.equal(part.headers["content-range"], "bytes 7-9/10");
    const etag = String(whole.headers["etag"]);
    assert.equal((await ask(host, key, "GET", { "if-none-match": etag })).status, 304);
    const head = await ask(host, key, "HEAD");
    assert.deepEqual([head.status, head.headers["content-length"], head.body], [200, "10", ""]);
    const beyond = await ask(host, key, "GET", { range: "bytes=10-" });
    assert.deepEqual([beyond.status, beyond.headers["content-range"]], [416, "bytes */10"]);
  });

  test("gives large objects, whole and in ranges, as small ones", async () => {
    const { name, path } = await freshBucket();
    const host = "large.example.com";
    await api("POST", path, { domain: host, zoneId: zone.id });
    const octets = randomBytes(1_000_000).toString("hex");
    await store.bucket(name).put("k", octets);
    const whole = await ask(host, "/k");
    assert.ok(whole.body === octets);
    assert.equal(whole.headers["content-length"], String(octets.length));
    assert.deepEqual(
      Object.keys(whole.headers).filter((header) => header.startsWith("x-selvedge")),
      [],
    );
    const part = await ask(host, "/k", "GET", { range: "bytes=100000-1899999" });
    assert.equal(part.status, 206);
    assert.ok(part.body === octets.slice(100_000, 1_900_000));
    assert.equal(part.headers["content-range"], `bytes 100000-1899999/${octets.length}`);
    const head = await ask(host, "/k", "HEAD");
    assert.equal(head.headers["content-length"], String(octets.length));
  });

  test("answers what is not there, or not allowed, in words for people", async () => {
    const { path } = await freshBucket();
    const host = "empty.example.com";
    await api("POST", path, { domain: host, zoneId: zone.id });
    const plain = await ask(host, "/none");
    assert.deepEqual([plain.status, plain.body], [404, "404 Not Found: There is nothing here.\n"]);
    const page = await ask(host, "/none", "GET", { accept: "text/html,*/*" });
    assert.equal(page.headers["content-type"], "text/html; charset=utf-8");
    assert.match(page.body, /<h1>404 Not Found<\/h1>/);
    for (const at of ["/", "/?list-type=2", "/?uploads"]) {
      assert.equal((await ask(host, at)).status, 404, at);
    }
    for (const method of ["PUT", "POST", "DELETE", "PATCH"]) {
      const refused = await ask(host, "/none", method);
      assert.deepEqual([refused.status, refused.headers["allow"]], [405, "GET, HEAD, OPTIONS"]);
    }
    assert.equal((await ask(host, "/%zz")).status, 400);
  });

  test("has its CORS rules there too", async () => {
    const { name, path } = await freshBucket();
    const host = "cors.example.com";
    await api("POST", path, { domain: host, zoneId: zone.id });
    const origin = "https://page.test";
    const rules = [{ allowed: { origins: [origin], methods: ["GET"] } }];
    await api("PUT", `/accounts/${account}/r2/buckets/${name}/cors`, { rules });
    const asks = { origin, "access-control-request-method": "GET" };
    const preflight = await ask(host, "/k", "OPTIONS", asks);
    assert.equal(preflight.status, 200);
    assert.equal(preflight.headers["access-control-allow-origin"], origin);
    const other = await ask(host, "/k", "OPTIONS", { ...asks, origin: "https://other.test" });
    assert.equal(other.status, 403);
    const missing = await ask(host, "/k", "GET", { origin });
    assert.equal(missing.headers["access-control-allow-origin"], origin);
  });

  test("comes after a script, and before the origin", async () => {
    const { name, path } = await freshBucket();
    const host = "order.example.com";
    await store.bucket(name).put("k", "of the bucket");
    const content = ownAddress();
    const record = { type: "A", name: host, content, proxied: true };
    await api("POST", `/zones/${zone.id}/dns_records`, record);
    await api("PATCH", `/zones/${zone.id}/settings/ssl`, { value: "flexible" });
    const ofOrigin = await ask(host, "/k");
    assert.notEqual(ofOrigin.body, "of the bucket");
    await api("POST", path, { domain: host, zoneId: zone.id });
    assert.equal((await ask(host, "/k")).body, "of the bucket");
    await putScript("first", 'export default { fetch: () => new Response("of the script") }');
    await api("POST", `/zones/${zone.id}/workers/routes`, {
      pattern: `${host}/script/*`,
      script: "first",
    });
    assert.equal((await ask(host, "/script/k")).body, "of the script");
    assert.equal((await ask(host, "/k")).body, "of the bucket");
    await api("PUT", `${path}/${host}`, { enabled: false });
    assert.notEqual((await ask(host, "/k")).body, "of the bucket");
    await api("PUT", `${path}/${host}`, { enabled: true });
    assert.equal((await ask(host, "/k")).body, "of the bucket");
    await store.bucket(name).delete("k");
    await api("DELETE", `/accounts/${account}/r2/buckets/${name}`);
    assert.notEqual((await ask(host, "/k")).status, 404);
  });

  test("has a hostname of a zone of its account, which no other bucket has", async () => {
    const one = await freshBucket();
    const other = await freshBucket();
    await api("POST", one.path, { domain: "taken.example.com" });
    const refusals: [string, object, number][] = [
      [other.path, { domain: "taken.example.com", zoneId: zone.id }, 400],
      [other.path, { domain: "example.org", zoneId: zone.id }, 400],
      [other.path, { domain: "www.example.org" }, 404],
      [other.path, { domain: "x.example.com", zoneId: "0".repeat(32) }, 404],
      [other.path, { domain: "a b.example.com", zoneId: zone.id }, 400],
      [other.path, { domain: "a b.example.com" }, 400],
      [other.path, { domain: "https://x.example.com/" }, 400],
      [other.path, { domain: "x.example.com/y" }, 400],
      [other.path, { domain: "x%2eexample.com" }, 400],
      // No bucket would answer for the names that its record leads to.
      [other.path, { domain: "*.example.com" }, 400],
      [other.path, { domain: "tls.example.com", minTLS: "1.3" }, 400],
      [other.path, {}, 400],
    ];
    for (const [path, body, status] of refusals) {
      const refused = await call(server, "POST", path, { body });
      assert.equal(refused.status, status, JSON.stringify(body));
    }
    assert.deepEqual(await api("GET", other.path), { domains: [] });
  });
});

async function putScript(name: string, code: string): Promise<void> {
  const form = new FormData();
  form.set(
    "metadata",
    JSON.stringify({ main_module: "main.js", compatibility_date: "2026-11-01" }),
  );
  const type = "application/javascript+module";
  form.set("main.js", new File([code], "main.js", { type }));
  const response = await fetch(`${server.base}/accounts/${account}/workers/scripts/${name}`, {
    method: "PUT",
    headers: { "X-Auth-Email": EMAIL, "X-Auth-Key": KEY },
    body: form,
  });
  assert.equal(response.status, 200, await response.text());
}
