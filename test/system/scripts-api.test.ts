/** Scripts over the management API, by hand and with the stock `cloudflare` SDK. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as netConnect } from "node:net";
import { after, suite, test } from "node:test";
import { Cloudflare } from "../clients/index.ts";
import { until } from "../support/patience.ts";
import { EMAIL, KEY, keyHeaders, startServer } from "../support/server.ts";
import { type ApiAnswer, bearer, call, readEnvelope } from "./api.ts";
import { accountKey, firstIds, policy } from "./policies.ts";

const server = await startServer({ args: ["--edge", "off"] });
after(() => server[Symbol.asyncDispose]());
const { account } = await firstIds(server);
const account_id = account;
const path = `/accounts/${account}/workers/scripts`;
const HELLO = 'export default { fetch() { return new Response("hello") } }';
const JAVASCRIPT = "application/javascript+module";

const client = new Cloudflare({
  baseURL: server.base,
  apiEmail: EMAIL,
  apiKey: KEY,
  apiToken: null,
  maxRetries: 0,
});
const { workers } = client;
const zone = await client.zones.create({ account: { id: account }, name: "example.com" });

type Files = Readonly<Record<string, readonly [type: string, content: string]>>;

/** Sends a script as tools do: metadata, and a part for each module. */
async function upload(
  to: string,
  metadata: object = {},
  files: Files = { "index.js": [JAVASCRIPT, HELLO] },
  {
    method = "PUT",
    headers = keyHeaders,
  }: { method?: string; headers?: Record<string, string> } = {},
) {
  const form = new FormData();
  form.set("metadata", JSON.stringify({ main_module: "index.js", ...metadata }));
  for (const [name, [type, content]] of Object.entries(files)) {
    form.set(name, new File([content], name, { type }));
  }
  const response = await fetch(`${server.base}${path}/${to}`, { method, headers, body: form });
  return { status: response.status, ...readEnvelope(response.status, await response.text()) };
}

async function deployments(name: string) {
  const { result } = await call(server, "GET", `${path}/${name}/deployments`);
  return (result as { deployments: { id: string; versions: { version_id: string }[] }[] })
    .deployments;
}

function refused(
  answer: Pick<ApiAnswer, "status" | "errors">,
  status: number,
  code: number,
): string {
  const [first] = answer.errors;
  assert.deepEqual([answer.status, first?.code], [status, code], JSON.stringify(answer.errors));
  return first!.message;
}

suite("a script", () => {
  test("is uploaded, listed, shown and deleted", async () => {
    const { status, result } = await upload("one", { compatibility_date: "2026-01-01" });
    assert.equal(status, 200);
    const made = result as { id: string; tag: string; deployment_id: string; has_modules: boolean };
    assert.deepEqual([made.id, made.has_modules], ["one", true]);
    assert.match(made.deployment_id, /^[0-9a-f]{32}$/);
    const { result: listed } = await workers.scripts.list({ account_id });
    assert.deepEqual(
      listed.map(({ id, tag }) => [id, tag]),
      [["one", made.tag]],
    );
    assert.match(await workers.scripts.get("one", { account_id }), /hello/);
    const content = await workers.scripts.content.get("one", { account_id });
    assert.equal(content.headers.get("cf-entrypoint"), "index.js");
    assert.equal(await ((await content.formData()).get("index.js") as File).text(), HELLO);
    await workers.scripts.delete("one", { account_id });
    refused(await call(server, "GET", `${path}/one/settings`), 404, 10_007);
    refused(await call(server, "DELETE", `${path}/one`), 404, 10_007);
  });

  test("in service-worker syntax is one file", async () => {
    const code = 'addEventListener("fetch", (e) => e.respondWith(new Response("old")))';
    const made = await upload(
      "old",
      { main_module: undefined, body_part: "script" },
      {
        script: ["application/javascript", code],
      },
    );
    assert.equal(made.status, 200, JSON.stringify(made.errors));
    assert.equal(await workers.scripts.get("old", { account_id }), code);
    await workers.scripts.delete("old", { account_id });
  });

  test("is uploaded by the SDK, which sends its metadata field by field", async () => {
    const files = [new File([HELLO], "index.js", { type: JAVASCRIPT })];
    const annotations = { "workers/message": "by the SDK" };
    const bindings = [
      { type: "plain_text", name: "TEXT", text: "5" },
      { type: "json", name: "JSON", json: { most: 5, isOn: true } },
    ] as const;
    const metadata = { main_module: "index.js", compatibility_date: "2026-01-01" };
    const given = { ...metadata, compatibility_flags: ["nodejs_compat"], bindings: [...bindings] };
    const made = await workers.scripts.update("sdk", { account_id, metadata: given, files });
    assert.deepEqual([made.id, made.has_modules], ["sdk", true]);
    const settings = () => workers.scripts.scriptAndVersionSettings.get("sdk", { account_id });
    const first = await settings();
    assert.deepEqual(first.bindings, [
      { name: "TEXT", type: "plain_text", text: "5" },
      { name: "JSON", type: "json", json: { most: 5, isOn: true } },
    ]);
    assert.deepEqual(first.compatibility_flags, ["nodejs_compat"]);
    const version = await workers.scripts.versions.create("sdk", {
      account_id,
      metadata: { ...metadata, annotations },
      files,
    });
    assert.equal(version.number, 2);
    await workers.scripts.content.update("sdk", { account_id, metadata, files });
    assert.deepEqual((await settings()).bindings, first.bindings, "the code alone");
    const edited = await workers.scripts.scriptAndVersionSettings.edit("sdk", {
      account_id,
      settings: { logpush: true, observability: { enabled: true, head_sampling_rate: 0.5 } },
    });
    assert.equal(edited.logpush, true);
    assert.deepEqual(edited.observability, { enabled: true, head_sampling_rate: 0.5 });
    await workers.scripts.delete("sdk", { account_id });
  });

  test("is uploaded as the file that it is", async () => {
    const put = (type: string, body: string) =>
      call(server, "PUT", `${path}/file`, {
        headers: { ...keyHeaders, "Content-Type": type },
        body,
      });
    const old = 'addEventListener("fetch", (e) => e.respondWith(new Response("old")))';
    assert.equal((await put("application/javascript", old)).status, 200);
    assert.equal(await workers.scripts.get("file", { account_id }), old);
    assert.equal((await put(JAVASCRIPT, HELLO)).status, 200);
    refused(await put("text/plain", old), 400, 6003);
    refused(await put("application/javascript", "not( JavaScript"), 400, 10_021);
    const bare = { headers: { ...keyHeaders, "Content-Type": JAVASCRIPT }, body: HELLO };
    refused(await call(server, "PATCH", `${path}/file/settings`, bare), 400, 1001);
    await workers.scripts.delete("file", { account_id });
  });

  test("that does not start is refused with the compiler's message, and changes nothing", async () => {
    await upload("two");
    const before = await deployments("two");
    for (const [code, message] of [
      ["export default {", /SyntaxError/],
      ["throw new Error('not today')", /not today/],
      ["import './nowhere.js'; export default {}", /nowhere\.js/],
    ] as const) {
      for (const [to, method] of [
        ["two", "PUT"],
        ["two/versions", "POST"],
        ["fresh", "PUT"],
      ] as const) {
        const answer = await upload(to, {}, { "index.js": [JAVASCRIPT, code] }, { method });
        assert.match(refused(answer, 400, 10_021), message);
      }
    }
    assert.deepEqual(await deployments("two"), before);
    refused(await call(server, "GET", `${path}/fresh/settings`), 404, 10_007);
  });

  test("has what it is bound to, or is refused", async () => {
    const bound = (binding: object) => upload("two", { bindings: [binding] });
    const missing = refused(
      await bound({ type: "r2_bucket", name: "B", bucket_name: "none" }),
      400,
      10_021,
    );
    assert.match(missing, /none/);
    refused(await bound({ type: "service", name: "S", service: "nobody" }), 400, 10_021);
    assert.match(
      refused(await bound({ type: "kv_namespace", name: "KV", namespace_id: "x" }), 400, 1001),
      /KV/,
    );
    refused(await bound({ type: "plain_text", name: "not a name", text: "" }), 400, 10_021);
    refused(await upload("two", { bindings: [{ type: "inherit", name: "NOTHING" }] }), 400, 10_021);
    refused(await upload("-bad-"), 400, 10_021);
  });

  test("is bounded in size", async () => {
    const octets = "x".repeat(11 * 1024 ** 2);
    const files = { "index.js": [JAVASCRIPT, HELLO], "a.txt": ["text/plain", octets] } as const;
    refused(await upload("large", {}, files), 400, 10_027);
    const larger = { ...files, "b.txt": ["text/plain", octets] } as const;
    refused(await upload("large", {}, larger), 413, 6010);
  });

  test("has settings, of which those beside the code make versions", async () => {
    await upload("two", { bindings: [{ type: "plain_text", name: "A", text: "a" }] });
    await workers.scripts.settings.edit("two", { account_id, tags: ["t"], logpush: true });
    const settings = {
      bindings: [
        { type: "inherit", name: "A" },
        { type: "json", name: "J", json: [1] },
      ],
    };
    const form = new FormData();
    form.set("settings", JSON.stringify(settings));
    const edited = await fetch(`${server.base}${path}/two/settings`, {
      method: "PATCH",
      headers: keyHeaders,
      body: form,
    });
    assert.equal(edited.status, 200, await edited.text());
    const shown = await workers.scripts.scriptAndVersionSettings.get("two", { account_id });
    assert.deepEqual([shown.tags, shown.logpush], [["t"], true]);
    assert.deepEqual(shown.bindings?.map(({ name, type }) => `${name} ${type}`).toSorted(), [
      "A plain_text",
      "J json",
    ]);
    await upload("two/content", {}, { "index.js": [JAVASCRIPT, `${HELLO}//`] });
    const after = await workers.scripts.scriptAndVersionSettings.get("two", { account_id });
    assert.deepEqual(after.bindings, shown.bindings, "other code, the same bindings");
  });
});

suite("a script's versions", () => {
  test("are kept, deployed and rolled back to", async () => {
    await upload("many", { annotations: { "workers/message": "one", "workers/tag": "v1" } });
    const second = await upload("many/versions", {}, undefined, { method: "POST" });
    const { id, number } = second.result as { id: string; number: number };
    const listed = await call(server, "GET", `${path}/many/versions?deployable=true`);
    const { items } = listed.result as { items: { id: string; number: number }[] };
    assert.deepEqual(
      items.map((one) => one.number),
      [number, number - 1],
    );
    const inPlace = async () => (await deployments("many"))[0]?.versions[0]?.version_id;
    const first = items[1]!.id;
    assert.equal(await inPlace(), first);
    const deploy = (version_id: string) =>
      workers.scripts.deployments.create("many", {
        account_id,
        strategy: "percentage",
        versions: [{ version_id, percentage: 100 }],
      });
    await deploy(id);
    assert.equal(await inPlace(), id);
    const back = await deploy(first);
    assert.equal(back.annotations?.["workers/triggered_by"], "rollback");
    assert.equal(await inPlace(), first);
    const shown = (await call(server, "GET", `${path}/many/versions/${first}`)).result as {
      annotations: Record<string, string>;
      metadata: { author_email: string };
    };
    assert.equal(shown.annotations["workers/tag"], "v1");
    assert.equal(shown.metadata.author_email, EMAIL);
    const half = {
      strategy: "percentage",
      versions: [
        { version_id: id, percentage: 50 },
        { version_id: first, percentage: 50 },
      ],
    };
    refused(await call(server, "POST", `${path}/many/deployments`, { body: half }), 400, 1001);
    refused(await call(server, "GET", `${path}/many/versions/none`), 404, 10_007);
  });
});

suite("a script's secrets", () => {
  test("are set, named, kept by uploads and deleted, and never shown", async () => {
    await upload("hush");
    await workers.scripts.secrets.update("hush", {
      account_id,
      name: "S",
      text: "sesame",
      type: "secret_text",
    });
    const secrets = { A: { type: "secret_text", text: "x" }, S: { text: "sesame2" } };
    const patched = await call(server, "PATCH", `${path}/hush/secrets-bulk`, { body: { secrets } });
    assert.equal(patched.status, 200, patched.text);
    const names = async () =>
      (await workers.scripts.secrets.list("hush", { account_id })).result.map(({ name }) => name);
    assert.deepEqual((await names()).toSorted(), ["A", "S"]);
    await upload("hush", { keep_bindings: ["secret_text"] });
    assert.deepEqual((await names()).toSorted(), ["A", "S"]);
    await workers.scripts.secrets.delete("A", { account_id, script_name: "hush" });
    assert.deepEqual(await names(), ["S"]);
    await upload("hush");
    assert.deepEqual(await names(), [], "an upload that keeps none has none");
    const shown = await call(server, "GET", `${path}/hush/versions`);
    assert.doesNotMatch(shown.text, /sesame/);
    assert.doesNotMatch(server.output.stderr, /sesame/);
  });
});

suite("what leads to a script", () => {
  test("are routes of a zone", async () => {
    await upload("routed");
    const zone_id = zone.id;
    const route = await workers.routes.create({
      zone_id,
      pattern: "*.example.com/api/*",
      script: "routed",
    });
    refused(
      await call(server, "POST", `/zones/${zone_id}/workers/routes`, {
        body: { pattern: "*.example.com/api/*" },
      }),
      400,
      10_020,
    );
    refused(
      await call(server, "POST", `/zones/${zone_id}/workers/routes`, {
        body: { pattern: "other.org/*" },
      }),
      400,
      10_021,
    );
    await workers.routes.update(route.id, {
      zone_id,
      pattern: "example.com/api/*",
      script: "routed",
    });
    const set = await call(server, "PUT", `${path}/routed/routes`, {
      body: [
        { pattern: "example.com/a" },
        { pattern: "www.example.com/*", zone_name: "example.com" },
      ],
    });
    assert.equal(set.status, 200, set.text);
    const { result } = await workers.routes.list({ zone_id });
    assert.deepEqual(result.map(({ pattern }) => pattern).toSorted(), [
      "example.com/a",
      "www.example.com/*",
    ]);
    refused(
      await call(server, "PUT", `${path}/routed/routes`, { body: [{ pattern: "nowhere.net/*" }] }),
      404,
      7003,
    );
    assert.equal((await workers.routes.list({ zone_id })).result.length, 2);
    for (const { id } of result) await workers.routes.delete(id, { zone_id });
  });

  test("are domains, each with a DNS record of its own", async () => {
    const records = async () =>
      (await client.dns.records.list({ zone_id: zone.id })).result.map(
        ({ name, type, proxied }) => [name, type, proxied],
      );
    const made = await workers.domains.update({
      account_id,
      hostname: "shop.example.com",
      service: "routed",
      zone_id: zone.id,
    });
    assert.deepEqual(await records(), [["shop.example.com", "AAAA", true]]);
    await client.dns.records.create({
      zone_id: zone.id,
      type: "A",
      name: "taken",
      content: "192.0.2.1",
      ttl: 1,
    });
    const body = { hostname: "taken.example.com", service: "routed" };
    const domains = `/accounts/${account}/workers/domains`;
    refused(await call(server, "PUT", domains, { body }), 400, 100_117);
    const overriding = { ...body, override_existing_dns_record: true };
    assert.equal((await call(server, "PUT", domains, { body: overriding })).status, 200);
    assert.ok((await records()).every(([, type, proxied]) => type === "AAAA" && proxied === true));
    refused(
      await call(server, "PUT", domains, {
        body: { ...body, service: "nobody", hostname: "x.example.com" },
      }),
      400,
      10_021,
    );
    assert.equal((await records()).length, 2, "a domain that is refused leaves nothing behind");
    await workers.domains.delete(made.id, { account_id });
    assert.deepEqual(
      (await records()).map(([name]) => name),
      ["taken.example.com"],
    );
    await workers.scripts.delete("routed", { account_id, force: true });
    assert.deepEqual(await records(), []);
  });

  test("takes no DNS record's place unless it is told to, whichever way a domain is set", async () => {
    await upload("domains");
    const zone_id = zone.id;
    const made = [];
    for (const record of [
      { type: "A", name: "a", content: "192.0.2.1" },
      { type: "CNAME", name: "c", content: "elsewhere.test" },
      { type: "A", name: "p", content: "192.0.2.1", proxied: true },
      { type: "NS", name: "n", content: "ns.elsewhere.test" },
    ] as const) {
      made.push(await client.dns.records.create({ zone_id, ttl: 1, ...record }));
    }
    const shown = async () =>
      (await call(server, "GET", `/zones/${zone_id}/dns_records`)).result as object[];
    const before = await shown();
    const one = (hostname: string, more: object = {}) =>
      call(server, "PUT", `/accounts/${account}/workers/domains`, {
        body: { hostname, service: "domains", ...more },
      });
    const all = (hostname: string, more: object = {}) =>
      call(server, "PUT", `${path}/domains/domains/records`, {
        body: { override_scope: true, origins: [{ hostname }], ...more },
      });
    for (const set of [one, all]) {
      for (const name of ["a", "c"]) refused(await set(`${name}.example.com`), 400, 100_117);
      assert.equal((await set("n.example.com")).status, 400, "a delegated name");
      assert.equal((await set("p.example.com")).status, 200, "a proxied name needs no other");
      assert.deepEqual(await shown(), before);
    }
    const { result: left } = await workers.domains.list({ account_id, service: "domains" });
    assert.deepEqual(
      left.map(({ hostname }) => hostname),
      ["p.example.com"],
    );
    await workers.scripts.delete("domains", { account_id, force: true });
    assert.deepEqual(await shown(), before, "records of users outlive the script");
    for (const { id } of made) await client.dns.records.delete(id, { zone_id });
  });

  test("are cron triggers and the account's subdomain", async () => {
    await upload("timed");
    const body = [{ cron: "*/5 * * * *" }, { cron: "0 9 * * MON" }];
    const { schedules } = await workers.scripts.schedules.update("timed", { account_id, body });
    assert.deepEqual(
      schedules.map(({ cron }) => cron),
      body.map(({ cron }) => cron),
    );
    refused(
      await call(server, "PUT", `${path}/timed/schedules`, { body: [{ cron: "often" }] }),
      400,
      10_021,
    );
    assert.equal(
      (await workers.scripts.schedules.get("timed", { account_id })).schedules.length,
      2,
    );
    assert.deepEqual(
      await workers.scripts.subdomain.create("timed", { account_id, enabled: true }),
      {
        enabled: true,
        previews_enabled: false,
      },
    );
    await workers.subdomains.update({ account_id, subdomain: "mine" });
    const worker = await call(server, "GET", `/accounts/${account}/workers/workers/timed`);
    const { subdomain } = worker.result as { subdomain: { enabled: boolean; url: string } };
    assert.deepEqual(subdomain, {
      enabled: true,
      previews_enabled: false,
      url: "http://timed.mine.scripts.localhost",
    });
  });
});

suite("scripts", () => {
  test("are for those who may", async () => {
    await upload("mine");
    const token = async (...groups: Parameters<typeof policy>[2][]) => {
      const body = { name: "t", policies: [policy("allow", accountKey(account), ...groups)] };
      const { result } = await call(server, "POST", "/user/tokens", { body });
      return { headers: bearer((result as { value: string }).value) };
    };
    const reader = await token("scriptsRead");
    assert.equal((await call(server, "GET", path, reader)).status, 200);
    refused(await upload("mine", {}, undefined, reader), 403, 9109);
    refused(await call(server, "DELETE", `${path}/mine`, reader), 403, 9109);
    refused(await call(server, "POST", `${path}/mine/tails`, { ...reader, body: {} }), 403, 9109);
    const writer = await token("scriptsWrite", "storageRead");
    assert.equal((await upload("mine", {}, undefined, writer)).status, 200);
    // The code after which wrangler asks for each zone by itself.
    const routes = { ...writer, body: [{ pattern: "example.com/*" }] };
    refused(await call(server, "PUT", `${path}/mine/routes`, routes), 403, 10_000);
    const tailer = await token("tailRead");
    assert.equal(
      (await call(server, "POST", `${path}/mine/tails`, { ...tailer, body: {} })).status,
      200,
    );
    refused(await call(server, "GET", path, tailer), 403, 9109);
  });

  test("of another account are not there", async () => {
    const { result } = await call(server, "POST", "/accounts", { body: { name: "Other" } });
    const other = `/accounts/${(result as { id: string }).id}/workers/scripts`;
    assert.deepEqual((await call(server, "GET", other)).result, []);
    refused(await call(server, "GET", `${other}/mine/settings`), 404, 10_007);
  });

  test("are taken as many at a time as memory has room for", async () => {
    const { hostname, port } = new URL(server.origin);
    const fields = { ...keyHeaders, Host: "x", "Content-Type": "multipart/form-data; boundary=x" };
    const lines = Object.entries({ ...fields, "Content-Length": 14 * 1024 ** 2 });
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    const held = Array.from({ length: 9 }, () => {
      const socket = netConnect(Number(port), hostname);
      socket.write(`PUT /client/v4${path}/held HTTP/1.1\r\n${head}\r\n--x`);
      return socket;
    });
    try {
      const [answer] = await Promise.race(held.map((socket) => once(socket, "data")));
      assert.match(String(answer), /^HTTP\/1\.1 429 [^]*\r\nRetry-After: 2\r\n/);
      assert.equal((await upload("small")).status, 429);
    } finally {
      for (const socket of held) socket.destroy();
    }
    await until(async () => (await upload("small")).status === 200);
  });

  test("are listened to by WebSockets alone, and those who break off harm nobody", async () => {
    const { hostname, port } = new URL(server.origin);
    for (const upgrade of ["websocket", "h2c"]) {
      const socket = netConnect(Number(port), hostname);
      const head = ["GET /tails/v1/none HTTP/1.1", "Host: x", "Connection: Upgrade"];
      socket.write([...head, `Upgrade: ${upgrade}`, "", ""].join("\r\n"));
      const [answer] = (await once(socket, "data")) as [Buffer];
      assert.match(answer.toString(), /^HTTP\/1\.1 404 /);
      socket.resetAndDestroy();
    }
    assert.equal((await call(server, "GET", path)).status, 200);
  });
});
