/** The edges of the rules: what is just allowed, what is just not. Reference §3, §4 and §5. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { keyHeaders, startServer } from "../support/server.ts";
import { call } from "./api.ts";
import { byContent, type Fields, refused, settable, succeeded, TestZone } from "./dns-api.ts";
import type { ZoneRecord } from "./dns-api.ts";
import { typeCases } from "./dns-types.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

const IDENTICAL = "An identical record already exists.";

suite("a number", () => {
  /** Of a type's `data`: the least and the most, and what else must change for them to make sense. */
  const ranges: [type: string, field: string, least: number, most: number, beside?: Fields][] = [
    ["SRV", "priority", 0, 65_535],
    ["SRV", "weight", 0, 65_535],
    ["SRV", "port", 0, 65_535],
    ["CAA", "flags", 0, 255],
    ["CERT", "type", 0, 65_535],
    ["CERT", "key_tag", 0, 65_535],
    ["CERT", "algorithm", 0, 255],
    ["DNSKEY", "flags", 0, 65_535],
    ["DNSKEY", "algorithm", 0, 255],
    ["DS", "key_tag", 0, 65_535],
    ["DS", "algorithm", 0, 255],
    // Digests of kinds that nobody knows have any length.
    ["DS", "digest_type", 0, 255],
    ["HTTPS", "priority", 1, 65_535],
    ["SVCB", "priority", 1, 65_535],
    ["LOC", "lat_degrees", 0, 90, { lat_minutes: 0, lat_seconds: 0 }],
    ["LOC", "lat_minutes", 0, 59],
    ["LOC", "lat_seconds", 0, 59.999],
    ["LOC", "long_degrees", 0, 180, { long_minutes: 0, long_seconds: 0 }],
    ["LOC", "long_minutes", 0, 59],
    ["LOC", "long_seconds", 0, 59.999],
    ["LOC", "altitude", -100_000, 42_849_672.95],
    ["LOC", "size", 0, 90_000_000],
    ["LOC", "precision_horz", 0, 90_000_000],
    ["LOC", "precision_vert", 0, 90_000_000],
    ["NAPTR", "order", 0, 65_535],
    ["NAPTR", "preference", 0, 65_535],
    ["SSHFP", "algorithm", 0, 255],
    ["SSHFP", "type", 0, 255],
    ["TLSA", "usage", 0, 255],
    ["TLSA", "selector", 0, 255],
    ["TLSA", "matching_type", 0, 255],
    ["SMIMEA", "usage", 0, 255],
    ["SMIMEA", "selector", 0, 255],
    ["SMIMEA", "matching_type", 0, 255],
    ["URI", "weight", 0, 65_535],
  ];
  for (const [type, field, least, most, beside] of ranges) {
    test(`as ${field} of ${type} is from ${least} to ${most}`, async () => {
      const zone = await TestZone.make(server);
      const { name, sent } = typeCases.find((one) => one.type === type)!;
      if (type === "DS") await zone.create({ type: "NS", name, content: "ns.example.net" });
      const body = (value: unknown) => {
        const data = { ...(sent[0]!["data"] as Fields), ...beside, [field]: value };
        return { type, name, ...sent[0], data };
      };
      for (const value of [least, most]) {
        const record = await zone.create(body(value));
        assert.equal(record.data![field], value);
        assert.deepEqual(await zone.get(record.id), record);
        await zone.call("DELETE", `/${record.id}`);
      }
      for (const value of [least - 1, most + 1, "x", true, {}, 1e300]) {
        // HTTPS and SVCB with priority 0 are aliases, which have no parameters.
        const answer = await zone.call("POST", "", body(value));
        refused(answer, 400, 9020, undefined);
        assert.match(answer.errors[0]!.message, new RegExp(`${field}|${field.replace("_", " ")}`));
      }
    });
  }

  test("as priority beside the content is from 0 to 65535", async () => {
    const zone = await TestZone.make(server);
    const bodies: Fields[] = [
      { type: "MX", name: "m", content: "m.example.net" },
      { type: "URI", name: "_u._tcp", data: { weight: 1, target: "https://example.net/" } },
    ];
    for (const body of bodies) {
      for (const priority of [0, 65_535]) {
        assert.equal((await zone.create({ ...body, priority })).priority, priority);
      }
      for (const priority of [-1, 65_536]) {
        refused(await zone.call("POST", "", { ...body, priority }), 400, 9020, /priority/);
      }
    }
  });
});

suite("a name", () => {
  test("has 255 octets on the wire at most", async () => {
    const zone = await TestZone.make(server, "long.example");
    const label = (n: number) => "l".repeat(n);
    // 4 × 64, less what the zone, a shorter last label and the root take.
    const most = [label(63), label(63), label(63), label(255 - 1 - 3 * 64 - 14 + 1 - 1)].join(".");
    const record = await zone.create({ type: "A", name: most, content: "192.0.2.1" });
    assert.equal(record.name.length + 2, 255);
    refused(
      await zone.call("POST", "", { type: "TXT", name: `${most}l`, content: "x" }),
      400,
      9000,
    );
    assert.deepEqual(await zone.list(`name=${record.name}`), [record]);
  });

  test("of a reverse zone is made of digits", async () => {
    const cases: [zone: string, name: string][] = [
      ["2.0.192.in-addr.arpa", "1"],
      ["2.0.192.in-addr.arpa", "255.2.0.192.in-addr.arpa."],
      ["8.b.d.0.1.0.0.2.ip6.arpa", Array.from({ length: 24 }, (_, i) => i % 10).join(".")],
    ];
    const zones = new Map<string, TestZone>();
    for (const [at, name] of cases) {
      const zone = zones.get(at) ?? (await TestZone.make(server, at));
      zones.set(at, zone);
      const record = await zone.create({ type: "PTR", name, content: "Host.Example.Net." });
      assert.equal(record.content, "host.example.net");
      assert.ok(record.name.endsWith(at));
    }
  });
});

suite("the content", async () => {
  const zone = await TestZone.make(server, "edges.example");

  test("of CAA may have any tag that there is", async () => {
    for (const tag of ["issue", "issuewild", "iodef", "issuemail"]) {
      const value = tag === "iodef" ? "mailto:ca@example.net" : "ca.example.net";
      const record = await zone.create({
        type: "CAA",
        name: "caa",
        data: { flags: 0, tag, value },
      });
      assert.equal(record.content, `0 ${tag} "${value}"`);
    }
  });

  test("of CNAME, NS, PTR and MX is a host name, without its dot", async () => {
    for (const type of ["CNAME", "NS", "PTR", "MX"]) {
      const body = { type, name: `t-${type}`, ...(type === "MX" && { priority: 1 }) };
      for (const content of ["192.0.2.1", "a b", "a..b", "http://a.example/", "", "l".repeat(64)]) {
        refused(await zone.call("POST", "", { ...body, content }), 400, 9007);
      }
      const record = await zone.create({ ...body, content: "_x.Bücher.Example.NET." });
      assert.equal(record.content, "_x.xn--bcher-kva.example.net");
    }
  });

  test("is what makes a record another, with its priority and nothing else", async () => {
    const data = { priority: 1, weight: 1, port: 1, target: "t.example.net" };
    const twins: [one: Fields, same: Fields, other: Fields][] = [
      [
        { type: "SRV", data },
        { type: "SRV", data: { ...data, target: "T.example.net." }, ttl: 300 },
        { type: "SRV", data: { ...data, priority: 2 } },
      ],
      [
        { type: "CAA", data: { flags: 0, tag: "issue", value: "ca.example.net" } },
        { type: "CAA", data: { flags: "0", tag: "issue", value: "ca.example.net" }, tags: ["a"] },
        { type: "CAA", data: { flags: 128, tag: "issue", value: "ca.example.net" } },
      ],
      [
        { type: "HTTPS", data: { priority: 1, target: ".", value: 'alpn="h2"' } },
        { type: "HTTPS", data: { priority: 1, target: ".", value: "  alpn=h2 " } },
        { type: "HTTPS", data: { priority: 2, target: ".", value: 'alpn="h2"' } },
      ],
      [
        { type: "A", content: "192.0.2.1" },
        { type: "A", content: "192.0.2.1", proxied: true, comment: "another" },
        { type: "A", content: "192.0.2.2" },
      ],
      [
        { type: "TXT", content: `"${"x".repeat(300)}"` },
        { type: "TXT", content: "x".repeat(300) },
        { type: "TXT", content: "x".repeat(299) },
      ],
    ];
    for (const [i, [one, same, other]] of twins.entries()) {
      const name = `twin${i}`;
      const first = await zone.create({ ...one, name });
      refused(await zone.call("POST", "", { ...same, name }), 400, 81_058, IDENTICAL);
      const second = await zone.create({ ...other, name });
      refused(await zone.call("PATCH", `/${second.id}`, same), 400, 81_058, IDENTICAL);
      assert.equal((await zone.patch(first.id, same)).id, first.id);
    }
  });

  test("goes with the type, which can be changed in place", async () => {
    const record = await zone.create({ type: "A", name: "turn", content: "192.0.2.1", ttl: 300 });
    const turned = await zone.patch(record.id, { type: "AAAA", content: "2001:db8::1" });
    assert.deepEqual(
      [turned.id, turned.type, turned.content, turned.ttl],
      [record.id, "AAAA", "2001:db8::1", 300],
    );
    refused(await zone.call("PATCH", `/${record.id}`, { type: "A" }), 400, 9101);
    refused(await zone.call("PATCH", `/${record.id}`, { type: "MX", content: "m.net" }), 400, 9101);
    const put = await zone.put(record.id, { type: "TXT", name: "turn", content: "text" });
    assert.deepEqual([put.id, put.type, put.content], [record.id, "TXT", '"text"']);
    assert.equal((await zone.list(`name=turn.${zone.name}`)).length, 1);
  });

  test("of CNAMEs cannot lead around in a circle", async () => {
    const cname = (name: string, to: string, at = zone.name) => ({
      type: "CNAME",
      name,
      content: `${to}.${at}`,
    });
    await zone.create(cname("r1", "r2"));
    const second = await zone.create(cname("r2", "r3"));
    const answer = await zone.call("POST", "", cname("r3", "R1"));
    refused(answer, 400, 9007, /^A CNAME cannot lead back to itself: r3\..*r1\..*r2\..*r3\./);
    refused(await zone.call("PATCH", `/${second.id}`, { content: `r1.${zone.name}` }), 400, 9007);
    refused(await zone.call("PUT", `/${second.id}`, cname("r2", "r2")), 400, 9007);
    await zone.create(cname("r3", "r1", "example.net"));
    assert.deepEqual(await zone.get(second.id), second);
  });
});

suite("comments and tags", () => {
  test("are counted in characters, not in what they take", async () => {
    const zone = await TestZone.make(server);
    const post = (more: Fields) =>
      zone.call("POST", "", { type: "TXT", name: "t", content: "x", ...more });
    refused(await post({ comment: "🎉".repeat(501) }), 400, 9102);
    refused(await post({ tags: [`n:${"🎉".repeat(101)}`] }), 400, 9104);
    const most = { comment: "🎉".repeat(500), tags: [`n:${"🎉".repeat(100)}`] };
    const record = succeeded(await post(most)).result as ZoneRecord;
    assert.deepEqual([record.comment, record.tags], [most.comment, most.tags]);
  });

  test("are not taken from a zone file when the API would not take them", async () => {
    const zone = await TestZone.make(server);
    const answer = await zone.import(`a 60 IN A 192.0.2.1\nempty 60 IN TXT ""\n`);
    assert.equal(answer.status, 400);
    assert.match(JSON.stringify(answer), /line 2: The text is empty/);
    assert.deepEqual(await zone.all(), []);
  });

  test("come back from an export whatever they hold", async () => {
    const zone = await TestZone.make(server);
    const characters = "\t \u0001 \u001b \u007f \u0085 \u2028 \v \f \u202e \u{10ffff}".split(" ");
    const odd = characters.map((one) => `a${one}b`);
    odd.push("\u00a0 \u2003 spaces", "a\u0301", "; \\ \" ' (");
    for (const [i, comment] of odd.entries()) {
      const tags = [`n:${comment.trim()}`];
      await zone.create({ type: "TXT", name: "t", content: `${i}`, comment, tags });
    }
    const before = (await zone.all()).toSorted(byContent).map(settable);
    const file = await zone.export();
    for (const { id } of await zone.all()) await zone.call("DELETE", `/${id}`);
    succeeded(await zone.import(file));
    assert.deepEqual((await zone.all()).toSorted(byContent).map(settable), before);
  });

  test("may be null, which is none, or left as they are by an edit", async () => {
    const zone = await TestZone.make(server);
    const nothing = { comment: null, tags: null, settings: null, data: null, priority: null };
    const a = { type: "A", name: "n", content: "192.0.2.1" };
    const record = await zone.create({ ...a, ...nothing, ttl: null, proxied: null });
    assert.deepEqual([record.comment, record.tags, record.ttl], [null, [], 1]);
    const full = await zone.patch(record.id, { comment: "c", tags: ["t"] });
    assert.deepEqual((await zone.patch(record.id, { tags: null })).tags, full.tags);
    assert.equal((await zone.patch(record.id, { comment: null })).comment, null);
  });
});

suite("settings of a record", () => {
  test("are kept where they have no effect, and refused where they have no meaning", async () => {
    const zone = await TestZone.make(server);
    const flatten = { flatten_cname: true };
    const cname = { type: "CNAME", name: "c", content: "x.example.net", proxied: true };
    const proxied = await zone.create({ ...cname, settings: flatten });
    assert.deepEqual([proxied.proxied, proxied.settings], [true, flatten]);
    const only = { ipv6_only: true };
    const plain = await zone.create({ type: "AAAA", name: "a", content: "::1", settings: only });
    assert.deepEqual(plain.settings, only);
    const bad: Fields[] = [
      { type: "A", name: "x", content: "192.0.2.1", settings: flatten },
      { type: "TXT", name: "x", content: "x", settings: only },
    ];
    for (const body of bad) refused(await zone.call("POST", "", body), 400, 9105);
  });
});

suite("a zone", () => {
  interface Zone {
    readonly id: string;
    readonly type: string;
    readonly paused: boolean;
    readonly status: string;
    readonly activated_on: string | null;
    readonly vanity_name_servers?: string[];
    readonly modified_on: string;
  }
  const edit = async (zone: TestZone, body: Fields) =>
    succeeded(await call(server, "PATCH", zone.path, { body })).result as Zone;

  test("is paused, of another type, and has vanity name servers, one or several at a time", async () => {
    const zone = await TestZone.make(server);
    const names = [`ns1.${zone.name}`, `ns2.${zone.name}`];
    assert.deepEqual((await edit(zone, { vanity_name_servers: names })).vanity_name_servers, names);
    const all = await edit(zone, { paused: true, type: "partial" });
    assert.deepEqual([all.paused, all.type, all.vanity_name_servers], [true, "partial", names]);
    const none = await edit(zone, { vanity_name_servers: [], paused: false, type: "full" });
    assert.deepEqual([none.paused, none.type], [false, "full"]);
    assert.ok(!Object.hasOwn(none, "vanity_name_servers"));
    const { modified_on: _, ...rest } = none;
    assert.partialDeepStrictEqual(await edit(zone, {}), rest);
  });

  test("that is internal is listed only for those who ask", async () => {
    const body = { name: "inner.edges.example", type: "internal" };
    const { id } = succeeded(await call(server, "POST", "/zones", { body })).result as Zone;
    const listed = async (query: string) =>
      ((await call(server, "GET", `/zones?per_page=1000&${query}`)).result as Zone[]).some(
        (zone) => zone.id === id,
      );
    assert.ok(!(await listed("")));
    assert.ok(!(await listed("name=inner.edges.example")));
    assert.ok(await listed("type=internal"));
    assert.ok(await listed("type=full,internal"));
    assert.ok(!(await listed("type=full,partial,secondary")));
  });

  test("is active when that is checked, and stays so", async () => {
    const zone = await TestZone.make(server);
    const read = async () => (await call(server, "GET", zone.path)).result as Zone;
    const listed = async (status: string) => {
      const answer = await call(server, "GET", `/zones?name=${zone.name}&status=${status}`);
      return (succeeded(answer).result as Zone[]).length;
    };
    const { status, activated_on } = await read();
    assert.deepEqual([status, activated_on], ["pending", null]);
    assert.deepEqual([await listed("pending"), await listed("active")], [1, 0]);
    const check = () => call(server, "PUT", `${zone.path}/activation_check`);
    assert.deepEqual(succeeded(await check()).result, { id: zone.id });
    const active = await read();
    assert.equal(active.status, "active");
    assert.ok(Date.parse(active.activated_on!) <= Date.now());
    assert.deepEqual([await listed("pending"), await listed("active")], [0, 1]);
    succeeded(await check());
    assert.equal((await read()).activated_on, active.activated_on);
  });

  test("stands in the list where the order puts it", async () => {
    const made: TestZone[] = [];
    for (const name of ["c", "a", "b"])
      made.push(await TestZone.make(server, `${name}.order.example`));
    const [c, a, b] = made as [TestZone, TestZone, TestZone];
    const account = { name: "An owner whose name comes first" };
    const { result } = await call(server, "POST", "/accounts", { body: account });
    const body = { name: "d.order.example", account: { id: (result as Zone).id } };
    const d = succeeded(await call(server, "POST", "/zones", { body })).result as Zone;
    succeeded(await call(server, "PUT", `${b.path}/activation_check`));
    const listed = async (query: string) => {
      const path = `/zones?name=ends_with:.order.example&${query}`;
      return (succeeded(await call(server, "GET", path)).result as Zone[]).map(({ id }) => id);
    };
    const names = [a.id, b.id, c.id, d.id];
    assert.deepEqual(await listed(""), names);
    assert.deepEqual(await listed("order=name&direction=DESC"), names.toReversed());
    assert.deepEqual(await listed("order=status"), [b.id, a.id, c.id, d.id]);
    assert.deepEqual(await listed("order=account.name"), [d.id, a.id, b.id, c.id]);
    assert.deepEqual(new Set(await listed("order=account.id")), new Set(names));
    assert.deepEqual(await listed("order=plan.id"), names);
    assert.deepEqual(await listed("order=name&per_page=3&page=2"), [d.id]);
    refused(await call(server, "GET", "/zones?order=serial"), 400, 1001);
  });

  test("has the name servers that the operator set", async () => {
    const env = { SELVEDGE_NAMESERVERS: "ns1.op.example,ns2.op.example,ns3.op.example" };
    await using own = await startServer({ env });
    const zone = await TestZone.make(own, "set.example");
    const { name_servers } = (await call(own, "GET", zone.path)).result as {
      name_servers: string[];
    };
    assert.deepEqual(name_servers, env.SELVEDGE_NAMESERVERS.split(","));
    refused(
      await zone.call("POST", "", { type: "NS", name: "@", content: "ns3.op.example" }),
      400,
      81_057,
    );
    assert.match(await zone.export(), /\tIN\tSOA\tns1\.op\.example\. /);
  });

  test("has SOA and name servers of its own, which are not among its records", async () => {
    const zone = await TestZone.make(server);
    assert.deepEqual(await zone.all(), []);
    const file = await zone.export();
    assert.match(
      file,
      new RegExp(`^${zone.name}\\.?\\t3600\\tIN\\tSOA\\tns1\\.selvedge\\.test\\. `, "m"),
    );
    assert.equal(file.match(/\tIN\tNS\t/g)!.length, 2);
    const own = "ns1.selvedge.test";
    refused(await zone.call("POST", "", { type: "NS", name: "@", content: own }), 400, 81_057);
    refused(await zone.call("POST", "", { type: "SOA", name: "@", content: own }), 400, 9001);
    const other = await zone.create({ type: "NS", name: "@", content: "ns.example.net" });
    assert.deepEqual(await zone.all(), [other]);
    const lines = `@ 60 IN SOA a. b. 1 2 3 4 5\n@ 60 IN NS ${own}.\n@ 60 IN NS ns.example.net.\n`;
    const imported = succeeded(await zone.import(lines)).result;
    assert.deepEqual(imported, { recs_added: 0, total_records_parsed: 1 });
  });
});

suite("an import", () => {
  test("raises and lowers TTLs that no record may have", async () => {
    const zone = await TestZone.make(server);
    const file = "$TTL 30\na A 192.0.2.1\nb 0 A 192.0.2.1\nc 604800 A 192.0.2.1\nd 1 A 192.0.2.1\n";
    succeeded(await zone.import(file));
    const ttls = (await zone.list("order=name")).map(({ ttl }) => ttl);
    assert.deepEqual(ttls, [60, 60, 86_400, 1]);
    refused(
      await zone.call("POST", "", { type: "A", name: "e", content: "192.0.2.1", ttl: 30 }),
      400,
      9021,
    );
  });

  test("asks each record whether it is proxied before it asks the form", async () => {
    const zone = await TestZone.make(server);
    const file = [
      "a 300 IN A 192.0.2.1",
      "b 300 IN A 192.0.2.1 ; cf_tags=cf-proxied:false",
      "c 300 IN A 192.0.2.1 ; cf_tags=cf-proxied:true",
      'd 300 IN TXT "x" ; cf_tags=cf-proxied:true',
    ].join("\n");
    const imported = async (proxied: string) => {
      for (const { id } of await zone.all()) await zone.call("DELETE", `/${id}`);
      succeeded(await zone.import(file, { proxied }));
      return (await zone.list("order=name")).map((record) => record.proxied);
    };
    assert.deepEqual(await imported("true"), [true, false, true, false]);
    assert.deepEqual(await imported("false"), [false, false, true, false]);
  });

  test("takes the file as a plain field, and the form as cloudflare-go v0 writes it", async () => {
    const zone = await TestZone.make(server);
    const path = `${server.base}${zone.path}/dns_records/import`;
    const plain = new FormData();
    plain.set("file", "; only a comment\n\nplain 300 IN A 192.0.2.1 ; kept\n");
    const first = await fetch(path, { method: "POST", headers: keyHeaders, body: plain });
    assert.equal(first.status, 200, await first.text());
    const boundary = `${"-".repeat(24)}BOUNDARY`;
    const part = (name: string, value: string) =>
      [`--${boundary}`, `Content-Disposition: form-data; name="${name}"`, "", value].join("\r\n");
    const lines = "www 300 IN A 192.0.2.2\nalias 1 IN CNAME www\n";
    const body = [part("file", lines), part("proxied", "true"), `--${boundary}--`].join("\r\n");
    const type = `multipart/form-data; boundary=${boundary}`;
    const headers = { ...keyHeaders, "Content-Type": type };
    const second = await fetch(path, { method: "POST", headers, body });
    assert.equal(second.status, 200, await second.text());
    assert.deepEqual(
      (await zone.list("order=name")).map(({ type, proxied, comment }) => [type, proxied, comment]),
      [
        ["CNAME", true, null],
        ["A", false, "kept"],
        ["A", true, null],
      ],
    );
  });
});
