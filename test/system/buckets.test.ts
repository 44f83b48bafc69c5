/** Buckets over the management API, by hand and with the stock `cloudflare` SDK. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { connectStore } from "selvedge/store";
import { Cloudflare } from "../clients/index.ts";
import { EMAIL, KEY, startServer } from "../support/server.ts";
import { type ApiAnswer, bearer, call } from "./api.ts";
import { accountKey, firstIds, policy } from "./policies.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { account } = await firstIds(server);
const objects = connectStore({ url: server.origin, email: EMAIL, key: KEY });

const client = new Cloudflare({
  baseURL: server.base,
  apiEmail: EMAIL,
  apiKey: KEY,
  apiToken: null,
  userServiceKey: null,
  maxRetries: 0,
});

interface Bucket {
  readonly name: string;
  readonly creation_date: string;
  readonly location: null;
  readonly storage_class: string;
  readonly jurisdiction: string;
}

function refused(answer: ApiAnswer, status: number, code: number): void {
  assert.deepEqual([answer.status, answer.errors[0]?.code], [status, code], answer.text);
}

for (const root of ["storage", "r2"]) {
  suite(`buckets under /accounts/{account_id}/${root}/buckets`, () => {
    const path = `/accounts/${account}/${root}/buckets`;
    const make = (name: string, more: object = {}) =>
      call(server, "POST", path, { body: { name, ...more } });

    test("are made, shown, changed and deleted", async () => {
      const made = await make(`${root}-one`);
      const bucket = made.result as Bucket;
      assert.deepEqual(bucket, {
        name: `${root}-one`,
        creation_date: bucket.creation_date,
        location: null,
        storage_class: "Standard",
        jurisdiction: "default",
      });
      assert.ok(Math.abs(Date.parse(bucket.creation_date) - Date.now()) < 60_000);
      const one = `${path}/${root}-one`;
      assert.deepEqual((await call(server, "GET", one)).result, bucket);

      const body = { storage_class: "InfrequentAccess" };
      const changed = { ...bucket, ...body };
      assert.deepEqual((await call(server, "PATCH", one, { body })).result, changed);
      assert.deepEqual((await call(server, "GET", one)).result, changed);
      const object = await objects.bucket(`${root}-one`).put("k", "v");
      assert.equal(object.storageClass, "InfrequentAccess");

      refused(await call(server, "DELETE", one), 400, 10_008);
      await objects.bucket(`${root}-one`).delete("k");
      const gone = await call(server, "DELETE", one);
      assert.deepEqual([gone.status, gone.result], [200, {}]);
      for (const method of ["GET", "DELETE"]) refused(await call(server, method, one), 404, 10_006);
      refused(await call(server, "PATCH", one, { body }), 404, 10_006);
    });

    test("have names of 3 to 63 of a-z, 0-9 and -, each once", async () => {
      const longest = "x".repeat(63);
      for (const name of [`${root}-two`, "a-1", longest]) {
        assert.equal((await make(name)).status, 200, name);
        refused(await make(name), 400, 10_004);
        await call(server, "DELETE", `${path}/${name}`);
      }
      for (const name of ["ab", `${longest}x`, "Abc", "a_b", "-ab", "ab-", "a.b", "", "ä-b"]) {
        refused(await make(name), 400, 10_005);
      }
      refused(await call(server, "POST", path, { body: {} }), 400, 1001);
      refused(await make("fine", { storageClass: "Cold" }), 400, 1001);
      refused(await call(server, "GET", `${path}/fine`), 404, 10_006);
    });

    test("are listed by name, in pages that a cursor goes on with", async () => {
      const names = Array.from({ length: 25 }, (_, i) => `${root}-list-${100 + i}`);
      for (const name of names.toReversed()) await make(name);
      const list = async (query: string) => {
        const { result, result_info, status, text } = await call(server, "GET", `${path}${query}`);
        assert.equal(status, 200, text);
        const found = (result as { buckets: Bucket[] }).buckets.map(({ name }) => name);
        return { found, cursor: (result_info as { cursor?: string } | undefined)?.cursor };
      };
      const first = await list(`?name_contains=${root}-list`);
      assert.deepEqual(first.found, names.slice(0, 20), "20 by default");
      const rest = await list(`?name_contains=${root}-list&cursor=${first.cursor}`);
      assert.deepEqual([rest.found, rest.cursor], [names.slice(20), undefined]);
      const all = await list(`?name_contains=${root}-list&per_page=1000`);
      assert.deepEqual([all.found, all.cursor], [names, undefined]);
      const down = await list(`?name_contains=list&direction=desc&per_page=3`);
      assert.deepEqual(down.found, names.toReversed().slice(0, 3));
      const further = await list(
        `?name_contains=list&direction=desc&per_page=3&cursor=${down.cursor}`,
      );
      assert.deepEqual(further.found, names.toReversed().slice(3, 6));
      const after = await list(`?name_contains=list&start_after=${names[22]}`);
      assert.deepEqual(after.found, names.slice(23));
      for (const query of ["?per_page=0", "?per_page=1001", "?cursor=junk!", "?order=size"]) {
        refused(await call(server, "GET", path + query), 400, 1001);
      }
      for (const name of names) await call(server, "DELETE", `${path}/${name}`);
    });
  });
}

test("a bucket belongs to one account, and its name to the whole installation", async () => {
  const { result } = await call(server, "POST", "/accounts", { body: { name: "Other" } });
  const other = `/accounts/${(result as { id: string }).id}/storage/buckets`;
  const path = `/accounts/${account}/storage/buckets`;
  await call(server, "POST", path, { body: { name: "ours" } });
  refused(await call(server, "POST", other, { body: { name: "ours" } }), 400, 10_073);
  for (const method of ["GET", "DELETE"]) {
    refused(await call(server, method, `${other}/ours`), 404, 10_006);
  }
  assert.deepEqual((await call(server, "GET", other)).result, { buckets: [] });
  assert.equal((await call(server, "DELETE", `${path}/ours`)).status, 200);
});

test("tokens need the storage permissions for the account", async () => {
  const path = `/accounts/${account}/storage/buckets`;
  const withToken = async (...names: Parameters<typeof policy>[2][]) => {
    const policies = [policy("allow", accountKey(account), ...names)];
    const made = await call(server, "POST", "/user/tokens", { body: { name: "t", policies } });
    return { headers: bearer((made.result as { value: string }).value) };
  };
  const reader = await withToken("storageRead");
  const writer = await withToken("storageWrite");
  const neither = await withToken("accountSettingsRead");
  const body = { name: "by-token" };
  refused(await call(server, "POST", path, { body, ...reader }), 403, 9109);
  assert.equal((await call(server, "POST", path, { body, ...writer })).status, 200);
  assert.equal((await call(server, "GET", `${path}/by-token`, reader)).status, 200);
  refused(await call(server, "DELETE", `${path}/by-token`, reader), 403, 9109);
  refused(await call(server, "GET", path, neither), 403, 9109);
  assert.equal((await call(server, "DELETE", `${path}/by-token`, writer)).status, 200);
});

test("a jurisdiction that there is not is refused", async () => {
  const path = `/accounts/${account}/r2/buckets`;
  const headers = { "X-Auth-Email": EMAIL, "X-Auth-Key": KEY, "cf-r2-jurisdiction": "eu" };
  refused(await call(server, "GET", path, { headers }), 400, 1001);
  refused(await call(server, "POST", path, { headers, body: { name: "in-eu" } }), 400, 1001);
  const usual = { ...headers, "cf-r2-jurisdiction": "default" };
  assert.equal((await call(server, "GET", path, { headers: usual })).status, 200);
});

test("a body that calls itself plain text is taken, as wrangler sends it", async () => {
  const path = `/accounts/${account}/r2/buckets`;
  const auth = { "X-Auth-Email": EMAIL, "X-Auth-Key": KEY };
  const headers = { ...auth, "Content-Type": "text/plain;charset=UTF-8" };
  const body = JSON.stringify({ name: "from-wrangler" });
  assert.equal((await call(server, "POST", path, { headers, body })).status, 200);
  const other = { ...auth, "Content-Type": "text/html" };
  refused(await call(server, "POST", path, { headers: other, body }), 400, 6003);
  await call(server, "DELETE", `${path}/from-wrangler`);
});

suite("the cloudflare SDK", () => {
  const at = { account_id: account };
  const { buckets } = client.r2;

  test("makes, shows, lists, edits and deletes buckets", async () => {
    const made = await buckets.create({ ...at, name: "sdk-bucket", locationHint: "weur" });
    assert.equal(made.name, "sdk-bucket");
    assert.equal(made.storage_class, "Standard");
    assert.deepEqual(await buckets.get("sdk-bucket", at), made);
    const edited = await buckets.edit("sdk-bucket", { ...at, storage_class: "InfrequentAccess" });
    assert.equal(edited.storage_class, "InfrequentAccess");
    const listed = await buckets.list({ ...at, name_contains: "sdk", per_page: 10 });
    assert.deepEqual(listed.buckets, [edited]);
    assert.deepEqual(await buckets.delete("sdk-bucket", at), {});
    assert.deepEqual((await buckets.list({ ...at, name_contains: "sdk" })).buckets, []);
  });

  test("makes a bucket of another default class", async () => {
    const given = { ...at, name: "sdk-cold", storageClass: "InfrequentAccess" } as const;
    assert.equal((await buckets.create(given)).storage_class, "InfrequentAccess");
    await buckets.delete("sdk-cold", at);
  });

  test("sets CORS and lifecycle rules, public access and domains", async () => {
    const name = "sdk-settings";
    const of = { ...at, bucket_name: name };
    await buckets.create({ ...at, name });
    const cors = [
      {
        id: "web",
        allowed: { methods: ["GET" as const], origins: ["https://a.example"] },
        maxAgeSeconds: 60,
      },
    ];
    await buckets.cors.update(name, { ...at, rules: cors });
    assert.deepEqual(await buckets.cors.get(name, at), { rules: cors });
    await buckets.cors.delete(name, at);

    const lifecycle = [
      {
        id: "old",
        enabled: true,
        conditions: { prefix: "logs/" },
        deleteObjectsTransition: { condition: { type: "Age" as const, maxAge: 86_400 } },
        storageClassTransitions: [
          {
            condition: { type: "Date" as const, date: "2030-01-01T00:00:00Z" },
            storageClass: "InfrequentAccess" as const,
          },
        ],
      },
    ];
    await buckets.lifecycle.update(name, { ...at, rules: lifecycle });
    assert.deepEqual(await buckets.lifecycle.get(name, at), { rules: lifecycle });

    const open = await buckets.domains.managed.update(name, { ...at, enabled: true });
    assert.equal(open.enabled, true);
    assert.deepEqual(await buckets.domains.managed.list(name, at), open);

    const zone = await client.zones.create({ account: { id: account }, name: "sdk.example" });
    const domain = "files.sdk.example";
    const { custom } = buckets.domains;
    await custom.create(name, { ...at, domain, enabled: true, zoneId: zone.id });
    assert.equal((await custom.get(domain, of)).zoneName, "sdk.example");
    await custom.update(domain, { ...of, enabled: false });
    const { domains } = await custom.list(name, at);
    assert.deepEqual(
      domains.map(({ domain, enabled }) => [domain, enabled]),
      [[domain, false]],
    );
    assert.deepEqual(await custom.delete(domain, of), { domain });
    await buckets.delete(name, at);
  });

  test("hears errors with the original's codes, and none that it would repeat", async () => {
    const failing = async (work: Promise<unknown>, status: number, code: number) => {
      const error = await work.then(
        () => null,
        (cause: unknown) => cause,
      );
      assert.ok(error instanceof Cloudflare.APIError, String(error));
      assert.deepEqual([error.status, error.errors[0]?.code], [status, code]);
    };
    await buckets.create({ ...at, name: "sdk-errors" });
    await failing(buckets.create({ ...at, name: "sdk-errors" }), 400, 10_004);
    await failing(buckets.create({ ...at, name: "No Name" }), 400, 10_005);
    await failing(buckets.get("sdk-none", at), 404, 10_006);
    await objects.bucket("sdk-errors").put("k", "v");
    await failing(buckets.delete("sdk-errors", at), 400, 10_008);
    await objects.bucket("sdk-errors").delete("k");
    await buckets.delete("sdk-errors", at);
  });
});
