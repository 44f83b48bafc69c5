/** The stock `cloudflare` SDK against the real server: all it can ask of zones and DNS records. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { Cloudflare } from "../clients/index.ts";
import { EMAIL, KEY, startServer } from "../support/server.ts";
import { call } from "./api.ts";
import {
  besideCall,
  byContent,
  type Fields,
  settable,
  succeeded,
  TestZone,
  type ZoneRecord,
} from "./dns-api.ts";
import { typeCases } from "./dns-types.ts";
import { firstIds } from "./policies.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { user, account } = await firstIds(server);

/** Unset, the SDK would look for these in the developer's environment. */
const NO_CREDENTIALS = { apiEmail: null, apiKey: null, apiToken: null, userServiceKey: null };
const ID = /^[0-9a-f]{32}$/;
const DNS_READ = "82e64a83756745bbbb1c9c2701bf816b";
const DNS_WRITE = "4755a26eedb94da69e1066d98aa820be";

const client = new Cloudflare({
  baseURL: server.base,
  ...NO_CREDENTIALS,
  apiEmail: EMAIL,
  apiKey: KEY,
});
const { zones, dns } = client;

type Created = Parameters<typeof dns.records.create>[0];
type Updated = Parameters<typeof dns.records.update>[1];
type Edited = Parameters<typeof dns.records.edit>[1];

// The SDK's types know neither our own record types nor `content` of structured ones.
const create = async (zone_id: string, fields: Fields, on = client) =>
  (await on.dns.records.create({
    zone_id,
    ...fields,
  } as unknown as Created)) as unknown as ZoneRecord;
const update = async (zone_id: string, id: string, fields: Fields, on = client) =>
  (await on.dns.records.update(id, {
    zone_id,
    ...fields,
  } as unknown as Updated)) as unknown as ZoneRecord;
const edit = async (zone_id: string, id: string, fields: Fields, on = client) =>
  (await on.dns.records.edit(id, {
    zone_id,
    ...fields,
  } as unknown as Edited)) as unknown as ZoneRecord;
const get = async (zone_id: string, id: string) =>
  (await dns.records.get(id, { zone_id })) as unknown as ZoneRecord;
const batch = (zone_id: string, lists: Fields) => dns.records.batch({ zone_id, ...lists });
const everything = <T>(list: AsyncIterable<T>): Promise<T[]> => Array.fromAsync(list);

async function recordsOf(zone_id: string, on = client): Promise<ZoneRecord[]> {
  return (await everything(on.dns.records.list({ zone_id }))) as unknown as ZoneRecord[];
}

async function refused(call: Promise<unknown>, status: number, code: number): Promise<Error> {
  const error = await call.then(
    () => assert.fail("the call was not refused"),
    (cause: unknown) => cause,
  );
  assert.ok(error instanceof Cloudflare.APIError, String(error));
  assert.deepEqual([error.status, error.errors[0]?.code], [status, code], error.message);
  return error;
}

const addZone = (name: string) => zones.create({ name, account: { id: account } });

suite("zones", () => {
  test("are created, read, edited, activated and deleted", async () => {
    const made = await addZone("lifecycle.example");
    assert.match(made.id, ID);
    assert.deepEqual(
      [made.name, made.status, made.type, made.paused, made.activated_on],
      ["lifecycle.example", "pending", "full", false, null],
    );
    assert.equal(made.account.id, account);
    assert.equal(made.name_servers.length, 2);
    assert.deepEqual(await zones.get({ zone_id: made.id }), made);

    const edited = await zones.edit({ zone_id: made.id, paused: true });
    assert.equal(edited.paused, true);
    assert.equal((await zones.get({ zone_id: made.id })).paused, true);

    assert.deepEqual(await zones.activationCheck.trigger({ zone_id: made.id }), { id: made.id });
    const active = await zones.get({ zone_id: made.id });
    assert.equal(active.status, "active");
    assert.ok(Date.parse(active.activated_on!) >= Date.parse(made.created_on));

    assert.deepEqual(await zones.delete({ zone_id: made.id }), { id: made.id });
    await refused(zones.get({ zone_id: made.id }), 404, 7003);
    assert.deepEqual(await everything(zones.list({ name: "lifecycle.example" })), []);
  });

  test("have the fields that typed clients decode", async () => {
    const zone = (await addZone("typed.example")) as unknown as Record<string, unknown>;
    const plan = zone["plan"] as { price: number; is_subscribed: boolean; legacy_id: string };
    assert.ok(Number.isInteger(plan.price));
    assert.equal(typeof plan.is_subscribed, "boolean");
    const meta = zone["meta"] as Record<string, number>;
    for (const key of ["step", "custom_certificate_quota", "page_rule_quota"]) {
      assert.ok(Number.isInteger(meta[key]), key);
    }
    assert.equal(meta["custom_certificate_quota"], 100);
    assert.equal(Object.keys(zone)[0], "id");
    assert.equal(zone["original_name_servers"], null);
    assert.deepEqual(Object.keys(zone["owner"] as object), ["id", "type", "email"]);
  });

  test("are each met once when there are more than a page holds", async () => {
    const names = Array.from({ length: 23 }, (_, i) => `many${i}.paging.example`);
    const made = await Promise.all(names.map(addZone));
    for (const per_page of [undefined, 1, 5, 23, 50]) {
      const params = { name: "ends_with:.paging.example", ...(per_page && { per_page }) };
      const walked = (await everything(zones.list(params))).map(({ id }) => id);
      assert.deepEqual(walked.toSorted(), made.map(({ id }) => id).toSorted());
    }
    const down = await everything(
      zones.list({ name: "ends_with:.paging.example", order: "name", direction: "desc" }),
    );
    assert.deepEqual(
      down.map(({ name }) => name),
      names.toSorted().toReversed(),
    );
  });

  test("are filtered by name, status, type and account", async () => {
    const one = await addZone("alpha.filter.example");
    const two = await addZone("beta.filter.example");
    await zones.activationCheck.trigger({ zone_id: two.id });
    const other = await client.accounts.create({ name: "Another owner" });
    const three = await zones.create({ name: "gamma.filter.example", account: { id: other.id } });
    const found = async (params: Parameters<typeof zones.list>[0]) => {
      const list = await everything(zones.list(params));
      return list.filter(({ name }) => name.endsWith(".filter.example")).map(({ id }) => id);
    };
    const names: [filter: string, ids: string[]][] = [
      ["alpha.filter.example", [one.id]],
      ["ALPHA.Filter.example", [one.id]],
      ["alpha.filter.example.", [one.id]],
      ["equal:beta.filter.example", [two.id]],
      ["starts_with:BETA", [two.id]],
      ["starts_with_case_sensitive:BETA", []],
      ["ends_with:a.filter.example", [one.id, two.id, three.id]],
      ["contains:ha.filter", [one.id]],
      ["contains_case_sensitive:ha.filter", [one.id]],
      ["filter.example", []],
    ];
    for (const [name, ids] of names) assert.deepEqual(await found({ name }), ids, name);
    assert.deepEqual(await found({ name: "not_equal:alpha.filter.example" }), [two.id, three.id]);
    assert.deepEqual(await found({ status: "active" }), [two.id]);
    assert.deepEqual(await found({ account: { id: other.id } }), [three.id]);
    assert.deepEqual(await found({ account: { name: "Another owner" } }), [three.id]);
    assert.deepEqual(await found({ account: { name: "starts_with:another" } }), [three.id]);
    const [status, name] = ["active", "alpha.filter.example"] as const;
    assert.deepEqual(await found({ status, name }), []);
    assert.deepEqual(await found({ status, name, match: "any" }), [one.id, two.id]);
  });

  test("have settings that are listed, read and changed", async () => {
    const { id: zone_id } = await addZone("settings.example");
    const initial = (await zones.settings.get("min_tls_version", { zone_id })) as Fields;
    assert.deepEqual(initial, {
      id: "min_tls_version",
      value: "1.0",
      modified_on: null,
      editable: true,
    });
    const value = "1.2";
    const edited = (await zones.settings.edit("min_tls_version", { zone_id, value })) as Fields;
    assert.equal(edited["value"], "1.2");
    assert.notEqual(edited["modified_on"], null);
    assert.deepEqual(await zones.settings.get("min_tls_version", { zone_id }), edited);
    const listed = (await client.get(`/zones/${zone_id}/settings`)) as { result: Fields[] };
    assert.deepEqual(
      listed.result.find(({ id }) => id === "min_tls_version"),
      edited,
    );
    await refused(zones.settings.get("no_such_setting", { zone_id }), 400, 1006);
    const wrong = zones.settings.edit("min_tls_version", { zone_id, value: "9" });
    await refused(wrong, 400, 1007);
  });

  test("have DNS settings that merge, and mirror the older setting for flattening", async () => {
    const { id: zone_id } = await addZone("dns-settings.example");
    const settings = await dns.settings.zone.get({ zone_id });
    assert.deepEqual(settings, {
      flatten_all_cnames: false,
      foundation_dns: false,
      multi_provider: false,
      secondary_overrides: false,
      ns_ttl: 86_400,
      zone_mode: "standard",
      nameservers: { type: "cloudflare.standard" },
      soa: {
        mname: null,
        rname: null,
        refresh: 10_000,
        retry: 2_400,
        expire: 604_800,
        min_ttl: 1_800,
        ttl: 3_600,
      },
      internal_dns: {},
    });
    const change = { flatten_all_cnames: true, ns_ttl: 3_600, soa: { refresh: 900 } };
    const edited = await dns.settings.zone.edit({ zone_id, ...change });
    const expected = { ...settings, ...change, soa: { ...(settings.soa as object), refresh: 900 } };
    assert.deepEqual(edited, expected);
    assert.deepEqual(await dns.settings.zone.get({ zone_id }), expected);
    const older = (await zones.settings.get("cname_flattening", { zone_id })) as Fields;
    assert.equal(older["value"], "flatten_all");
    const value = "flatten_at_root";
    await zones.settings.edit("cname_flattening", { zone_id, value });
    assert.equal((await dns.settings.zone.get({ zone_id })).flatten_all_cnames, false);
    await refused(dns.settings.zone.edit({ zone_id, ns_ttl: 29 }), 400, 1001);
    await refused(dns.settings.zone.edit({ zone_id, soa: { expire: 1 } }), 400, 1001);
  });
});

suite("a record of the type", async () => {
  const { id: zone } = await addZone("types.example");
  for (const { type, name, sent, shown, patch, patched } of typeCases) {
    for (const form of sent) {
      const kind = "data" in form ? "data" : "content";
      test(`${type} made from ${kind} is read, overwritten, edited and deleted`, async () => {
        // A DS lives beside the NS of its name.
        const content = "ns1.example.net";
        const ns = type === "DS" ? await create(zone, { type: "NS", name, content }) : null;
        const made = await create(zone, { type, name, ttl: 300, ...form });
        const data = ({ content, priority, data }: ZoneRecord) => ({
          content,
          ...(priority !== undefined && { priority }),
          ...(data !== undefined && { data }),
        });
        assert.deepEqual(data(made), shown);
        assert.deepEqual([made.type, made.name, made.ttl], [type, `${name}.types.example`, 300]);
        assert.deepEqual(await get(zone, made.id), made);
        assert.deepEqual(
          (await recordsOf(zone)).find(({ id }) => id === made.id),
          made,
        );

        const edited = await edit(zone, made.id, patch);
        assert.deepEqual(data(edited), patched);
        assert.deepEqual([edited.id, edited.ttl, edited.name], [made.id, 300, made.name]);
        assert.deepEqual(await get(zone, made.id), edited);

        const put = await update(zone, made.id, { type, name, ttl: 600, ...form });
        assert.deepEqual(data(put), shown);
        assert.deepEqual([put.id, put.ttl, put.created_on], [made.id, 600, made.created_on]);

        assert.deepEqual(await dns.records.delete(made.id, { zone_id: zone }), { id: made.id });
        await refused(get(zone, made.id), 404, 81_044);
        if (ns !== null) await dns.records.delete(ns.id, { zone_id: zone });
        assert.deepEqual(await recordsOf(zone), []);
      });
    }
  }
});

suite("records", () => {
  test("are each met once when there are more than a page holds", async () => {
    const { id } = await addZone("records-paging.example");
    const posts = Array.from({ length: 130 }, (_, i) => ({
      type: "A",
      name: `h${i}`,
      content: "192.0.2.1",
    }));
    await batch(id, { posts });
    const names = (list: readonly ZoneRecord[]) => list.map(({ name }) => name);
    const whole = names(await recordsOf(id));
    assert.equal(new Set(whole).size, 130);
    for (const per_page of [1, 65, 130, 131, 5_000_000]) {
      const walked = await everything(dns.records.list({ zone_id: id, per_page }));
      assert.deepEqual(names(walked as unknown as ZoneRecord[]), whole, `${per_page} a page`);
    }
  });

  test("are found by the SDK's dotted filters", async () => {
    const { id: zone_id, name: zone } = await addZone("sdk-filters.example");
    const a = await create(zone_id, {
      type: "A",
      name: "www",
      content: "192.0.2.1",
      comment: "Front door",
      tags: ["env:prod", "team"],
    });
    const t = await create(zone_id, { type: "TXT", name: "txt", content: "Hello there" });
    type Filters = Omit<Parameters<typeof dns.records.list>[0], "zone_id">;
    const cases: [filters: Filters, ids: string[]][] = [
      [{ name: { exact: `www.${zone}` } }, [a.id]],
      [{ name: { startswith: "TXT" } }, [t.id]],
      [{ content: { exact: "Hello there" } }, [t.id]],
      [{ content: { contains: "lo the" } }, [t.id]],
      [{ comment: { present: "" } }, [a.id]],
      [{ comment: { absent: "" } }, [t.id]],
      [{ comment: { contains: "door" } }, [a.id]],
      [{ tag: { exact: "env:prod" } }, [a.id]],
      [{ tag: { present: "team" } }, [a.id]],
      [{ tag: { absent: "team" } }, [t.id]],
      [{ type: "TXT" }, [t.id]],
      [{ search: "front" }, [a.id]],
      [{ match: "any", type: "TXT", name: { exact: `www.${zone}` } }, [a.id, t.id]],
      [{ type: "TXT", name: { exact: `www.${zone}` } }, []],
    ];
    for (const [filters, ids] of cases) {
      const found = await everything(dns.records.list({ zone_id, ...filters }));
      const seen = (found as unknown as ZoneRecord[]).map(({ id }) => id);
      assert.deepEqual(seen.toSorted(), ids.toSorted(), JSON.stringify(filters));
    }
  });

  test("tell what delegations do to them when the SDK asks", async () => {
    const { id: zone_id, name } = await addZone("sdk-shadow.example");
    const ns = await create(zone_id, { type: "NS", name: "sub", content: `ns1.sub.${name}` });
    const asked = { zone_id, include_shadow_metadata: true };
    const glue = await dns.records.create({
      ...asked,
      type: "A",
      name: "ns1.sub",
      content: "192.0.2.1",
      ttl: 1,
    });
    assert.deepEqual([glue.meta.shadowed_by, glue.meta.is_glue], [[ns.id], true]);
    assert.ok(!Object.hasOwn(glue.meta, "dead_glue"));
    assert.deepEqual((await dns.records.get(glue.id, asked)).meta, glue.meta);
    assert.deepEqual(
      (await dns.records.edit(glue.id, { ...asked, ttl: 60 } as Edited)).meta,
      glue.meta,
    );
    const listed = await everything(dns.records.list({ ...asked, type: "NS" }));
    assert.deepEqual(
      listed.map(({ meta }) => meta.shadowed_records_count),
      [1],
    );
    const [below] = await everything(
      dns.records.list({ ...asked, shadowed_by_name: `sub.${name}` }),
    );
    assert.equal(below!.id, glue.id);
    const [above] = await everything(
      dns.records.list({ zone_id, shadowing_name: `x.ns1.sub.${name}` }),
    );
    assert.equal(above!.id, ns.id);
    await refused(
      everything(dns.records.list({ zone_id, shadowed_by_name: `sub.${name}` })),
      400,
      1001,
    );
  });

  test("are counted by usage of the zone", async () => {
    const { id: zone_id } = await addZone("usage.example");
    const usage = async () => (await dns.usage.zone.get({ zone_id })) as unknown as Fields;
    assert.deepEqual(await usage(), { record_quota: 1_000_000, record_usage: 0 });
    const one = await create(zone_id, { type: "TXT", name: "a", content: "1" });
    await create(zone_id, { type: "TXT", name: "a", content: "2" });
    assert.equal((await usage())["record_usage"], 2);
    await dns.records.delete(one.id, { zone_id });
    assert.equal((await usage())["record_usage"], 1);
  });

  test("are counted by usage of the account", async () => {
    const usage = (await dns.usage.account.get({ account_id: account })) as unknown as Fields;
    assert.ok(Number.isInteger(usage["record_usage"]), JSON.stringify(usage));
    assert.ok(Object.hasOwn(usage, "record_quota"));
  });

  test("are not found by a scan, which answers all the same", async () => {
    const { id: zone_id } = await addZone("scan.example");
    const none = { recs_added: 0, total_records_parsed: 0 };
    assert.deepEqual(await dns.records.scan({ zone_id }), none);
    await dns.records.scanTrigger({ zone_id });
    assert.deepEqual(await everything(dns.records.scanList({ zone_id })), []);
    assert.deepEqual(await dns.records.scanReview({ zone_id, accepts: [], rejects: [] }), {
      accepts: [],
      rejects: [],
    });
    assert.deepEqual(await recordsOf(zone_id), []);
  });
});

suite("a batch", () => {
  test("deletes, then patches, then puts, then posts", async () => {
    const { id } = await addZone("batch-order.example");
    const a = await create(id, { type: "A", name: "first", content: "192.0.2.1" });
    const b = await create(id, { type: "CNAME", name: "second", content: "x.example.net" });
    const c = await create(id, { type: "A", name: "third", content: "192.0.2.3", comment: "old" });
    // Each step takes a name that only the step before it leaves free.
    const result = (await batch(id, {
      posts: [{ type: "CNAME", name: "third", content: "y.example.net" }],
      puts: [{ id: c.id, type: "CNAME", name: "second", content: "z.example.net" }],
      patches: [{ id: b.id, name: "first" }],
      deletes: [{ id: a.id }],
    })) as unknown as Record<string, ZoneRecord[]>;
    assert.deepEqual(Object.keys(result).toSorted(), ["deletes", "patches", "posts", "puts"]);
    assert.deepEqual(result["deletes"], [a]);
    const [patched, put, posted] = ["patches", "puts", "posts"].map((key) => result[key]![0]!);
    assert.deepEqual([patched!.id, patched!.name], [b.id, "first.batch-order.example"]);
    assert.deepEqual([put!.id, put!.type, put!.comment], [c.id, "CNAME", null]);
    assert.equal(posted!.name, "third.batch-order.example");
    const now = await recordsOf(id);
    assert.deepEqual(now.toSorted(byContent), [patched!, put!, posted!].toSorted(byContent));
  });

  test("of which one item fails changes nothing", async () => {
    const zone = new TestZone(server, (await addZone("batch-atomic.example")).id, "");
    const id = zone.id;
    const a = await create(id, { type: "A", name: "a", content: "192.0.2.1" });
    const b = await create(id, { type: "A", name: "b", content: "192.0.2.2" });
    const good = {
      deletes: [{ id: a.id }],
      patches: [{ id: b.id, ttl: 600 }],
      posts: [{ type: "TXT", name: "new", content: "new" }],
    };
    const before = await recordsOf(id);
    const history = await zone.history();
    const missing = "f".repeat(32);
    const bad: [lists: Fields, status: number, code: number][] = [
      [{ ...good, deletes: [{ id: a.id }, { id: missing }] }, 404, 81_044],
      [{ ...good, deletes: [{ id: a.id }, { id: a.id }] }, 404, 81_044],
      [{ ...good, patches: [{ id: a.id, ttl: 600 }] }, 404, 81_044],
      [{ ...good, patches: [{ id: b.id, ttl: 2 }] }, 400, 9021],
      [{ ...good, puts: [{ id: b.id, type: "A", name: "b", content: "no" }] }, 400, 9005],
      [
        { ...good, posts: [...good.posts, { type: "CNAME", name: "b", content: "x.net" }] },
        400,
        81_053,
      ],
      [{ ...good, posts: [good.posts[0], good.posts[0]] }, 400, 81_058],
    ];
    for (const [lists, status, code] of bad) {
      await refused(batch(id, lists), status, code);
      assert.deepEqual(await recordsOf(id), before);
    }
    assert.deepEqual(await zone.history(), history, "a refused batch is no change");
    await batch(id, good);
    assert.equal((await recordsOf(id)).length, 2);
    const { result } = await zone.history("per_page=1");
    const [entry] = result as { changes: unknown[] }[];
    assert.equal(entry!.changes.length, 3, "a batch is one change");
  });

  test("without anything in it is answered with empty lists", async () => {
    const { id } = await addZone("batch-empty.example");
    const nothing = { deletes: [], patches: [], puts: [], posts: [] };
    assert.deepEqual(await batch(id, {}), nothing);
    assert.deepEqual(await batch(id, { posts: null, deletes: [] }), nothing);
  });

  test("of more operations than the limit is refused", async () => {
    const { id } = await addZone("batch-limit.example");
    const post = (_: unknown, i: number) => ({ type: "TXT", name: `t${i}`, content: "x" });
    const many = Array.from({ length: 3_501 }, post);
    await refused(batch(id, { posts: many }), 400, 81_046);
    assert.deepEqual(await recordsOf(id), []);
    await batch(id, { posts: many.slice(1) });
    assert.equal((await dns.usage.zone.get({ zone_id: id })).record_usage, 3_500);
  });
});

suite("an export", () => {
  /** A zone with a record of each type and every option; `without` are types that it leaves out. */
  async function furnished(name: string, without: readonly string[]): Promise<TestZone> {
    const zone = new TestZone(server, (await addZone(name)).id, name);
    for (const { type, name, sent } of typeCases) {
      if (!without.includes(type)) await zone.create({ type, name, ...sent[0] });
    }
    const extras: Fields[] = [
      { type: "A", name: "@", content: "192.0.2.7", proxied: true },
      { type: "A", name: "*", content: "192.0.2.8", ttl: 86_400, comment: "any; \"thing\" 'else'" },
      { type: "AAAA", name: "tagged", content: "2001:db8::9", tags: ["env:prod", "team", "a:b:c"] },
      { type: "TXT", name: "both", content: "x", comment: "has cf_tags=no:tags in it" },
      { type: "TXT", name: "both", content: "y", comment: "and real", tags: ['q:a "b", c=d\\e'] },
      { type: "CNAME", name: "flat", content: "x.example.net", settings: { flatten_cname: true } },
      { type: "TXT", name: "long", content: "é".repeat(200), ttl: 60 },
      { type: "TXT", name: "odd", content: String.raw`"a;b \"c\" \\ \255" "second"` },
      { type: "MX", name: "null-mx", content: ".", priority: 0 },
      { type: "NS", name: "@", content: "ns.example.net" },
      { type: "TXT", name: "spf", content: "v=spf1 -all" },
    ];
    for (const fields of extras) await zone.create(fields);
    return zone;
  }

  /** Exports, makes the zone anew, imports, and tells what the records were and are. */
  async function roundTrip(zone: TestZone) {
    const before = (await zone.all()).toSorted(byContent).map(settable);
    const file = await dns.records.export({ zone_id: zone.id });
    await zones.delete({ zone_id: zone.id });
    const zone_id = (await addZone(zone.name)).id;
    const imported = await dns.records.import({ zone_id, file });
    const after = (await recordsOf(zone_id)).toSorted(byContent).map(settable);
    return { before, after, imported, zone: new TestZone(server, zone_id, zone.name), file };
  }

  test("brings every record back when it is imported into an empty zone", async () => {
    // DNSKEY has a test of its own below.
    const { before, after, imported, zone, file } = await roundTrip(
      await furnished("roundtrip.example", ["DNSKEY"]),
    );
    assert.deepEqual(after, before);
    assert.equal(imported.recs_added, before.length);
    assert.equal(imported.total_records_parsed, before.length);
    const again = await dns.records.import({ zone_id: zone.id, file });
    assert.deepEqual(
      [again.recs_added, again.total_records_parsed],
      [0, before.length],
      "what is there already is passed over",
    );
  });

  test("brings a DNSKEY back that the user made", async () => {
    const zone = await TestZone.make(server, "dnskey-roundtrip.example");
    const { name, sent } = typeCases.find(({ type }) => type === "DNSKEY")!;
    await zone.create({ type: "DNSKEY", name, ...sent[0] });
    const { before, after } = await roundTrip(zone);
    assert.deepEqual(after, before);
  });

  test("brings the settings of a proxied record back", async () => {
    const zone = await TestZone.make(server, "ipv4only-roundtrip.example");
    const base = { type: "A", content: "192.0.2.1", proxied: true };
    await zone.create({ ...base, name: "four", settings: { ipv4_only: true } });
    await zone.create({ ...base, name: "six", settings: { ipv6_only: true } });
    const { before, after } = await roundTrip(zone);
    assert.deepEqual(after, before);
  });

  test("brings odd names back", async () => {
    const zone = await TestZone.make(server, "odd-names.example");
    const names = [String.raw`a\.b`, "a$b", "$ttl", "a'b", String.raw`\200x`, "_x.*.y", "#"];
    for (const name of names) await zone.create({ type: "TXT", name, content: "x" });
    const { before, after } = await roundTrip(zone);
    assert.deepEqual(after, before);
  });

  test("brings odd comments and tags back", async () => {
    const zone = await TestZone.make(server, "odd-comments.example");
    const options: Fields[] = [
      { comment: '; (open "quote' },
      { comment: "cf_tags=cf-proxied:true" },
      { comment: "  padded  " },
      { tags: ["a: edges ", "b:日本", "c:d:e"] },
      { tags: ["empty:"] },
    ];
    for (const [i, more] of options.entries()) {
      await zone.create({ type: "TXT", name: "c", content: `${i}`, ...more });
    }
    const { before, after } = await roundTrip(zone);
    assert.deepEqual(after, before);
  });

  test("has the layout that people know", async () => {
    const zone = await TestZone.make(server, "layout.example");
    await zone.create({ type: "A", name: "www", content: "192.0.2.1", proxied: true });
    await zone.create({ type: "MX", name: "@", content: "mail.example.net", priority: 5 });
    await zone.create({ type: "TXT", name: "@", content: "hi", comment: "note", tags: ["a:b"] });
    const lines = (await dns.records.export({ zone_id: zone.id })).split("\n");
    const after = (head: string) => lines[lines.indexOf(head) + 1];
    assert.ok(lines.includes(";; Domain:     layout.example."));
    assert.match(
      lines.find((line) => line.startsWith(";; Exported:"))!,
      /\d{4}-\d\d-\d\d \d\d:/,
    );
    assert.match(after(";; SOA Record")!, /^layout\.example\.?\t3600\tIN\tSOA\t/);
    assert.equal(after(";; NS Records"), "layout.example.\t86400\tIN\tNS\tns1.selvedge.test.");
    assert.equal(
      after(";; A Records"),
      "www.layout.example.\t1\tIN\tA\t192.0.2.1 ; cf_tags=cf-proxied:true",
    );
    assert.equal(after(";; MX Records"), "layout.example.\t1\tIN\tMX\t5 mail.example.net.");
    assert.equal(after(";; TXT Records"), 'layout.example.\t1\tIN\tTXT\t"hi" ; note cf_tags=a:b');
  });
});

suite("an import", () => {
  test("reads directives, relative names and proxied", async () => {
    const zone = await TestZone.make(server, "import.example");
    const file = [
      "$ORIGIN import.example.",
      "$TTL 3600",
      "@ IN SOA ns1.selvedge.test. dns.import.example. 1 2 3 4 5",
      "@ IN NS ns1.selvedge.test.",
      "www IN A 192.0.2.1",
      "    IN A 192.0.2.2 ; second cf_tags=team:web",
      "alias 120 CNAME www.import.example.",
      "$GENERATE 1-3 host$ A 192.0.2.$",
      "mail MX 10 mx.example.net.",
    ].join("\n");
    const result = await dns.records.import({ zone_id: zone.id, file, proxied: "true" });
    assert.deepEqual([result.recs_added, result.total_records_parsed], [7, 7]);
    const records = await zone.all();
    const at = (name: string) => records.filter((one) => one.name === `${name}.import.example`);
    assert.deepEqual(
      at("www").map(({ content, proxied, ttl }) => [content, proxied, ttl]),
      [
        ["192.0.2.1", true, 1],
        ["192.0.2.2", true, 1],
      ],
    );
    assert.deepEqual([at("www")[1]!.comment, at("www")[1]!.tags], ["second", ["team:web"]]);
    assert.deepEqual([at("mail")[0]!.proxied, at("mail")[0]!.ttl], [false, 3600]);
    assert.equal(at("host3")[0]!.content, "192.0.2.3");
    assert.equal(at("alias")[0]!.content, "www.import.example");
  });

  test("tells how long it took beside its result", async () => {
    const zone = await TestZone.make(server);
    const answer = succeeded(await zone.import(`www.${zone.name}. 300 IN A 192.0.2.1\n`));
    assert.deepEqual(Object.keys(answer.timing!), ["start_time", "end_time", "process_time"]);
  });

  test("with a line that is wrong changes nothing and names the line", async () => {
    const zone = await TestZone.make(server, "import-bad.example");
    const bad: [line: string, told: RegExp][] = [
      ["b.import-bad.example. 300 IN A 192.0.2.999", /line 2/],
      ["$INCLUDE other.zone", /\$INCLUDE/],
      ["b.import-bad.example. 300 IN NOTATYPE x", /line 2/],
      ["a.import-bad.example. 300 IN CNAME x.example.net.", /line 2/],
      ['b.import-bad.example. 300 IN TXT "open', /line 2/],
    ];
    for (const [line, told] of bad) {
      const answer = await zone.import(`a.import-bad.example. 300 IN A 192.0.2.1\n${line}\n`);
      assert.deepEqual([answer.status, answer.errors[0]?.code], [400, 9207], line);
      assert.match(answer.errors[0]!.message, told);
      assert.deepEqual(await zone.all(), [], line);
    }
  });

  test("without a file is refused", async () => {
    const zone = await TestZone.make(server);
    const body = new FormData();
    body.set("proxied", "true");
    const path = `${zone.path}/dns_records/import`;
    const answer = await besideCall(server, path, { method: "POST", body });
    assert.deepEqual([answer.status, answer.errors[0]?.code], [400, 1001]);
    assert.match(answer.errors[0]!.message, /^file/);
    const json = await zone.call("POST", "/import", { file: "" });
    assert.deepEqual([json.status, json.errors[0]?.code], [400, 6003]);
    assert.equal(json.errors[0]!.error_chain![0]!.code, 6105);
  });
});

suite("the history of a zone", () => {
  interface Entry {
    readonly serial: number;
    readonly at: string;
    readonly actor: string;
    readonly changes: readonly {
      readonly action: string;
      readonly before: ZoneRecord | null;
      readonly after: ZoneRecord | null;
    }[];
  }
  const entries = (answer: { result: unknown }) => answer.result as Entry[];

  test("tells each change, newest first, and who made it", async () => {
    const zone = await TestZone.make(server);
    const made = await zone.create({ type: "A", name: "www", content: "192.0.2.1" });
    const edited = await zone.patch(made.id, { ttl: 600 });
    await zone.call("DELETE", `/${made.id}`);
    const [gone, changed, created] = entries(succeeded(await zone.history()));
    assert.deepEqual(gone!.changes, [{ action: "delete", before: edited, after: null }]);
    assert.deepEqual(changed!.changes, [{ action: "update", before: made, after: edited }]);
    assert.deepEqual(created!.changes, [{ action: "create", before: null, after: made }]);
    assert.ok(gone!.serial > changed!.serial && changed!.serial > created!.serial);
    assert.equal(created!.actor, `user:${user}`);
    assert.equal(Date.parse(created!.at), Date.parse(made.created_on));
  });

  test("is filtered by name and by actor", async () => {
    const zone = await TestZone.make(server);
    const token = await tokenFor(zone.id, DNS_WRITE);
    await create(zone.id, { type: "A", name: "a", content: "192.0.2.1" });
    await create(zone.id, { type: "A", name: "b", content: "192.0.2.1" }, token.client);
    const moved = await create(zone.id, { type: "A", name: "c", content: "192.0.2.1" });
    await zone.patch(moved.id, { name: "a2" });
    const names = async (query: string) =>
      entries(succeeded(await zone.history(query))).map(({ changes }) => changes[0]!.after!.name);
    assert.deepEqual(await names("name=a"), [`a.${zone.name}`]);
    assert.deepEqual(await names(`name=A.${zone.name}.`), [`a.${zone.name}`]);
    assert.deepEqual(await names("name=c"), [`a2.${zone.name}`, `c.${zone.name}`]);
    assert.deepEqual(await names("name=nothing"), []);
    assert.deepEqual(await names(`actor=token:${token.id}`), [`b.${zone.name}`]);
    assert.deepEqual(await names(`actor=user:${user}&name=b`), []);
    assert.equal((await names(`actor=user:${user}`)).length, 3);
  });

  test("is paged from the newest to the oldest", async () => {
    const zone = await TestZone.make(server);
    for (let i = 0; i < 7; i++) await zone.create({ type: "TXT", name: "t", content: `${i}` });
    const serials: number[][] = [];
    for (let before: number | undefined; ;) {
      const query = before === undefined ? "per_page=3" : `per_page=3&before_serial=${before}`;
      const page = succeeded(await zone.history(query));
      serials.push(entries(page).map(({ serial }) => serial));
      before = page.next_before_serial;
      if (before === undefined) break;
    }
    assert.deepEqual(
      serials.map(({ length }) => length),
      [3, 3, 1],
    );
    const all = entries(await zone.history()).map(({ serial }) => serial);
    assert.deepEqual(serials.flat(), all);
    assert.equal(new Set(all).size, 7);
  });

  test("with a filter tells of a next page however far down it is", async () => {
    const zone = await TestZone.make(server);
    const first = await zone.create({ type: "TXT", name: "rare", content: "0" });
    for (let i = 0; i < 205; i++) {
      await zone.create({ type: "TXT", name: `often${i}`, content: "x" });
    }
    await zone.patch(first.id, { content: "1" });
    const page = succeeded(await zone.history("name=rare&per_page=1"));
    assert.equal(entries(page).length, 1);
    assert.notEqual(page.next_before_serial, undefined, "there is an older change of the name");
    const next = await zone.history(
      `name=rare&per_page=1&before_serial=${page.next_before_serial}`,
    );
    assert.equal(entries(next)[0]!.changes[0]!.action, "create");
  });
});

suite("a revert", () => {
  interface Entry {
    readonly serial: number;
  }
  const serialOf = async (zone: TestZone) =>
    ((await zone.history("per_page=1")).result as Entry[])[0]!.serial;
  const kept = async (zone: TestZone) =>
    (await zone.all()).toSorted(byContent).map((one) => ({ id: one.id, ...settable(one) }));

  test("brings back what was deleted, edited and created, with the same ids", async () => {
    const zone = await TestZone.make(server);
    const a = await zone.create({ type: "A", name: "a", content: "192.0.2.1", comment: "c" });
    const b = await zone.create({ type: "A", name: "b", content: "192.0.2.2", tags: ["x:y"] });
    await zone.create({ type: "NS", name: "sub", content: "ns.example.net" });
    const digest = { key_tag: 1, algorithm: 13, digest_type: 2, digest: "00".repeat(32) };
    const ds = await zone.create({ type: "DS", name: "sub", data: digest });
    const serial = await serialOf(zone);
    const before = await kept(zone);
    await zone.call("DELETE", `/${a.id}`);
    await zone.patch(b.id, { content: "192.0.2.9", tags: [] });
    await zone.create({ type: "CNAME", name: "a", content: "x.example.net" });
    await zone.call("DELETE", `/${ds.id}`);
    for (const { id } of await zone.list("type=NS")) await zone.call("DELETE", `/${id}`);
    const changed = await kept(zone);

    const dry = succeeded(await zone.call("POST", "/revert?dry_run=true", { serial }));
    assert.equal((dry.result as { changes: unknown[] }).changes.length, 5);
    assert.deepEqual(await kept(zone), changed, "a dry run changes nothing");

    const answer = succeeded(await zone.call("POST", "/revert", { serial }));
    const result = answer.result as { serial: number; reverted_to: number };
    assert.equal(result.reverted_to, serial);
    assert.equal(result.serial, await serialOf(zone), "a revert is a change itself");
    assert.deepEqual(await kept(zone), before);

    const again = succeeded(await zone.call("POST", "/revert", { serial: result.serial - 1 }));
    assert.notEqual(again.result, null);
    assert.deepEqual(await kept(zone), changed, "a revert can be reverted");
  });

  test("brings back records that have changed places since", async () => {
    const zone = await TestZone.make(server);
    const one = await zone.create({ type: "CNAME", name: "one", content: "x.example.net" });
    const two = await zone.create({ type: "CNAME", name: "two", content: "y.example.net" });
    const serial = await serialOf(zone);
    const before = await kept(zone);
    await zone.patch(one.id, { name: "three" });
    await zone.patch(two.id, { name: "one" });
    await zone.patch(one.id, { name: "two" });
    succeeded(await zone.call("POST", "/revert", { serial }));
    assert.deepEqual(await kept(zone), before);
  });

  test("to a serial that the zone never had is refused", async () => {
    const zone = await TestZone.make(server);
    await zone.create({ type: "A", name: "a", content: "192.0.2.1" });
    const before = await kept(zone);
    const serial = (await serialOf(zone)) + 1_000;
    const later = await zone.call("POST", "/revert", { serial });
    assert.deepEqual([later.status, later.errors[0]?.code], [400, 81_060]);
    const never = await zone.call("POST", "/revert", { serial: 0 });
    assert.deepEqual([never.status, never.errors[0]?.code], [400, 81_060]);
    assert.deepEqual(await kept(zone), before);
  });
});

suite("a dry run", () => {
  test("of every write shows what would change and changes nothing", async () => {
    const zone = await TestZone.make(server);
    const a = await zone.create({ type: "A", name: "a", content: "192.0.2.1" });
    const before = await zone.all();
    const history = await zone.history();
    const put = { type: "A", name: "a", content: "192.0.2.5" };
    const calls: [method: string, at: string, body: unknown, actions: string[]][] = [
      ["POST", "", { type: "A", name: "b", content: "192.0.2.2" }, ["create"]],
      ["PUT", `/${a.id}`, put, ["update"]],
      ["PATCH", `/${a.id}`, { ttl: 600 }, ["update"]],
      ["DELETE", `/${a.id}`, undefined, ["delete"]],
      ["POST", "/batch", { deletes: [{ id: a.id }], posts: [put] }, ["delete", "create"]],
    ];
    for (const [method, at, body, actions] of calls) {
      const answer = succeeded(await zone.call(method, `${at}?dry_run=true`, body));
      const result = answer.result as { dry_run: boolean; changes: { action: string }[] };
      assert.equal(result.dry_run, true);
      assert.deepEqual(
        result.changes.map(({ action }) => action),
        actions,
        `${method} ${at}`,
      );
      assert.deepEqual(await zone.all(), before, `${method} ${at}`);
    }
    const file = `x.${zone.name}. 60 IN A 192.0.2.1\n`;
    const imported = succeeded(await zone.import(file, {}, "?dry_run=true"));
    assert.equal((imported.result as { changes: unknown[] }).changes.length, 1);
    assert.deepEqual(await zone.all(), before);
    assert.deepEqual(await zone.history(), history);
  });

  test("refuses what the write would refuse", async () => {
    const zone = await TestZone.make(server);
    await zone.create({ type: "A", name: "a", content: "192.0.2.1" });
    const cname = { type: "CNAME", name: "a", content: "x.example.net" };
    const answer = await zone.call("POST", "?dry_run=true", cname);
    assert.deepEqual([answer.status, answer.errors[0]?.code], [400, 81_053]);
  });
});

async function tokenFor(zoneId: string, group: string) {
  const resources = { [`com.cloudflare.api.account.zone.${zoneId}`]: "*" };
  const made = await client.user.tokens.create({
    name: "dns",
    policies: [{ effect: "allow", permission_groups: [{ id: group }], resources }],
  });
  const apiToken = made.value!;
  const options = { baseURL: server.base, ...NO_CREDENTIALS, apiToken };
  return { id: made.id!, value: apiToken, client: new Cloudflare(options) };
}

suite("a token", async () => {
  const own = await TestZone.make(server, "own.example");
  const foreign = await TestZone.make(server, "foreign.example");
  const kept = await foreign.create({ type: "A", name: "a", content: "192.0.2.1" });
  const there = { type: "A", name: "new", content: "192.0.2.2" };

  test("with DNS Write on one zone sees and changes that zone alone", async () => {
    const { client: token } = await tokenFor(own.id, DNS_WRITE);
    const seen = await everything(token.zones.list());
    assert.deepEqual(
      seen.map(({ id }) => id),
      [own.id],
    );
    assert.equal((await token.zones.get({ zone_id: own.id })).id, own.id);
    const made = await create(own.id, there, token);
    await edit(own.id, made.id, { ttl: 600 }, token);
    assert.deepEqual((await recordsOf(own.id, token))[0]!.ttl, 600);
    await update(own.id, made.id, there, token);
    await token.dns.records.delete(made.id, { zone_id: own.id });

    const zone_id = foreign.id;
    await refused(token.zones.get({ zone_id }), 403, 9109);
    await refused(recordsOf(zone_id, token), 403, 10_000);
    await refused(create(zone_id, there, token), 403, 10_000);
    await refused(edit(zone_id, kept.id, { ttl: 600 }, token), 403, 10_000);
    await refused(token.dns.records.delete(kept.id, { zone_id }), 403, 10_000);
    await refused(token.dns.records.export({ zone_id }), 403, 10_000);
    // Nor does a foreign record's id help in the zone that the token may change.
    await refused(edit(own.id, kept.id, { ttl: 600 }, token), 404, 81_044);
    await refused(token.dns.records.delete(kept.id, { zone_id: own.id }), 404, 81_044);
    await refused(token.zones.edit({ zone_id: own.id, paused: true }), 403, 9109);
    await refused(token.zones.delete({ zone_id: own.id }), 403, 9109);
    await refused(token.zones.create({ name: "x.example", account: { id: account } }), 403, 9109);
    await refused(token.zones.settings.get("ssl", { zone_id: own.id }), 403, 9109);
    assert.deepEqual(await foreign.all(), [kept]);
    assert.deepEqual(await own.all(), []);
  });

  test("with DNS Read reads and cannot write", async () => {
    const record = await own.create({ type: "A", name: "readable", content: "192.0.2.3" });
    const { client: token, value } = await tokenFor(own.id, DNS_READ);
    const zone_id = own.id;
    assert.deepEqual(await recordsOf(zone_id, token), [record]);
    assert.match(await token.dns.records.export({ zone_id }), /readable/);
    assert.equal((await token.dns.settings.zone.get({ zone_id })).ns_ttl, 86_400);
    const headers = { Authorization: `Bearer ${value}` };
    const writes: [method: string, path: string, body?: unknown][] = [
      ["POST", "/dns_records", there],
      ["PUT", `/dns_records/${record.id}`, there],
      ["PATCH", `/dns_records/${record.id}`, { ttl: 600 }],
      ["DELETE", `/dns_records/${record.id}`],
      ["POST", "/dns_records/batch", { posts: [there] }],
      ["POST", "/dns_records/import", { file: "" }],
      ["POST", "/dns_records/scan", {}],
      ["POST", "/dns_records/revert", { serial: 1 }],
      ["PATCH", "/dns_settings", { ns_ttl: 60 }],
    ];
    for (const [method, path, body] of writes) {
      const options = { headers, ...(body !== undefined && { body }) };
      const answer = await call(server, method, own.path + path, options);
      const entry = { code: 10_000, message: "Authentication error" };
      assert.deepEqual([answer.status, answer.errors], [403, [entry]], `${method} ${path}`);
    }
    assert.deepEqual(await own.all(), [record]);
  });
});
