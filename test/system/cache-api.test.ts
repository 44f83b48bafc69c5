/** The cache over the management API: purges, and the settings that switch it. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Cloudflare } from "../clients/index.ts";
import { EMAIL, KEY, startServer } from "../support/server.ts";
import { bearer, call } from "./api.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const zone = (await call(server, "POST", "/zones", { body: { name: "example.com" } })).result as {
  readonly id: string;
};
const path = `/zones/${zone.id}`;

test("a purge is acknowledged with the zone's id, also to the stock client", async () => {
  const everything = { purge_everything: true };
  const answer = await call(server, "POST", `${path}/purge_cache`, { body: everything });
  assert.deepEqual([answer.status, answer.result], [200, { id: zone.id }]);
  const client = new Cloudflare({
    baseURL: server.base,
    apiEmail: EMAIL,
    apiKey: KEY,
    apiToken: null,
    userServiceKey: null,
    maxRetries: 0,
  });
  const files = ["https://www.example.com/style.css"];
  assert.deepEqual(await client.cache.purge({ zone_id: zone.id, files }), { id: zone.id });
});

test("a purge of what lies elsewhere is refused and says which", async () => {
  const body = { hosts: ["www.example.com", "www.example.org"] };
  const answer = await call(server, "POST", `${path}/purge_cache`, { body });
  assert.equal(answer.status, 400);
  assert.deepEqual(answer.errors[0], {
    code: 1001,
    message: "hosts.1 must lie in the zone example.com",
    source: { pointer: "/hosts/1" },
  });
});

test("a token purges when it is permitted to", async () => {
  const token = async (group: string) => {
    const policies = [
      {
        effect: "allow",
        permission_groups: [{ id: group }],
        resources: { [`com.cloudflare.api.account.zone.${zone.id}`]: "*" },
      },
    ];
    const made = await call(server, "POST", "/user/tokens", { body: { name: "t", policies } });
    return bearer((made.result as { value: string }).value);
  };
  const purge = async (group: string) => {
    const options = { headers: await token(group), body: { purge_everything: true } };
    return (await call(server, "POST", `${path}/purge_cache`, options)).status;
  };
  assert.equal(await purge("e17beae8b8cb423a99b1730f21238bed"), 200, "Cache Purge");
  assert.equal(await purge("4755a26eedb94da69e1066d98aa820be"), 403, "DNS Write");
});

test("a zone is not cached until its level says so, and development mode ends by itself", async () => {
  const setting = async (id: string, value?: string) =>
    (
      await call(server, value === undefined ? "GET" : "PATCH", `${path}/settings/${id}`, {
        ...(value !== undefined && { body: { value } }),
      })
    ).result as { readonly value: string; readonly time_remaining?: number };
  assert.equal((await setting("cache_level")).value, "bypass");
  assert.equal((await setting("cache_level", "aggressive")).value, "aggressive");
  const off = await setting("development_mode");
  assert.deepEqual([off.value, off.time_remaining], ["off", 0]);
  const on = await setting("development_mode", "on");
  assert.equal(on.value, "on");
  assert.ok(on.time_remaining! > 10_700 && on.time_remaining! <= 10_800);
  const { result } = await call(server, "GET", path);
  const { development_mode: seconds } = result as { readonly development_mode: number };
  assert.ok(seconds > 10_700 && seconds <= 10_800);
});
