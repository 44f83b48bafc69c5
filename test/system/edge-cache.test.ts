/** The cache before a real origin, as clients and `/metrics` see it. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request as sendRequest } from "node:http";
import { after, suite, test } from "node:test";
import { readMetrics } from "../support/prometheus.ts";
import { Edge, HTTP_PORT, ONE_THREAD, saying } from "./edge-rig.ts";

const edge = await Edge.start(ONE_THREAD);
after(() => edge[Symbol.asyncDispose]());
await edge.setting("cache_level", "aggressive");

async function ask(name: string, path = "/", headers: object = {}, method = "GET") {
  const { hostname, port } = new URL(edge.http);
  const Host = `${name}.example.com:${HTTP_PORT}`;
  const sent = sendRequest({ hostname, port, path, method, headers: { Host, ...headers } }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return { status: response.statusCode, headers: response.headers, text };
}

const page = (control: string, body = "ok") =>
  saying(
    `HTTP/1.1 200 OK\r\nCache-Control: ${control}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  );

suite("the cache", () => {
  test("counts what it did with each request, and what it holds", async () => {
    await edge.origin("kept", page("max-age=60", "x".repeat(10_000)));
    await edge.origin("unkept", page("no-store"));
    const before = await readMetrics(edge.server);
    for (let i = 0; i < 3; i++) await ask("kept");
    await ask("kept", "/", {}, "POST");
    await ask("unkept");
    const after = await readMetrics(edge.server);
    const requests = "selvedge_cache_requests_total";
    assert.deepEqual(before.by(requests), {});
    assert.deepEqual(after.by(requests), { hit: 2, miss: 1, bypass: 1, dynamic: 1 });
    await ask("kept");
    const held = (await readMetrics(edge.server)).by("selvedge_cache_bytes");
    assert.ok(held["memory"]! >= 10_000 && held["memory"]! < 20_000, `${held["memory"]} octets`);
    assert.deepEqual(after.by("selvedge_cache_evictions_total"), {});
  });

  test("has browsers keep for as long as the zone says, and shows what the origin said otherwise", async () => {
    await edge.origin("short", page("public, max-age=60"));
    const control = async (path: string) => {
      const { headers } = await ask("short", path);
      return [headers["cf-cache-status"], headers["cache-control"]];
    };
    assert.deepEqual(await control("/"), ["MISS", "public, max-age=60"]);
    await edge.setting("browser_cache_ttl", 600);
    assert.deepEqual(await control("/"), ["HIT", "public, max-age=600"]);
    assert.deepEqual(await control("/other"), ["MISS", "public, max-age=600"]);
    await edge.setting("browser_cache_ttl", 0);
    assert.deepEqual(await control("/"), ["HIT", "public, max-age=60"]);
  });
});
