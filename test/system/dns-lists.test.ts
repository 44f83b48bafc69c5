/** Lists of records and zones, what zones may be called, and what is not there: reference §2.1 and §5. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { startServer } from "../support/server.ts";
import { call } from "./api.ts";
import { refused, succeeded, TestZone, type ZoneRecord } from "./dns-api.ts";
import { firstIds } from "./policies.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());
const { account } = await firstIds(server);
const MISSING = "f".repeat(32);

suite("a list of records", async () => {
  const zone = await TestZone.make(server, "list.example");
  const made: Record<string, ZoneRecord> = {
    apex: await zone.create({ type: "A", name: "@", content: "192.0.2.1", ttl: 300 }),
    www: await zone.create({
      type: "A",
      name: "www",
      content: "192.0.2.2",
      proxied: true,
      comment: "Front Door",
      tags: ["env:prod", "Team:Web"],
    }),
    alias: await zone.create({
      type: "CNAME",
      name: "alias",
      content: "www.list.example",
      ttl: 600,
      comment: "an alias",
      tags: ["env:staging", "lone"],
    }),
    mail: await zone.create({ type: "MX", name: "@", content: "mail.other.net", priority: 5 }),
    text: await zone.create({ type: "TXT", name: "_text.www", content: "Some  Quoted text" }),
    caa: await zone.create({
      type: "CAA",
      name: "@",
      data: { flags: 0, tag: "issue", value: "letsencrypt.org" },
    }),
    idn: await zone.create({ type: "AAAA", name: "bücher", content: "2001:db8::1" }),
  };
  const label = new Map(Object.entries(made).map(([name, { id }]) => [id, name]));
  const found = async (query: string) =>
    (await zone.list(query)).map(({ id }) => label.get(id)!).toSorted();

  const filters: [query: string, labels: string[]][] = [
    ["", ["alias", "apex", "caa", "idn", "mail", "text", "www"]],
    ["type=A", ["apex", "www"]],
    ["type=a", ["apex", "www"]],
    ["type=NAPTR", []],
    ["name=www.list.example", ["www"]],
    ["name=WWW.List.Example.", ["www"]],
    ["name=@", ["apex", "caa", "mail"]],
    ["name=list.example", ["apex", "caa", "mail"]],
    ["name=b%C3%BCcher.list.example", ["idn"]],
    ["name=B%C3%9CCHER.list.example.", ["idn"]],
    ["name=www", []],
    ["name=b%C3%BCcher", []],
    ["name=%EF%BF%BD.list.example", []],
    ["name=a..list.example", []],
    ["name=", []],
    ["name.exact=%EF%BF%BD", []],
    ["name.exact=www.list.example", ["www"]],
    ["name.exact=xn--bcher-kva.list.example", ["idn"]],
    ["name.contains=WWW", ["text", "www"]],
    ["name.contains=B%C3%BCcher", ["idn"]],
    ["name.startswith=b%C3%BCcher.", ["idn"]],
    ["name.contains=%EF%BF%BD", []],
    ["name.startswith=www.", ["www"]],
    ["name.endswith=www.list.example", ["text", "www"]],
    ["content=192.0.2.1", ["apex"]],
    ["content.exact=192.0.2.1", ["apex"]],
    ["content.contains=192.0.2", ["apex", "www"]],
    ["content.startswith=192", ["apex", "www"]],
    ["content.endswith=.NET", ["mail"]],
    ["content=some+quoted+TEXT", ["text"]],
    ["content=%22Some++Quoted+text%22", ["text"]],
    ["content.contains=quoted", ["text"]],
    ["content.startswith=Some", ["text"]],
    ["content.startswith=%22Some", ["text"]],
    ["content.endswith=text", ["text"]],
    ["content.endswith=text%22", ["text"]],
    ["content.exact=0+issue+%22letsencrypt.org%22", ["caa"]],
    ["content.contains=letsencrypt", ["caa"]],
    ["comment=front+door", ["www"]],
    ["comment.exact=FRONT+DOOR", ["www"]],
    ["comment.contains=a", ["alias"]],
    ["comment.startswith=front", ["www"]],
    ["comment.endswith=alias", ["alias"]],
    ["comment.present", ["alias", "www"]],
    ["comment.present=false", ["alias", "www"]],
    ["comment.absent=", ["apex", "caa", "idn", "mail", "text"]],
    ["tag=env", ["alias", "www"]],
    ["tag=env:prod", ["www"]],
    ["tag=ENV:PROD", ["www"]],
    ["tag=env:prod&tag=team", ["www"]],
    ["tag=env:prod&tag=lone", []],
    ["tag=env:prod&tag=lone&tag_match=any", ["alias", "www"]],
    ["tag=env:prod&tag=lone&tag-match=any", ["alias", "www"]],
    ["tag.present=lone", ["alias"]],
    ["tag.absent=lone", ["apex", "caa", "idn", "mail", "text", "www"]],
    ["tag.exact=team:web", ["www"]],
    ["tag.contains=env:AG", ["alias"]],
    ["tag.startswith=env:p", ["www"]],
    ["tag.endswith=env:ing", ["alias"]],
    ["proxied=true", ["www"]],
    ["proxied=false", ["alias", "apex", "caa", "idn", "mail", "text"]],
    ["type=A&name=www.list.example", ["www"]],
    ["type=MX&name=www.list.example", []],
    ["type=MX&name=www.list.example&match=any", ["mail", "www"]],
    ["type=MX&name=www.list.example&match=all", []],
    ["match=any&tag=lone&type=MX", ["alias", "mail"]],
    ["match=any&comment.present=&proxied=true", ["alias", "www"]],
    ["search=front", ["www"]],
    ["search=www.list", ["alias", "text", "www"]],
    ["search=staging", ["alias"]],
    ["search=quoted+text", ["text"]],
    ["search=", ["alias", "apex", "caa", "idn", "mail", "text", "www"]],
    ["match=any&type=A&search=front", ["www"]],
    ["no_such_filter=1", ["alias", "apex", "caa", "idn", "mail", "text", "www"]],
    ["include_shadow_metadata=true&type=MX", ["mail"]],
  ];
  for (const [query, labels] of filters) {
    test(`with ${query || "no filter"} holds ${labels.join(", ") || "nothing"}`, async () => {
      assert.deepEqual(await found(query), labels);
    });
  }

  test("is in the order that is asked for", async () => {
    const all = await zone.all();
    const keys: Record<string, (record: ZoneRecord) => string | number> = {
      type: (record) => record.type,
      name: (record) => record.name,
      content: (record) => record.content,
      ttl: (record) => record.ttl,
      proxied: (record) => Number(record.proxied),
    };
    for (const [order, key] of Object.entries(keys)) {
      const expected = all.map(key).toSorted((x, y) => (x < y ? -1 : x > y ? 1 : 0));
      const up = await zone.list(`order=${order}`);
      assert.deepEqual(up.map(key), expected, order);
      for (const direction of ["desc", "DESC"]) {
        const down = await zone.list(`order=${order}&direction=${direction}`);
        assert.deepEqual(down.map(key), expected.toReversed(), `${order} ${direction}`);
      }
    }
    assert.deepEqual(await zone.list(), await zone.list("order=type&direction=asc"));
  });

  test("is paged, and empty past its end", async () => {
    const whole = await zone.all();
    const cases: [query: string, from: number, to: number, info: number[]][] = [
      ["", 0, 7, [1, 100, 7, 7, 1]],
      ["per_page=3", 0, 3, [1, 3, 3, 7, 3]],
      ["per_page=3&page=2", 3, 6, [2, 3, 3, 7, 3]],
      ["per_page=3&page=3", 6, 7, [3, 3, 1, 7, 3]],
      ["per_page=3&page=4", 7, 7, [4, 3, 0, 7, 3]],
      ["page=99", 7, 7, [99, 100, 0, 7, 1]],
      ["per_page=5000000", 0, 7, [1, 5_000_000, 7, 7, 1]],
      ["per_page=1&page=7", 6, 7, [7, 1, 1, 7, 7]],
    ];
    for (const [query, from, to, info] of cases) {
      const answer = succeeded(await zone.call("GET", `?${query}`));
      assert.deepEqual(answer.result, whole.slice(from, to), query);
      assert.deepEqual(Object.values(answer.result_info!), info, query);
      const keys = ["page", "per_page", "count", "total_count", "total_pages"];
      assert.deepEqual(Object.keys(answer.result_info!), keys);
    }
    const none = succeeded(await zone.call("GET", "?type=NAPTR"));
    assert.deepEqual(Object.values(none.result_info!), [1, 100, 0, 0, 0]);
    for (const query of ["page=0", "per_page=0", "page=x", "per_page=-1", "per_page=5000001"]) {
      refused(await zone.call("GET", `?${query}`), 400, 1001);
    }
    for (const query of ["order=id", "direction=up", "match=some", "proxied=maybe"]) {
      refused(await zone.call("GET", `?${query}`), 400, 1001);
    }
  });
});

suite("a list of records with what delegations do to them", async () => {
  const zone = await TestZone.make(server, "shadow.example");
  const make = (type: string, name: string, content: string) =>
    zone.create({ type, name, content });
  const META = {
    auto_added: false,
    managed_by_apps: false,
    managed_by_argo_tunnel: false,
    source: "primary",
  };
  const apex = await make("NS", "@", "ns.example.net");
  const www = await make("A", "www", "192.0.2.1");
  const text = await make("TXT", "_x.www.sub", "text");
  const ns1 = await make("NS", "sub", "ns1.sub.shadow.example");
  const ns2 = await make("NS", "sub", "ns2.example.net");
  const digest = { key_tag: 1, algorithm: 13, digest_type: 2, digest: "00".repeat(32) };
  const ds = await zone.create({ type: "DS", name: "sub", data: digest });
  const glue = await make("A", "ns1.sub", "192.0.2.2");
  const deep = await make("NS", "a.sub", "ns1.a.sub.shadow.example");
  const dead = await make("AAAA", "ns1.a.sub", "2001:db8::1");
  const by = [ns1.id, ns2.id].toSorted();
  const shadows = new Map<string, object>([
    [apex.id, {}],
    [www.id, {}],
    [text.id, { shadowed_by: by }],
    [ns1.id, { shadowed_records_count: 4 }],
    [ns2.id, { shadowed_records_count: 4 }],
    [ds.id, {}],
    [glue.id, { shadowed_by: by, is_glue: true }],
    [deep.id, { shadowed_by: by }],
    [dead.id, { shadowed_by: [...by, deep.id], is_glue: true, dead_glue: true }],
  ]);
  const FLAG = "include_shadow_metadata=true";
  /** What `meta` has beyond what it always has; ids of one delegation come in any order. */
  const metaOf = ({ meta }: ZoneRecord) => {
    const by = meta["shadowed_by"] as string[] | undefined;
    if (by === undefined) return meta;
    return { ...meta, shadowed_by: [...by.slice(0, 2).toSorted(), ...by.slice(2)] };
  };

  test("tells nothing unless it is asked", async () => {
    for (const query of ["", "include_shadow_metadata=false"]) {
      for (const record of await zone.list(query)) assert.deepEqual(record.meta, META);
    }
    refused(await zone.call("GET", "?include_shadow_metadata=perhaps"), 400, 1001);
  });

  test("tells of each record who hides it, what it hides, and whether it is glue", async () => {
    for (const query of [FLAG, `${FLAG}&order=content`, `${FLAG}&per_page=3`]) {
      const listed = await zone.list(query);
      assert.equal(listed.length, query.includes("per_page") ? 3 : 9);
      for (const record of listed) {
        assert.deepEqual(metaOf(record), { ...META, ...shadows.get(record.id) }, record.name);
      }
    }
  });

  test("tells the same of one record, and of one that is written", async () => {
    const one = succeeded(await zone.call("GET", `/${glue.id}?${FLAG}`)).result as ZoneRecord;
    assert.deepEqual(metaOf(one), { ...META, ...shadows.get(glue.id) });
    const fields = { type: "A", name: "new.sub", content: "192.0.2.3" };
    const made = succeeded(await zone.call("POST", `?${FLAG}`, fields)).result as ZoneRecord;
    const hidden = { ...META, shadowed_by: by };
    assert.deepEqual(metaOf(made), hidden);
    const at = `/${made.id}?${FLAG}`;
    const put = succeeded(await zone.call("PUT", at, { ...fields, name: "free" }));
    assert.deepEqual((put.result as ZoneRecord).meta, META);
    const patched = succeeded(await zone.call("PATCH", at, { name: "new.sub" }));
    assert.deepEqual(metaOf(patched.result as ZoneRecord), hidden);
    const batch = {
      deletes: [{ id: made.id }],
      patches: [{ id: text.id, ttl: 300 }],
      puts: [{ id: www.id, type: "A", name: "www", content: "192.0.2.1" }],
      posts: [{ ...fields, name: "other.sub" }],
    };
    const answer = succeeded(await zone.call("POST", `/batch?${FLAG}`, batch));
    const { deletes, patches, puts, posts } = answer.result as Record<string, ZoneRecord[]>;
    assert.deepEqual(deletes![0]!.meta, META);
    assert.deepEqual(metaOf(patches![0]!), hidden);
    assert.deepEqual(puts![0]!.meta, META);
    assert.deepEqual(metaOf(posts![0]!), hidden);
    succeeded(await zone.call("DELETE", `/${posts![0]!.id}`));
  });

  const idsOf = async (query: string) => (await zone.list(query)).map(({ id }) => id).toSorted();
  const ids = (...records: ZoneRecord[]) => records.map(({ id }) => id).toSorted();

  test("has the delegations above a name with shadowing_name", async () => {
    const cases: [query: string, ids: string[]][] = [
      ["shadowing_name=x.sub.shadow.example", ids(ns1, ns2)],
      ["shadowing_name=sub.shadow.example", ids(ns1, ns2)],
      ["shadowing_name=Y.X.A.Sub.Shadow.Example.", ids(ns1, ns2, deep)],
      ["shadowing_name=www.shadow.example", []],
      ["shadowing_name=x.sub.shadow.example&content.contains=ns2", ids(ns2)],
      ["shadowing_name=x.sub.shadow.example&type=A&match=any", []],
    ];
    for (const [query, expected] of cases) assert.deepEqual(await idsOf(query), expected, query);
  });

  test("has what stands below a delegation with shadowed_by_name", async () => {
    const cases: [query: string, ids: string[]][] = [
      ["shadowed_by_name=sub.shadow.example", ids(text, glue, deep, dead)],
      ["shadowed_by_name=a.sub.shadow.example", ids(dead)],
      ["shadowed_by_name=www.shadow.example", ids(www)],
      ["shadowed_by_name=sub.shadow.example&type=NS", ids(deep)],
      ["shadowed_by_name=sub.shadow.example&shadowing_name=x.a.sub.shadow.example", ids(deep)],
      ["shadowed_by_name=none.shadow.example", []],
    ];
    for (const [query, expected] of cases) {
      assert.deepEqual(await idsOf(`${query}&${FLAG}`), expected, query);
    }
    const { result_info } = await zone.call("GET", `?${FLAG}&${cases[0]![0]}&per_page=3`);
    assert.deepEqual(Object.values(result_info!), [1, 3, 3, 4, 2]);
  });

  test("refuses names of which neither can be, and shadowed_by_name alone", async () => {
    const alone = await zone.call("GET", "?shadowed_by_name=sub.shadow.example");
    refused(alone, 400, 1001, "shadowed_by_name needs include_shadow_metadata=true");
    for (const field of ["shadowing_name", "shadowed_by_name"]) {
      const names = ["shadow.example", "Shadow.example.", "@", "sub", "other.example", "", "a..b"];
      for (const name of [...names, "a..shadow.example", "%EF%BF%BD.shadow.example"]) {
        const answer = await zone.call("GET", `?${FLAG}&${field}=${name}`);
        refused(answer, 400, 1001, `${field} must be a name below shadow.example, in full`);
        assert.equal(answer.errors[0]!.source!.pointer, `/${field}`);
      }
    }
  });
});

suite("a zone's name", () => {
  const good: [given: string, kept: string][] = [
    ["corp.internal", "corp.internal"],
    ["lan", "lan"],
    ["home.arpa", "home.arpa"],
    ["2.0.192.in-addr.arpa", "2.0.192.in-addr.arpa"],
    ["0/25.2.0.192.in-addr.arpa", "0/25.2.0.192.in-addr.arpa"],
    ["8.b.d.0.1.0.0.2.ip6.arpa", "8.b.d.0.1.0.0.2.ip6.arpa"],
    ["UPPER.Odd.Example.", "upper.odd.example"],
    ["bücher.odd.example", "xn--bcher-kva.odd.example"],
    ["_sub.odd.example", "_sub.odd.example"],
    ["a.b.c.d.e.f.odd.example", "a.b.c.d.e.f.odd.example"],
  ];
  for (const [given, kept] of good) {
    test(`may be ${given}`, async () => {
      const zone = await TestZone.make(server, given);
      assert.equal(zone.name, kept);
      const record = await zone.create({ type: "TXT", name: "t", content: "x" });
      assert.equal(record.name, `t.${kept}`);
      const apex = await zone.create({ type: "TXT", name: given, content: "x" });
      assert.equal(apex.name, kept);
    });
  }

  test("is found in any script and spelling", async () => {
    const { id } = await TestZone.make(server, "grüße.find.example");
    const found = async (name: string) => {
      const answer = await call(server, "GET", `/zones?name=${encodeURIComponent(name)}`);
      return (succeeded(answer).result as { id: string }[]).some((zone) => zone.id === id);
    };
    const is = ["grüße.find.example", "GRÜßE.Find.Example", "grüße.find.example."];
    is.push("xn--gre-6ka8l.find.example", "equal:grüße.find.example", "not_equal:\ufffd");
    is.push("starts_with:grüße.", "contains:GRÜßE");
    for (const name of is) assert.ok(await found(name), name);
    const isNot = ["grusse.find.example", "not_equal:grüße.find.example", "contains:\ufffd"];
    isNot.push("\ufffd.find.example", "ü", "ends_with:e.find.example");
    for (const name of isNot) assert.ok(!(await found(name)), name);
  });

  const bad: [name: unknown, code: number][] = [
    ["", 1001],
    [5, 1001],
    [null, 1001],
    [undefined, 1001],
    ["x".repeat(254), 1001],
    [".", 1049],
    ["a..b", 1049],
    ["-x.example", 1049],
    ["x-.example", 1049],
    ["two words.example", 1049],
    ["*.example", 1049],
    ["a@b.example", 1049],
    [`${"l".repeat(64)}.example`, 1049],
    ["http://x.example/", 1049],
  ];
  for (const [name, code] of bad) {
    test(`cannot be ${JSON.stringify({ name }).slice(0, 50)}`, async () => {
      refused(await call(server, "POST", "/zones", { body: { name } }), 400, code);
    });
  }

  test("is taken once, in whatever spelling and account", async () => {
    await TestZone.make(server, "taken.example");
    const other = await call(server, "POST", "/accounts", { body: { name: "Rival" } });
    const rival = { id: (other.result as { id: string }).id };
    for (const body of [
      { name: "taken.example" },
      { name: "Taken.EXAMPLE." },
      { name: "taken.example", account: rival },
    ]) {
      const answer = await call(server, "POST", "/zones", { body });
      refused(answer, 400, 1061, "taken.example already exists");
    }
  });

  test("may be below another zone's, and each keeps its own records", async () => {
    const parent = await TestZone.make(server, "parent.example");
    const child = await TestZone.make(server, "child.parent.example");
    await parent.create({ type: "A", name: "child", content: "192.0.2.1" });
    await child.create({ type: "A", name: "@", content: "192.0.2.2" });
    assert.deepEqual(
      (await parent.all()).map(({ name, content }) => [name, content]),
      [["child.parent.example", "192.0.2.1"]],
    );
    assert.deepEqual(
      (await child.all()).map(({ name, content }) => [name, content]),
      [["child.parent.example", "192.0.2.2"]],
    );
  });

  test("is free again when the zone is deleted, and its records are gone", async () => {
    const first = await TestZone.make(server, "again.example");
    const record = await first.create({ type: "A", name: "a", content: "192.0.2.1" });
    succeeded(await call(server, "DELETE", first.path));
    const second = await TestZone.make(server, "again.example");
    assert.notEqual(second.id, first.id);
    assert.deepEqual(await second.all(), []);
    assert.deepEqual((await second.history()).result, []);
    refused(await second.call("GET", `/${record.id}`), 404, 81_044);
    refused(await first.call("GET"), 404, 7003);
  });

  test("comes with the account as account, as organization, or with neither", async () => {
    const bodies = [
      { name: "one.who.example", account: { id: account } },
      { name: "two.who.example", organization: { id: account }, jump_start: false, type: "full" },
      { name: "three.who.example", jump_start: true },
    ];
    for (const body of bodies) {
      const { result } = succeeded(await call(server, "POST", "/zones", { body }));
      const zone = result as { account: { id: string }; status: string };
      assert.deepEqual([zone.account.id, zone.status], [account, "pending"]);
    }
    const unknown = { name: "four.who.example", account: { id: MISSING } };
    const answer = await call(server, "POST", "/zones", { body: unknown });
    assert.ok([403, 404].includes(answer.status), answer.text);
  });
});

suite("what is not there", async () => {
  const zone = await TestZone.make(server, "missing.example");
  const other = await TestZone.make(server, "elsewhere.example");
  const foreign = await other.create({ type: "A", name: "a", content: "192.0.2.1" });
  const good = { type: "A", name: "a", content: "192.0.2.2" };

  test("is a record: 404 and 81044, also when another zone has it", async () => {
    for (const id of [MISSING, foreign.id]) {
      for (const [method, body] of [
        ["GET", undefined],
        ["PUT", good],
        ["PATCH", { ttl: 60 }],
        ["DELETE", undefined],
      ] as const) {
        const answer = await zone.call(method, `/${id}`, body);
        refused(answer, 404, 81_044, "Record does not exist.");
      }
    }
    assert.deepEqual(await other.all(), [foreign]);
  });

  test("is a zone: 404 and 7003", async () => {
    const calls: [method: string, path: string, body?: unknown][] = [
      ["GET", ""],
      ["PATCH", "", { paused: true }],
      ["DELETE", ""],
      ["PUT", "/activation_check"],
      ["GET", "/dns_records"],
      ["POST", "/dns_records", good],
      ["POST", "/dns_records/batch", {}],
      ["GET", "/dns_records/export"],
      ["GET", `/dns_records/${foreign.id}`],
      ["GET", "/settings"],
      ["GET", "/settings/ssl"],
      ["GET", "/dns_settings"],
    ];
    for (const [method, path, body] of calls) {
      const options = body === undefined ? {} : { body };
      refused(await call(server, method, `/zones/${MISSING}${path}`, options), 404, 7003);
    }
  });

  test("is an id that cannot be one: 404, 7003, and the path in the text", async () => {
    const text = (path: string) =>
      `Could not route to /client/v4${path}, perhaps your object identifier is invalid?`;
    const paths = [
      "/zones/nonsense",
      "/zones/nonsense/dns_records",
      `${zone.path}/dns_records/xyz`,
    ];
    for (const path of [...paths, `${zone.path}/dns_records/${MISSING.toUpperCase()}`]) {
      refused(await call(server, "GET", path), 404, 7003, text(path));
    }
  });

  test("is a route or a method: 7000 and 7001", async () => {
    const nothing = await call(server, "GET", `${zone.path}/no_such_thing`);
    refused(nothing, 404, 7000, "No route for that URI");
    const method = await zone.call("DELETE");
    refused(method, 405, 7001, "Method DELETE not available for that URI.");
  });

  test("is a setting: it is named", async () => {
    const answer = await call(server, "GET", `${zone.path}/settings/no_such`);
    refused(answer, 400, 1006, /no_such/);
    const body = {
      items: [
        { id: "ssl", value: "off" },
        { id: "no_such", value: 1 },
      ],
    };
    refused(await call(server, "PATCH", `${zone.path}/settings`, { body }), 400, 1006, /no_such/);
    const ssl = await call(server, "GET", `${zone.path}/settings/ssl`);
    assert.equal((ssl.result as { value: string }).value, "full", "all or none");
  });
});
