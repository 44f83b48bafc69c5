/** The requests of real clients, in their order and spelling: reference §6. Each test is one client. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { startServer } from "../support/server.ts";
import { type ApiAnswer, bearer, call } from "./api.ts";
import { type Fields, refused, succeeded, TestZone, type ZoneRecord } from "./dns-api.ts";
import { firstIds } from "./policies.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { account } = await firstIds(server);

const VALUE = "LHDhK3oGRvkiefQnx7OOczTY5Tic_xZ6HcMOc_gmtoM";
const ZERO_TIMES = {
  created_on: "0001-01-01T00:00:00Z",
  modified_on: "0001-01-01T00:00:00Z",
};

interface Zone {
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly name_servers: string[];
  readonly account: { readonly id: string };
  readonly plan: {
    readonly legacy_id: string;
    readonly price: number;
    readonly is_subscribed: boolean;
  };
  readonly meta: Readonly<Record<string, unknown>>;
}

/** A token that may edit the DNS records of all zones and nothing else, as most guides say. */
async function dnsToken(): Promise<Record<string, string>> {
  const resources = { "com.cloudflare.api.account.zone.*": "*" };
  const permission_groups = [{ id: "4755a26eedb94da69e1066d98aa820be" }];
  const body = { name: "client", policies: [{ effect: "allow", permission_groups, resources }] };
  const { result } = succeeded(await call(server, "POST", "/user/tokens", { body }));
  const { value } = result as { value: string };
  assert.match(value, /^(?:[A-Za-z0-9_-]{35,50}|cf(?:ut|at)_[A-Za-z0-9_-]{32,256})$/);
  return bearer(value);
}
const headers = await dnsToken();

function ask(method: string, path: string, body?: unknown): Promise<ApiAnswer> {
  return call(server, method, path, { headers, ...(body !== undefined && { body }) });
}

async function ok<T>(method: string, path: string, body?: unknown): Promise<T> {
  return succeeded(await ask(method, path, body)).result as T;
}

test("lego adds a challenge and cleans it up", async () => {
  const { name } = await TestZone.make(server, "lego.example");
  const zones = await ok<Zone[]>("GET", `/zones?name=${name}&per_page=50`);
  assert.equal(zones.length, 1);
  const [zone] = zones;
  assert.ok(Number.isInteger(zone!.plan.price));
  for (const quota of ["custom_certificate_quota", "page_rule_quota", "step"]) {
    assert.ok(Number.isInteger(zone!.meta[quota]), quota);
  }
  const fqdn = `_acme-challenge.www.${name}`;
  const body = { name: fqdn, ttl: 120, type: "TXT", content: `"${VALUE}"` };
  const made = await ok<ZoneRecord>("POST", `/zones/${zone!.id}/dns_records`, body);
  assert.deepEqual([made.name, made.content, made.ttl], [fqdn, `"${VALUE}"`, 120]);
  // A second one at the same name, as for a wildcard and its apex.
  const second = { ...body, content: `"${VALUE}2"` };
  await ok<ZoneRecord>("POST", `/zones/${zone!.id}/dns_records`, second);
  await ok("DELETE", `/zones/${zone!.id}/dns_records/${made.id}`);
  const left = await ok<ZoneRecord[]>("GET", `/zones/${zone!.id}/dns_records`);
  assert.deepEqual(
    left.map(({ content }) => content),
    [`"${VALUE}2"`],
  );
});

test("certbot finds the zone by suffixes, adds a challenge, finds it and deletes it", async () => {
  const { id, name } = await TestZone.make(server, "certbot.example");
  const fqdn = `_acme-challenge.a.b.${name}`;
  const hits: string[] = [];
  for (let guess = fqdn; guess.includes("."); guess = guess.slice(guess.indexOf(".") + 1)) {
    const found = await ok<Zone[]>("GET", `/zones?name=${guess}&per_page=1`);
    if (found.length > 0) hits.push(found[0]!.id);
  }
  assert.deepEqual(hits, [id]);
  const records = `/zones/${id}/dns_records`;
  await ok("POST", records, { type: "TXT", name: fqdn, content: VALUE, ttl: 120 });
  await ok("POST", records, { type: "TXT", name: fqdn, content: "another", ttl: 120 });
  const again = await ask("POST", records, { type: "TXT", name: fqdn, content: VALUE, ttl: 120 });
  assert.ok([81_057, 81_058].includes(again.errors[0]!.code), "it takes these for a success");
  const query = `type=TXT&name.exact=${fqdn}&content.exact=${VALUE}&per_page=1`;
  const pages: ZoneRecord[][] = [];
  for (let page = 1; pages.at(-1)?.length !== 0; page++) {
    pages.push(await ok("GET", `${records}?${query}${page === 1 ? "" : `&page=${page}`}`));
  }
  assert.deepEqual(
    pages.map(({ length }) => length),
    [1, 0],
  );
  await ok("DELETE", `${records}/${pages[0]![0]!.id}`);
  assert.deepEqual(await ok("GET", `${records}?${query}`), []);
  // The older library asks by the plain names.
  const older = await ok<ZoneRecord[]>("GET", `${records}?type=TXT&name=${fqdn}&content=another`);
  assert.equal(older.length, 1);
  const denied = await call(server, "GET", "/zones?per_page=1", {
    headers: bearer("x".repeat(40)),
  });
  refused(denied, 403, 9109);
});

suite("acme.sh", async () => {
  const { id, name } = await TestZone.make(server, "acmesh.example");
  const fqdn = `_acme-challenge.${name}`;
  /** `egrep -o`, then cut: all that the script knows of JSON. */
  const grep = (text: string, pattern: RegExp) => text.match(pattern)?.[0] ?? "";
  const firstId = (text: string) =>
    grep(text, /"id":\s*"[^"]*"/)
      .split(":")[1]!
      .replaceAll('"', "")
      .trim();

  test("finds the zone by the longest suffix that there is", async () => {
    for (const suffix of [fqdn, name]) {
      for (const query of [`name=${suffix}`, `name=${suffix}&account.id=${account}`]) {
        const { text } = await ask("GET", `/zones?${query}`);
        const isHit = text.includes(`"name":"${suffix}"`) || text.includes('"total_count":1');
        assert.equal(isHit, suffix === name, text);
        if (!isHit) continue;
        assert.equal(firstId(grep(text, /\[\{"id":"[^"]*"/)), id);
      }
    }
    const { text } = await ask("GET", `/zones/${id}`);
    assert.ok(text.includes('"success":true') && text.includes(`"name":"${name}"`));
    assert.equal(firstId(text), id);
  });

  test("counts, adds, and takes what is there already for added", async () => {
    const records = `/zones/${id}/dns_records`;
    const before = await ask("GET", `${records}?type=TXT&name=${fqdn}`);
    assert.ok(before.text.includes('"success":true'));
    const body = `{"type":"TXT","name":"${fqdn}","content":"${VALUE}","ttl":120}`;
    const added = await ask("POST", records, body);
    assert.ok(added.text.includes(VALUE), "the reply must contain the value");
    const again = await ask("POST", records, body);
    assert.ok(
      again.text.includes("An identical record already exists.") &&
        again.text.includes('"code":81058'),
      again.text,
    );
  });

  test("removes its record by value", async () => {
    const records = `/zones/${id}/dns_records`;
    const found = await ask("GET", `${records}?type=TXT&name=${fqdn}&content=${VALUE}`);
    assert.ok(found.text.includes('"success":true'));
    const count = grep(found.text, /"count":\s*[^,]*,/).replaceAll(/[^0-9]/g, "");
    assert.equal(count, "1", found.text);
    const recordId = firstId(found.text);
    assert.match(recordId, /^[0-9a-f]{32}$/);
    const deleted = await ask("DELETE", `${records}/${recordId}`);
    assert.ok(deleted.text.includes('"success":true'));
    const gone = await ask("GET", `${records}?type=TXT&name=${fqdn}&content=${VALUE}`);
    assert.equal(grep(gone.text, /"count":\s*[^,]*,/).replaceAll(/[^0-9]/g, ""), "0");
  });
});

test("octoDNS creates a zone, fills it, reads it back and updates it", async () => {
  const key = (method: string, path: string, body?: unknown) =>
    call(server, method, path, body === undefined ? {} : { body });
  const zoneBody = { name: "octodns.example", jump_start: false };
  const made = succeeded(await key("POST", "/zones", zoneBody)).result as Zone;
  /** Asks for a next page only when this one was full, by what `result_info` says. */
  async function walk<T>(path: string, per_page: number): Promise<T[]> {
    const all: T[] = [];
    for (let page = 1; ; page++) {
      const answer = succeeded(await key("GET", `${path}?page=${page}&per_page=${per_page}`));
      all.push(...(answer.result as T[]));
      const info = answer.result_info!;
      if (!(info["count"]! > 0 && info["count"] === info["per_page"])) return all;
    }
  }
  const zone = (await walk<Zone>("/zones", 50)).find(({ name }) => name === "octodns.example")!;
  assert.equal(zone.id, made.id);
  assert.equal(typeof zone.plan.legacy_id, "string");
  assert.equal(zone.name_servers.length, 2);
  const rules = succeeded(await key("GET", `/zones/${zone.id}/pagerules?status=active`));
  assert.deepEqual(rules.result, []);
  const plans = succeeded(await key("GET", `/zones/${zone.id}/available_plans`));
  assert.equal((plans.result as { legacy_id: string }[])[0]!.legacy_id, zone.plan.legacy_id);

  const fqdn = (name: string) => `${name}.octodns.example`;
  const srv = { service: "_sip", proto: "_tcp", name: "octodns.example." };
  const digest = "00".repeat(32);
  const posts: [sent: Fields, content: string][] = [
    [
      { type: "CNAME", name: fqdn("c"), content: "target.example.net.", ttl: 300 },
      "target.example.net",
    ],
    [{ type: "NS", name: fqdn("sub"), content: "ns.example.net.", ttl: 300 }, "ns.example.net"],
    [{ type: "PTR", name: fqdn("p"), content: "h.example.net.", ttl: 300 }, "h.example.net"],
    [
      { type: "MX", name: "octodns.example", content: "m.example.net.", priority: 10, ttl: 300 },
      "m.example.net",
    ],
    [{ type: "TXT", name: fqdn("t"), content: '"a" "b"', ttl: 300 }, '"a" "b"'],
    [
      {
        type: "SRV",
        name: fqdn("_sip._tcp"),
        ttl: 300,
        data: { ...srv, priority: 1, weight: 2, port: 3, target: "s.example.net" },
      },
      "2 3 s.example.net",
    ],
    [
      {
        type: "HTTPS",
        name: fqdn("h"),
        ttl: 300,
        data: { priority: 1, target: ".", value: ' alpn="h3,h2"' },
      },
      '1 . alpn="h3,h2"',
    ],
    [
      {
        type: "DS",
        name: fqdn("sub"),
        ttl: 300,
        data: { key_tag: 1, algorithm: 13, digest_type: 2, digest },
      },
      `1 13 2 ${digest}`,
    ],
    [
      {
        type: "CAA",
        name: "octodns.example",
        ttl: 300,
        data: { flags: 0, tag: "issue", value: "ca.example.net" },
      },
      '0 issue "ca.example.net"',
    ],
  ];
  const records = `/zones/${zone.id}/dns_records`;
  for (const [body] of posts) succeeded(await key("POST", records, body));
  const read = await walk<ZoneRecord>(records, 5);
  assert.equal(read.length, posts.length);
  for (const [{ type, name }, content] of posts) {
    const record = read.find((one) => one.type === type && one.name === name)!;
    assert.equal(record.content, content);
    assert.equal(record.zone_id, zone.id);
  }
  const mx = read.find(({ type }) => type === "MX")!;
  const update = { type: "MX", name: mx.name, content: "m2.example.net.", priority: 5, ttl: 120 };
  const put = succeeded(await key("PUT", `${records}/${mx.id}`, update)).result as ZoneRecord;
  assert.deepEqual([put.id, put.content, put.priority], [mx.id, "m2.example.net", 5]);
  const noop = succeeded(await key("PUT", `${records}/${mx.id}`, update)).result as ZoneRecord;
  assert.equal(noop.id, mx.id);
  const plan = { plan: { id: (plans.result as { id: string }[])[0]!.id } };
  succeeded(await key("PATCH", `/zones/${zone.id}`, plan));
});

test("external-dns batches, and replays a failed batch as single calls", async () => {
  const { id, name } = await TestZone.make(server, "external-dns.example");
  const zones = await ok<Zone[]>("GET", "/zones");
  assert.ok(zones.some((zone) => zone.id === id));
  assert.equal(typeof (await ok<Zone>("GET", `/zones/${id}`)).plan.is_subscribed, "boolean");
  const records = `/zones/${id}/dns_records`;
  const common = { ttl: 1, priority: 0, proxied: false, comment: "", tags: [] };
  const registry = '"heritage=external-dns,external-dns/owner=default"';
  const posts: Fields[] = [
    { ...common, type: "A", name: `a.${name}`, content: "192.0.2.1" },
    { ...common, type: "CNAME", name: `c.${name}`, content: "lb.example.net" },
    { ...common, type: "TXT", name: `a-a.${name}`, content: registry },
    { ...common, type: "MX", name, content: "m.example.net", priority: 10 },
    {
      ...common,
      type: "SRV",
      name: `_s._tcp.${name}`,
      data: { priority: 1, weight: 2, port: 3, target: "t.example.net" },
    },
  ];
  const made = await ok<{ posts: ZoneRecord[] }>("POST", `${records}/batch`, { posts });
  const [a, c, registered, mx, srv] = made.posts as [
    ZoneRecord,
    ZoneRecord,
    ZoneRecord,
    ZoneRecord,
    ZoneRecord,
  ];
  assert.equal(registered.content, registry, "byte for byte");
  assert.equal(mx.priority, 10);
  assert.deepEqual(srv.data, { priority: 1, weight: 2, port: 3, target: "t.example.net" });
  assert.deepEqual(
    new Set((await ok<ZoneRecord[]>("GET", `${records}?per_page=5000`)).map(({ id }) => id)).size,
    5,
  );

  const put = { ...posts[0], id: a.id, content: "192.0.2.2" };
  const conflict = { ...common, type: "A", name: `x.${name}`, content: "not an address" };
  const failed = await ask("POST", `${records}/batch`, {
    deletes: [{ id: c.id }],
    puts: [put],
    posts: [conflict],
  });
  refused(failed, 400, 9005);
  await ok("DELETE", `${records}/${c.id}`);
  const updated = await ok<ZoneRecord>("PUT", `${records}/${a.id}`, put);
  assert.deepEqual([updated.content, updated.comment, updated.tags], ["192.0.2.2", null, []]);
  await ok("PUT", `${records}/${a.id}`, put);
  const left = await ok<ZoneRecord[]>("GET", records);
  assert.equal(left.length, 4);
});

test("dnscontrol creates with relative names, proxies in a second call and edits by PATCH", async () => {
  const { id, name } = await TestZone.make(server, "dnscontrol.example");
  // cloudflare-go v0 asks for all pages and counts the last one.
  const page = succeeded(await ask("GET", "/zones?per_page=50"));
  const { total_count, total_pages } = page.result_info!;
  const last = await ok<Zone[]>("GET", `/zones?per_page=50&page=${total_pages}`);
  assert.equal(last.length, total_count! - 50 * (total_pages! - 1));
  const records = `/zones/${id}/dns_records`;
  const post = (fields: Fields) =>
    ok<ZoneRecord>("POST", records, {
      ...ZERO_TIMES,
      priority: 0,
      ttl: 1,
      settings: {},
      ...fields,
    });
  const apex = await post({ type: "A", name: "@", content: "192.0.2.1" });
  const www = await post({ type: "CNAME", name: "www", content: `${name}.` });
  assert.deepEqual([apex.name, www.name, www.content], [name, `www.${name}`, name]);
  const proxied = await ok<ZoneRecord>("PATCH", `${records}/${www.id}`, {
    proxied: true,
    name: "www",
    type: "CNAME",
    content: `${name}.`,
    ttl: 1,
    tags: null,
    settings: {},
  });
  assert.deepEqual([proxied.proxied, proxied.ttl, proxied.name], [true, 1, `www.${name}`]);
  const mx = await post({ type: "MX", name: "@", content: "m.example.net.", priority: 10 });
  assert.equal(mx.priority, 10);
  const words = "name service proto target certificate value tag fingerprint digest public_key";
  const numbers = "priority weight port usage selector matching_type flags algorithm type key_tag";
  const everyKey = Object.fromEntries([
    ...`${words} regex replacement`.split(" ").map((key) => [key, ""]),
    ...`${numbers} digest_type protocol order preference`.split(" ").map((key) => [key, 0]),
  ]) as Fields;
  const digest = "00".repeat(32);
  const structured: [type: string, at: string, content: string, data: Fields, shown: string][] = [
    ["CAA", name, "", { flags: 0, tag: "issue", value: "ca.net" }, '0 issue "ca.net"'],
    ["SSHFP", `s.${name}`, "", { algorithm: 4, type: 2, fingerprint: digest }, `4 2 ${digest}`],
    [
      "TLSA",
      `_443._tcp.${name}`,
      `3 1 1 ${digest}`,
      { usage: 3, selector: 1, matching_type: 1, certificate: digest },
      `3 1 1 ${digest}`,
    ],
    [
      "SRV",
      `_sip._tcp.${name}`,
      "t.example.net.",
      {
        service: "_sip",
        proto: "_tcp",
        name,
        priority: 1,
        weight: 2,
        port: 3,
        target: "t.example.net.",
      },
      "2 3 t.example.net",
    ],
    [
      "NAPTR",
      `n.${name}`,
      "",
      { order: 1, preference: 2, flags: "u", service: "E2U", regex: "!^.*$!x!", replacement: "." },
      '1 2 "u" "E2U" "!^.*$!x!" .',
    ],
  ];
  for (const [type, at, content, data, shown] of structured) {
    const made = await post({ type, name: at, content, data: { ...everyKey, ...data } });
    assert.equal(made.content, shown, type);
  }
  const edited = await ok<ZoneRecord>("PATCH", `${records}/${apex.id}`, {
    type: "A",
    name: "@",
    content: "192.0.2.9",
    ttl: 300,
    proxied: false,
    tags: null,
    settings: {},
  });
  assert.deepEqual([edited.content, edited.ttl, edited.name], ["192.0.2.9", 300, name]);
  const listed = await ok<ZoneRecord[]>("GET", `${records}?page=1&per_page=100`);
  for (const record of listed) {
    assert.equal(typeof record.proxied, "boolean");
    assert.notEqual(record.meta["read_only"], true);
    assert.ok(!Number.isNaN(Date.parse(record.created_on)));
  }
  await ok("DELETE", `${records}/${mx.id}`);
  const body = { name: "new.dnscontrol.example", jump_start: false, type: "full" };
  const options = { body: { ...body, organization: { id: account } } };
  const zone = succeeded(await call(server, "POST", "/zones", options)).result as Zone;
  assert.equal(zone.account.id, account);
});

test("Terraform v5 manages a zone, records, a setting and DNS settings", async () => {
  const key = async <T>(method: string, path: string, body?: unknown) =>
    succeeded(await call(server, method, path, body === undefined ? {} : { body })).result as T;
  const zone = await key<Zone>("POST", "/zones", {
    name: "terraform.example",
    account: { id: account },
    type: "full",
  });
  assert.notEqual(zone.id, "");
  assert.deepEqual(await key("GET", `/zones/${zone.id}`), zone);
  const paused = await key<Zone & { paused: boolean }>("PATCH", `/zones/${zone.id}`, {
    paused: true,
  });
  assert.equal(paused.paused, true);
  const records = `/zones/${zone.id}/dns_records`;
  const config = { type: "A", name: "www", content: "192.0.2.1", ttl: 3600, proxied: false };
  const made = await key<ZoneRecord>("POST", records, config);
  const read = await key<ZoneRecord>("GET", `${records}/${made.id}`);
  assert.deepEqual(read, made);
  assert.deepEqual(
    [read.name, read.comment, read.tags, read.settings],
    ["www.terraform.example", null, [], {}],
  );
  const put = await key<ZoneRecord>("PUT", `${records}/${made.id}`, {
    ...config,
    content: "192.0.2.2",
    comment: "managed",
  });
  assert.deepEqual([put.id, put.content, put.comment], [made.id, "192.0.2.2", "managed"]);
  const loc = await key<ZoneRecord>("POST", records, {
    type: "LOC",
    name: "loc.terraform.example",
    ttl: 300,
    data: {
      lat_degrees: 37,
      lat_minutes: 46,
      lat_seconds: 46,
      lat_direction: "N",
      long_degrees: 122,
      long_minutes: 23,
      long_seconds: 35,
      long_direction: "W",
      altitude: 0,
      size: 100,
      precision_horz: 0,
      precision_vert: 0,
    },
  });
  assert.equal(loc.content, "37 46 46.000 N 122 23 35.000 W 0.00 100.00 0.00 0.00");
  const https = await key<ZoneRecord>("POST", records, {
    type: "HTTPS",
    name: "h.terraform.example",
    ttl: 300,
    data: { priority: "1", target: "foo.", value: 'alpn="h2"' },
  });
  assert.equal(https.data!["target"], "foo.");
  const query = "name.exact=www.terraform.example&type=A&match=all&order=type&direction=asc";
  const found = await key<ZoneRecord[]>("GET", `${records}?${query}`);
  assert.deepEqual(
    found.map(({ id }) => id),
    [made.id],
  );
  await key("DELETE", `${records}/${made.id}`);
  assert.equal((await call(server, "GET", `${records}/${made.id}`)).status, 404, "it is dropped");

  const setting = await key<Fields>("PATCH", `/zones/${zone.id}/settings/http3`, { value: "on" });
  assert.deepEqual([setting["value"], setting["editable"]], ["on", true]);
  assert.deepEqual(await key("GET", `/zones/${zone.id}/settings/http3`), setting);
  const dns = await key<Fields>("PATCH", `/zones/${zone.id}/dns_settings`, {
    multi_provider: true,
  });
  assert.equal(dns["multi_provider"], true);
  assert.deepEqual(await key("GET", `/zones/${zone.id}/dns_settings`), dns);
  await key("DELETE", `/zones/${zone.id}`);
  assert.equal((await call(server, "GET", `/zones/${zone.id}`)).status, 404, "it is forgotten");
});

test("Terraform v4 edits a record by PATCH and waits while the error says already exist", async () => {
  const { id } = await TestZone.make(server, "terraform4.example");
  const records = `/zones/${id}/dns_records`;
  const fields = { type: "CNAME", name: "www", content: "x.example.net", ttl: 1, proxied: true };
  const body = { ...ZERO_TIMES, ...fields, settings: {} };
  const made = await ok<ZoneRecord>("POST", records, body);
  const twice = await ask("POST", records, body);
  assert.match(twice.errors[0]!.message, /already exist/);
  const clash = await ask("POST", records, { ...body, content: "y.example.net" });
  assert.match(clash.errors[0]!.message, /already exist/);
  const edited = await ok<ZoneRecord>("PATCH", `${records}/${made.id}`, {
    ...fields,
    content: "y.example.net",
    comment: "",
    tags: [],
    settings: {},
  });
  assert.deepEqual([edited.content, edited.proxied], ["y.example.net", true]);
  await ok("DELETE", `${records}/${made.id}`);
  assert.equal((await ask("GET", `${records}/${made.id}`)).status, 404);
});

test("favonia/cloudflare-ddns finds the zone by suffixes and keeps addresses up to date", async () => {
  const { name } = await TestZone.make(server, "ddns.example");
  const fqdn = `home.${name}`;
  assert.deepEqual(await ok("GET", `/zones?name=${fqdn}&per_page=50`), []);
  const [zone] = await ok<Zone[]>("GET", `/zones?name=${name}&per_page=50`);
  assert.equal(zone!.account.id, account);
  assert.ok(["active", "pending"].includes(zone!.status));
  const records = `/zones/${zone!.id}/dns_records`;
  for (const [type, content, next] of [
    ["A", "192.0.2.1", "192.0.2.2"],
    ["AAAA", "2001:db8::1", "2001:db8::2"],
  ]) {
    const query = `type=${type}&name=${fqdn}&page=1&per_page=100`;
    assert.deepEqual(await ok("GET", `${records}?${query}`), []);
    const asked = { ttl: 300, proxied: false, comment: "by ddns", tags: ["by:ddns"] };
    const fields = { type, name: fqdn, content, ...asked, settings: {} };
    const made = await ok<ZoneRecord>("POST", records, { ...fields, ...ZERO_TIMES });
    const { ttl, proxied, comment, tags } = made;
    assert.deepEqual({ ttl, proxied, comment, tags }, asked, "it warns when these differ");
    const [found] = await ok<ZoneRecord[]>("GET", `${records}?${query}`);
    assert.deepEqual(found, made);
    const patch = { ...fields, content: next };
    const edited = await ok<ZoneRecord>("PATCH", `${records}/${made.id}`, patch);
    assert.deepEqual([edited.id, edited.content, edited.tags], [made.id, next, ["by:ddns"]]);
    await ok("DELETE", `${records}/${made.id}`);
  }
});

test("libdns and Caddy ask with a last dot, write relative names and delete by content", async () => {
  const { id, name } = await TestZone.make(server, "libdns.example");
  const zones = await ok<Zone[]>("GET", `/zones?name=${name}.`);
  assert.deepEqual(
    zones.map((zone) => zone.id),
    [id],
  );
  const records = `/zones/${id}/dns_records`;
  const junk = { ...ZERO_TIMES, data: { tag: "" } };
  const challenge = { ...junk, type: "TXT", name: "_acme-challenge", content: `"${VALUE}"` };
  const answer = await ask("POST", records, challenge);
  assert.deepEqual(answer.errors, [], "it fails on any entry");
  const made = answer.result as ZoneRecord;
  assert.deepEqual([made.name, made.ttl], [`_acme-challenge.${name}`, 1]);
  const query = `type=TXT&name=_acme-challenge.${name}&content.contains=${VALUE}`;
  const [found] = await ok<ZoneRecord[]>("GET", `${records}?${query}`);
  assert.equal(found!.content, `"${VALUE}"`);
  const deleted = await ok<Fields>("DELETE", `${records}/${found!.id}`);
  assert.deepEqual(deleted, { id: made.id });

  // SetRecords: looks for the record by type and name, then PATCH or POST.
  const a = { ...junk, type: "A", name: "www", content: "192.0.2.1", ttl: 300 };
  assert.deepEqual(await ok("GET", `${records}?type=A&name=www.${name}`), []);
  const first = await ok<ZoneRecord>("POST", records, a);
  const patch = { ...a, content: "192.0.2.2" };
  const second = await ok<ZoneRecord>("PATCH", `${records}/${first.id}`, patch);
  assert.equal(second.content, "192.0.2.2");
  const exact = `type=A&name=www.${name}&content.exact=192.0.2.2`;
  assert.equal((await ok<ZoneRecord[]>("GET", `${records}?${exact}`)).length, 1);
  // Zeros are left out of SRV data.
  const service = {
    service: "_sip",
    proto: "_tcp",
    name: "@",
    port: 5060,
    target: "t.example.net",
  };
  const srv = await ok<ZoneRecord>("POST", records, {
    ...ZERO_TIMES,
    type: "SRV",
    name: "_sip._tcp",
    data: service,
  });
  assert.equal(srv.content, "0 5060 t.example.net");
  // GetRecords: how many pages there are is reckoned from result_info.
  const page = succeeded(await ask("GET", `${records}?page=1&per_page=100`));
  assert.deepEqual([page.result_info!["total_count"], page.result_info!["per_page"]], [2, 100]);
});
