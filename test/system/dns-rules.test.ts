/** The rules of zones and records, one by one: reference §3, §4 and §5, and DESIGN §7 where we differ. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { startServer } from "../support/server.ts";
import { call } from "./api.ts";
import { type Fields, refused, succeeded, TestZone, type ZoneRecord } from "./dns-api.ts";
import { typeCases } from "./dns-types.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

const MISSING = "f".repeat(32);
const IDENTICAL = "An identical record already exists.";
const HOST_EXISTS = "An A, AAAA, or CNAME record with that host already exists.";
const a = (name: string, content = "192.0.2.1", more: Fields = {}): Fields => ({
  type: "A",
  name,
  content,
  ...more,
});
const txt = (name: string, content: string, more: Fields = {}): Fields => ({
  type: "TXT",
  name,
  content,
  ...more,
});

suite("the answer with a record", () => {
  const FIELDS = [
    "id",
    "zone_id",
    "zone_name",
    "name",
    "type",
    "content",
    "proxiable",
    "proxied",
    "ttl",
    "locked",
    "meta",
    "comment",
    "tags",
    "created_on",
    "modified_on",
    "settings",
  ];
  const WITH_PRIORITY = new Set(["MX", "SRV", "URI"]);
  const CONTENT_ONLY = "A AAAA CNAME MX NS PTR TXT OPENPGPKEY".split(" ");

  test("has for every type exactly the fields it should have", async () => {
    const zone = await TestZone.make(server);
    for (const { type, name, sent } of typeCases) {
      const record = await zone.create({ type, name, ...sent[0] });
      const expected = [
        ...FIELDS,
        ...(WITH_PRIORITY.has(type) ? ["priority"] : []),
        ...(CONTENT_ONLY.includes(type) ? [] : ["data"]),
      ];
      assert.deepEqual(Object.keys(record).toSorted(), expected.toSorted(), type);
      assert.equal(Object.keys(record)[0], "id");
      assert.equal(record.proxiable, ["A", "AAAA", "CNAME"].includes(type), type);
    }
  });

  test("has these values where nothing was asked for", async () => {
    const zone = await TestZone.make(server);
    const began = Date.now();
    const { id, created_on, modified_on, ...rest } = await zone.create(a("www"));
    assert.match(id, /^[0-9a-f]{32}$/);
    assert.deepEqual(rest, {
      zone_id: zone.id,
      zone_name: zone.name,
      name: `www.${zone.name}`,
      type: "A",
      content: "192.0.2.1",
      proxiable: true,
      proxied: false,
      ttl: 1,
      settings: {},
      locked: false,
      meta: {
        auto_added: false,
        managed_by_apps: false,
        managed_by_argo_tunnel: false,
        source: "primary",
      },
      comment: null,
      tags: [],
    });
    assert.equal(created_on, modified_on);
    assert.ok(Date.parse(created_on) >= began && Date.parse(created_on) <= Date.now());
  });

  test("has times with fractions of seconds, always", async () => {
    const zone = await TestZone.make(server);
    const posts = Array.from({ length: 10 }, (_, i) => txt("t", `${i}`));
    for (const post of posts) {
      const record = await zone.create({ ...post, comment: "c", tags: ["t"] });
      const { created_on, modified_on, comment_modified_on, tags_modified_on } = record;
      for (const time of [created_on, modified_on, comment_modified_on, tags_modified_on]) {
        assert.match(time!, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{1,6}Z$/);
      }
    }
  });

  test("tells when the comment and the tags changed, only while there are any", async () => {
    const zone = await TestZone.make(server);
    const record = await zone.create(a("www", "192.0.2.1", { comment: "first", tags: ["x:1"] }));
    assert.deepEqual(
      [record.comment_modified_on, record.tags_modified_on],
      [record.created_on, record.created_on],
    );
    const touched = await zone.patch(record.id, { ttl: 600 });
    assert.equal(touched.comment_modified_on, record.comment_modified_on);
    assert.equal(touched.tags_modified_on, record.tags_modified_on);
    const renamed = await zone.patch(record.id, { comment: "second" });
    assert.equal(renamed.comment_modified_on, renamed.modified_on);
    assert.equal(renamed.tags_modified_on, record.tags_modified_on);
    const bare = await zone.patch(record.id, { comment: "", tags: [] });
    assert.ok(!Object.hasOwn(bare, "comment_modified_on"));
    assert.ok(!Object.hasOwn(bare, "tags_modified_on"));
  });

  // Differs from Cloudflare: the origins of a self-hosted edge are private addresses as a rule.
  test("says that a private address can be proxied", async () => {
    const zone = await TestZone.make(server);
    const record = await zone.create(a("private", "192.168.1.161"));
    assert.equal(record.proxiable, true);
    const proxied = await zone.create(a("proxied", "10.0.0.1", { proxied: true }));
    assert.equal(proxied.proxied, true);
  });
});

suite("a name", async () => {
  const zone = await TestZone.make(server, "names.example");
  const long = "l".repeat(63);
  const kept: [type: string, given: string, name: string][] = [
    ["A", "@", "names.example"],
    ["A", "names.example", "names.example"],
    ["A", "names.example.", "names.example"],
    ["A", "NAMES.Example", "names.example"],
    ["A", "www", "www.names.example"],
    ["A", "www.names.example", "www.names.example"],
    ["A", "www.names.example.", "www.names.example"],
    ["A", "WwW.Names.eXample", "www.names.example"],
    ["A", "deep.er.still", "deep.er.still.names.example"],
    ["A", "*", "*.names.example"],
    ["A", "*.sub", "*.sub.names.example"],
    ["A", "bücher", "xn--bcher-kva.names.example"],
    ["A", "BÜCHER.names.example.", "xn--bcher-kva.names.example"],
    ["A", "www.other.org", "www.other.org.names.example"],
    ["A", "www.other.org.", "www.other.org.names.example"],
    ["A", "xnames.example", "xnames.example.names.example"],
    ["A", long, `${long}.names.example`],
    ["A", "a1-b2", "a1-b2.names.example"],
    ["TXT", "_acme-challenge", "_acme-challenge.names.example"],
    ["TXT", "_acme-challenge.www.names.example", "_acme-challenge.www.names.example"],
    ["TXT", "1st", "1st.names.example"],
    ["TXT", "a.*.b", "a.*.b.names.example"],
    ["PTR", "4.3.2.1", "4.3.2.1.names.example"],
  ];
  const content: Record<string, string> = { A: "192.0.2.1", TXT: "text", PTR: "host.example.net" };
  for (const [type, given, name] of kept) {
    test(`given as ${given.slice(0, 40)} for ${type} is kept as ${name.slice(0, 40)}`, async () => {
      const record = await zone.create({ type, name: given, content: content[type] });
      assert.equal(record.name, name);
      assert.equal((await zone.get(record.id)).name, name);
      await zone.call("DELETE", `/${record.id}`);
    });
  }

  const bad: [why: string, type: string, name: string][] = [
    ["that is empty", "A", ""],
    ["of blanks", "A", "  "],
    ["with an empty label", "TXT", "a..b"],
    ["that begins with a dot", "TXT", ".a"],
    ["with a label of 64 octets", "TXT", "l".repeat(64)],
    ["of more than 255 octets", "TXT", Array.from({ length: 5 }, () => "l".repeat(60)).join(".")],
    ["with a blank in it", "TXT", "a b"],
    ["with a bad escape", "TXT", String.raw`a\9`],
    ["with a wildcard that is not leftmost, for A", "A", "a.*"],
    ["with a wildcard in a label, for A", "A", "a*"],
    ["that begins with a hyphen, for A", "A", "-a"],
    ["that ends with a hyphen, for A", "A", "a-"],
    ["that ends with an underscore, for A", "A", "a_"],
    ["with a label that begins with a digit, for A", "A", "1st"],
    ["with a label that begins with a digit, for AAAA", "AAAA", "a.1st.b"],
    ["with a label that begins with a digit, for CNAME", "CNAME", "1"],
    ["with a slash, for A", "A", "a/b"],
  ];
  for (const [why, type, name] of bad) {
    test(`${why} is refused with 9000`, async () => {
      const values: Record<string, string> = { ...content, AAAA: "2001:db8::1", CNAME: "x.net" };
      const answer = await zone.call("POST", "", { type, name, content: values[type] });
      refused(answer, 400, 9000);
      assert.equal(answer.errors[0]!.source?.pointer, "/name");
      assert.deepEqual(await zone.all(), []);
    });
  }

  test("that is missing is refused with 9000", async () => {
    const answer = await zone.call("POST", "", { type: "A", content: "192.0.2.1" });
    refused(answer, 400, 9000, "name is a required field.");
  });

  test("that is invalid is called so in the words that clients know", async () => {
    refused(await zone.call("POST", "", a("")), 400, 9000, /^DNS name is invalid/);
  });

  test("with a leading digit is refused with the way out, which is the name policy", async () => {
    const strict = await TestZone.make(server);
    const given = { type: "CNAME", name: "1.2host", content: "x.example.net" };
    const answer = await strict.call("POST", "", given);
    refused(answer, 400, 9000, /name_policy "rfc1123"/);
    await strict.setSetting("name_policy", "rfc1123");
    assert.equal((await strict.create(given)).name, `1.2host.${strict.name}`);
    refused(await strict.call("POST", "", a("-a")), 400, 9000);
    await strict.setSetting("name_policy", "strict");
    refused(await strict.call("POST", "", a("3com")), 400, 9000);
    const path = `${strict.path}/settings/name_policy`;
    refused(await call(server, "PATCH", path, { body: { value: "none" } }), 400, 1007);
  });

  test("with an underscore is accepted, with a message that it is discouraged", async () => {
    const host = succeeded(await zone.call("POST", "", a("_under_score")));
    assert.match(host.messages[0]!.message, /underscore.*discouraged/);
    const text = succeeded(await zone.call("POST", "", txt("_under_score", "x")));
    assert.deepEqual(text.messages, []);
    const plain = succeeded(await zone.call("POST", "", a("plain")));
    assert.deepEqual(plain.messages, []);
  });
});

suite("the content", async () => {
  const zone = await TestZone.make(server, "content.example");

  /** What is sent and what of it comes back. */
  const kept: [why: string, sent: Fields, shown: Fields][] = [
    ["A is trimmed", a("x", " 192.0.2.1 "), { content: "192.0.2.1" }],
    ["AAAA is normalised", { type: "AAAA", content: "FE80::0:0:1" }, { content: "fe80::1" }],
    ["CNAME loses its dot", { type: "CNAME", content: "A.net." }, { content: "a.net" }],
    [
      "CNAME of another script is punycode",
      { type: "CNAME", content: "bücher.example.net" },
      { content: "xn--bcher-kva.example.net" },
    ],
    ["MX loses its dot", { type: "MX", content: "m.net.", priority: 0 }, { content: "m.net" }],
    ["null MX stays", { type: "MX", content: ".", priority: 0 }, { content: ".", priority: 0 }],
    [
      "MX takes a priority that is text",
      { type: "MX", content: "m.net", priority: "7" },
      { priority: 7 },
    ],
    ["NS loses its dot", { type: "NS", content: "ns.other.net." }, { content: "ns.other.net" }],
    ["PTR loses its dot", { type: "PTR", content: "h.net." }, { content: "h.net" }],
    [
      "SRV fills in weight and priority",
      { type: "SRV", data: { port: 443, target: "." } },
      { content: "0 443 .", priority: 0 },
    ],
    [
      "numbers may be text or floats, and foreign keys are passed over",
      {
        type: "SRV",
        data: { priority: "2", weight: 3.0, port: "4", target: "t.net", usage: 9, junk: [{}] },
      },
      { content: "3 4 t.net", data: { priority: 2, weight: 3, port: 4, target: "t.net" } },
    ],
    [
      "data wins over content",
      {
        type: "CAA",
        content: '0 issue "a.example"',
        data: { flags: 0, tag: "issue", value: "b.net" },
      },
      { content: '0 issue "b.net"' },
    ],
    [
      "HTTPS trims its value",
      { type: "HTTPS", data: { priority: 1, target: "foo.", value: ' alpn="h2"' } },
      { content: '1 foo. alpn="h2"', data: { priority: 1, target: "foo.", value: 'alpn="h2"' } },
    ],
    [
      "SVCB alias has no value",
      { type: "SVCB", data: { priority: 0, target: "foo.", value: "" } },
      { content: "0 foo." },
    ],
    [
      "NAPTR keeps the dot of its replacement",
      {
        type: "NAPTR",
        data: {
          order: 1,
          preference: 2,
          flags: "S",
          service: "SIP+D2T",
          regex: "",
          replacement: "_sip._tcp.a.net.",
        },
      },
      { content: '1 2 "S" "SIP+D2T" "" _sip._tcp.a.net.' },
    ],
    [
      "LOC fills in minutes, seconds and sizes",
      {
        type: "LOC",
        data: {
          lat_degrees: 1,
          lat_direction: "S",
          long_degrees: 2,
          long_direction: "E",
          altitude: -5,
        },
      },
      { content: "1 0 0.000 S 2 0 0.000 E -5.00 0.00 0.00 0.00" },
    ],
    [
      "CAA takes issuemail",
      { type: "CAA", data: { flags: 0, tag: "issuemail", value: ";" } },
      { content: '0 issuemail ";"' },
    ],
    [
      "OPENPGPKEY joins its words",
      { type: "OPENPGPKEY", content: "mQIN BFit" },
      { content: "mQINBFit" },
    ],
  ];
  for (const [why, sent, shown] of kept) {
    test(`of ${why}`, async () => {
      const record = await zone.create({ name: "x", ...sent });
      const keys = Object.keys(shown);
      const seen = Object.fromEntries(keys.map((key) => [key, record[key as keyof ZoneRecord]]));
      assert.deepEqual(seen, shown);
      await zone.call("DELETE", `/${record.id}`);
    });
  }

  const V4 = "Content for A record must be a valid IPv4 address.";
  const V6 = "Content for AAAA record must be a valid IPv6 address.";
  const hex = "00".repeat(32);
  const place = { lat_degrees: 1, lat_direction: "N", long_degrees: 2, long_direction: "E" };
  const srv = { priority: 1, weight: 1, port: 1, target: "t.net" };
  const tlsa = { usage: 3, selector: 1, matching_type: 1, certificate: hex };
  const cases: [type: string, fields: Fields, code: number, message?: string | RegExp][] = [
    ["A", { content: "not an address" }, 9005, V4],
    ["A", { content: "1.1" }, 9005, V4],
    ["A", { content: "192.0.2.256" }, 9005, V4],
    ["A", { content: "192.0.2.01" }, 9005, V4],
    ["A", { content: "2001:db8::1" }, 9005, V4],
    ["A", { content: "" }, 9005, V4],
    ["A", {}, 9101, "content is a required field."],
    ["AAAA", { content: "192.0.2.1" }, 9006, V6],
    ["AAAA", { content: "2001:db8::1::2" }, 9006, V6],
    ["AAAA", { content: "fe80::1%eth0" }, 9006, V6],
    ["CNAME", { content: "192.0.2.1" }, 9007],
    ["CNAME", { content: "a b" }, 9007],
    ["CNAME", { content: "http://a.example/" }, 9007],
    ["CNAME", { content: "x.content.example" }, 9007],
    ["CNAME", { content: "X.Content.Example." }, 9007],
    ["MX", { content: "m.net" }, 9101, "priority is a required field."],
    ["MX", { content: "192.0.2.1", priority: 1 }, 9007],
    ["MX", { content: ".", priority: 5 }, 9020],
    ["NS", { content: "192.0.2.1" }, 9007],
    ["NS", { content: "." }, 9007],
    ["PTR", { content: "a..b" }, 9007],
    ["SRV", { data: { ...srv, port: 65_536 } }, 9020],
    ["SRV", { data: { ...srv, weight: -1 } }, 9020],
    ["SRV", { data: { ...srv, target: "192.0.2.1" } }, 9007],
    ["CAA", { data: { flags: 256, tag: "issue", value: "a" } }, 9020],
    ["CAA", { data: { flags: 0, tag: "no-tag", value: "a" } }, 9020],
    ["CERT", { data: { type: 70_000, key_tag: 0, algorithm: 0, certificate: "MIIB" } }, 9020],
    ["CERT", { data: { type: 1, key_tag: 0, algorithm: 0, certificate: "*" } }, 9020],
    ["DNSKEY", { data: { flags: 257, protocol: 4, algorithm: 13, public_key: "AAAA" } }, 9020],
    ["SSHFP", { data: { algorithm: 1, type: 1, fingerprint: "abcd" } }, 9020],
    ["SSHFP", { data: { algorithm: 256, type: 1, fingerprint: hex } }, 9020],
    ["TLSA", { data: { ...tlsa, usage: 4 } }, 9020],
    ["TLSA", { data: { ...tlsa, certificate: "zz" } }, 9020],
    ["SMIMEA", { data: { ...tlsa, selector: 9 } }, 9020],
    ["LOC", { data: { ...place, lat_degrees: 91 } }, 9020],
    ["LOC", { data: { ...place, long_direction: "N" } }, 9020],
    ["LOC", { data: { ...place, lat_minutes: 60 } }, 9020],
    ["LOC", { data: { ...place, lat_seconds: 60 } }, 9020],
    ["LOC", { data: { ...place, altitude: -100_001 } }, 9020],
    ["HTTPS", { data: { priority: 1, target: ".", value: "alpn" } }, 9020],
    ["HTTPS", { data: { priority: 0, target: "a.net.", value: 'alpn="h2"' } }, 9020],
    ["URI", { data: { weight: 1, target: "https://a/" } }, 9101, "priority is a required field."],
    ["OPENPGPKEY", { content: "not base64!" }, 9020],
    ["SPF", { content: "v=spf1 nonsense:x" }, 9020],
    ["SPF", { content: "hello" }, 9020],
    ["DKIM", { data: { k: "dsa", p: "MIIB" } }, 9020],
    ["DMARC", { content: "v=DMARC1; p=maybe" }, 9020],
    ["DMARC", { data: { pct: 5 } }, 9101, "p is a required data field."],
    ["SPF", { data: { version: "spf1" } }, 9101, "terms is a required data field."],
  ];
  for (const [type, fields, code, message] of cases) {
    test(`of ${type} cannot be ${JSON.stringify(fields).slice(0, 90)}`, async () => {
      const answer = await zone.call("POST", "", { type, name: "x", ...fields });
      refused(answer, 400, code, message);
      assert.deepEqual(await zone.all(), []);
    });
  }

  const required: Record<string, string[]> = {
    CAA: ["flags", "tag", "value"],
    CERT: ["type", "key_tag", "algorithm", "certificate"],
    DNSKEY: ["flags", "protocol", "algorithm", "public_key"],
    DS: ["key_tag", "algorithm", "digest_type", "digest"],
    HTTPS: ["priority", "target"],
    LOC: ["lat_degrees", "lat_direction", "long_degrees", "long_direction"],
    NAPTR: ["order", "preference", "flags", "service", "regex", "replacement"],
    SMIMEA: ["usage", "selector", "matching_type", "certificate"],
    SRV: ["port", "target"],
    SSHFP: ["algorithm", "type", "fingerprint"],
    SVCB: ["priority", "target"],
    TLSA: ["usage", "selector", "matching_type", "certificate"],
  };
  for (const [type, fields] of Object.entries(required)) {
    test(`of ${type} without data is refused with an entry for each missing field`, async () => {
      for (const data of [undefined, {}, { junk: 1 }]) {
        const body = { type, name: "x", ...(data !== undefined && { data }) };
        const answer = await zone.call("POST", "", body);
        const entries = fields.map((field) => [9101, `${field} is a required data field.`]);
        assert.equal(answer.status, 400);
        assert.deepEqual(
          answer.errors.map(({ code, message }) => [code, message]),
          entries,
        );
      }
    });
  }

  test("of a type that there is not is refused with the words that clients know", async () => {
    const names = ["BOGUS", "SOA", "ANY", "TYPE731", "RRSIG", ""];
    for (const type of names) {
      const answer = await zone.call("POST", "", { type, name: "x", content: "192.0.2.1" });
      refused(answer, 400, 9001, `DNS record type "${type}" is invalid`);
    }
    const none = await zone.call("POST", "", { name: "x", content: "192.0.2.1" });
    refused(none, 400, 9001, "type is a required field.");
  });

  test("of MX has a priority that is a number, or is refused", async () => {
    for (const priority of [true, "", [], "ten", 1.5, -1, 65_536]) {
      const body = { type: "MX", name: "x", content: "m.example.net", priority };
      assert.equal((await zone.call("POST", "", body)).status, 400, JSON.stringify(priority));
    }
  });

  test("that is too large is refused", async () => {
    const large = await TestZone.make(server);
    refused(await large.call("POST", "", txt("t", "x".repeat(4_097))), 400, 9022);
    await large.create(txt("t", "a".repeat(4_000)));
    await large.create(txt("t", "b".repeat(4_000)));
    refused(await large.call("POST", "", txt("t", "c".repeat(200))), 400, 9022);
    await large.create(txt("other", "c".repeat(200)));
  });
});

suite("the text of a TXT record", async () => {
  const zone = await TestZone.make(server, "txt.example");
  const x = (n: number) => "x".repeat(n);
  const kept: [why: string, sent: string, shown: string][] = [
    ["without quotes gets them", "hello world", '"hello world"'],
    ["in quotes stays", '"hello world"', '"hello world"'],
    ["of two strings stays", '"a" "b"', '"a" "b"'],
    ["of two strings with more between them is normalised", '"a"   "b"', '"a" "b"'],
    ["of 255 octets is one string", x(255), `"${x(255)}"`],
    ["of 256 octets is two", x(256), `"${x(255)}" "x"`],
    ["of 600 octets in quotes is three", `"${x(600)}"`, `"${x(255)}" "${x(255)}" "${x(90)}"`],
    ["with semicolons keeps them", "v=DMARC1; p=none", '"v=DMARC1; p=none"'],
    ["with an escaped quote keeps it", String.raw`"say \"hi\""`, String.raw`"say \"hi\""`],
    ["with an escaped backslash keeps it", String.raw`"a\\b"`, String.raw`"a\\b"`],
    ["with a decimal escape shows the letter", String.raw`"\065"`, '"A"'],
    ["of another script stays readable", "héllo", '"héllo"'],
    ["that looks like an SPF policy stays TXT", "v=spf1 -all", '"v=spf1 -all"'],
  ];
  for (const [why, sent, shown] of kept) {
    test(why, async () => {
      const record = await zone.create(txt("t", sent));
      assert.deepEqual([record.type, record.content], ["TXT", shown]);
      assert.equal((await zone.get(record.id)).content, shown);
      await zone.call("DELETE", `/${record.id}`);
    });
  }

  for (const content of ['"this', 'this"', '"a" b"', '"a" b', 'a "b"', '"', "", "  ", '""']) {
    test(`${JSON.stringify(content)} is refused`, async () => {
      refused(await zone.call("POST", "", txt("t", content)), 400, 9023);
      assert.deepEqual(await zone.all(), []);
    });
  }

  test("is the same record with quotes and without", async () => {
    const record = await zone.create(txt("dup", "same"));
    refused(await zone.call("POST", "", txt("dup", '"same"')), 400, 81_058, IDENTICAL);
    const again = await zone.put(record.id, txt("dup", '"same"'));
    assert.equal(again.content, '"same"');
    await zone.create(txt("dup", "Same"));
  });
});

suite("the TTL", () => {
  const OUT = "TTL must be between 60 and 86400 seconds, or 1 for Automatic.";

  test("may be 1 or from 60 to 86400, and is automatic when it is left out", async () => {
    const zone = await TestZone.make(server);
    for (const ttl of [1, 60, 120, 86_400]) {
      assert.equal((await zone.create(txt(`t${ttl}`, "x", { ttl }))).ttl, ttl);
    }
    assert.equal((await zone.create(txt("none", "x"))).ttl, 1);
    for (const ttl of [-1, 2, 30, 59, 86_401, 2_147_483_647]) {
      refused(await zone.call("POST", "", txt("bad", "x", { ttl })), 400, 9021, OUT);
    }
    for (const ttl of ["120", 120.5, true, [], {}]) {
      assert.equal((await zone.call("POST", "", txt("bad", "x", { ttl }))).status, 400);
    }
    const record = (await zone.list("name.startswith=none"))[0]!;
    refused(await zone.call("PATCH", `/${record.id}`, { ttl: 59 }), 400, 9021, OUT);
  });

  test("may be lower where the zone's floor is", async () => {
    const zone = await TestZone.make(server);
    refused(await zone.call("POST", "", a("low", "192.0.2.1", { ttl: 30 })), 400, 9021);
    await zone.setSetting("ttl_floor", 30);
    assert.equal((await zone.create(a("low", "192.0.2.1", { ttl: 30 }))).ttl, 30);
    const answer = await zone.call("POST", "", a("lower", "192.0.2.1", { ttl: 29 }));
    refused(answer, 400, 9021, OUT.replace("60", "30"));
    const path = `${zone.path}/settings/ttl_floor`;
    refused(await call(server, "PATCH", path, { body: { value: 10 } }), 400, 1007);
  });

  test("of a proxied record is automatic, whatever is asked", async () => {
    const zone = await TestZone.make(server);
    const record = await zone.create(a("www", "192.0.2.1", { ttl: 600, proxied: true }));
    assert.deepEqual([record.proxied, record.ttl], [true, 1]);
    assert.equal((await zone.patch(record.id, { ttl: 600 })).ttl, 1);
    const off = await zone.patch(record.id, { proxied: false, ttl: 600 });
    assert.deepEqual([off.proxied, off.ttl], [false, 600]);
    const on = await zone.patch(record.id, { proxied: true });
    assert.deepEqual([on.proxied, on.ttl], [true, 1]);
  });
});

suite("the proxy status", () => {
  test("is a boolean, and on only for A, AAAA and CNAME", async () => {
    const zone = await TestZone.make(server);
    for (const proxied of ["true", 1, "", {}, []]) {
      const answer = await zone.call("POST", "", a("www", "192.0.2.1", { proxied }));
      refused(answer, 400, 9003, "Invalid 'proxied' value, must be a boolean");
    }
    for (const { type, name, sent } of typeCases) {
      if (type === "DS") continue; // It needs an NS first.
      const answer = await zone.call("POST", "", { type, name, ...sent[0], proxied: true });
      const isHost = ["A", "AAAA", "CNAME"].includes(type);
      if (isHost) assert.equal((answer.result as ZoneRecord).proxied, true);
      else refused(answer, 400, 9004, "This record type cannot be proxied.");
      const off = await zone.call("POST", "", {
        type,
        name: `x${name}`,
        ...sent[0],
        proxied: false,
      });
      assert.equal((succeeded(off).result as ZoneRecord).proxied, false);
    }
  });
});

suite("comments, tags and settings", () => {
  test("have their limits", async () => {
    const zone = await TestZone.make(server);
    let made = 0;
    const post = (more: Fields) => zone.call("POST", "", txt("t", `text ${made++}`, more));
    const good: Fields[] = [
      { comment: "c".repeat(500) },
      { comment: 'Grüße, 世界 🎉; "quoted"' },
      { tags: Array.from({ length: 20 }, (_, i) => `t${i}:v`) },
      { tags: [`${"n".repeat(32)}:${"v".repeat(100)}`] },
      { tags: ["alone", "Name_-1:any value, at all: yes"] },
      { settings: {} },
    ];
    for (const more of good) {
      const record = succeeded(await post(more)).result as ZoneRecord;
      if ("comment" in more) assert.equal(record.comment, more["comment"]);
      if ("tags" in more) assert.deepEqual(record.tags, more["tags"]);
    }
    // The same tag twice is one tag; names are the same in any case, values are not.
    const twice = ["a:x", "A:x", "b", "b:", "a:X", " a:x "];
    const folded = succeeded(await post({ tags: twice })).result as ZoneRecord;
    assert.deepEqual(folded.tags, ["a:x", "b", "a:X"]);
    const many = Array.from({ length: 25 }, (_, i) => `t${i % 20}`);
    assert.equal((succeeded(await post({ tags: many })).result as ZoneRecord).tags.length, 20);
    const bad: [more: Fields, code: number][] = [
      [{ comment: "c".repeat(501) }, 9102],
      [{ comment: "two\nlines" }, 9102],
      [{ comment: "two\rlines" }, 9102],
      [{ tags: Array.from({ length: 21 }, (_, i) => `t${i}`) }, 9104],
      [{ tags: ["n".repeat(33)] }, 9104],
      [{ tags: [`n:${"v".repeat(101)}`] }, 9104],
      [{ tags: ["cf-mine:x"] }, 9104],
      [{ tags: ["CF-mine"] }, 9104],
      [{ tags: ["no blanks:x"] }, 9104],
      [{ tags: [":x"] }, 9104],
      [{ tags: [""] }, 9104],
      [{ tags: ["a:b\nc"] }, 9104],
      [{ settings: { flatten_cname: true } }, 9105],
      [{ settings: { no_such: true } }, 9105],
    ];
    for (const [more, code] of bad) refused(await post(more), 400, code);
  });

  test("of a record are shown where they are set", async () => {
    const zone = await TestZone.make(server);
    const cname = { type: "CNAME", name: "c", content: "x.example.net" };
    const flat = await zone.create({ ...cname, settings: { flatten_cname: true } });
    assert.deepEqual(flat.settings, { flatten_cname: true });
    const proxied = a("p", "192.0.2.1", { proxied: true, settings: { ipv4_only: true } });
    assert.deepEqual((await zone.create(proxied)).settings, { ipv4_only: true });
    assert.deepEqual((await zone.patch(flat.id, { settings: {} })).settings, {});
    const off = { ipv4_only: false, ipv6_only: null, flatten_cname: false };
    assert.deepEqual((await zone.create(a("off", "192.0.2.1", { settings: off }))).settings, {});
  });

  test("that leave no address family are refused", async () => {
    const zone = await TestZone.make(server);
    const settings = { ipv4_only: true, ipv6_only: true };
    const answer = await zone.call("POST", "", a("p", "192.0.2.1", { proxied: true, settings }));
    refused(answer, 400, 9105, /ipv4_only.*ipv6_only/);
    const four = { proxied: true, settings: { ipv4_only: true } };
    const record = await zone.create(a("p", "192.0.2.1", four));
    refused(await zone.call("PATCH", `/${record.id}`, { settings }), 400, 9105);
    const six = await zone.patch(record.id, { settings: { ipv6_only: true } });
    assert.deepEqual(six.settings, { ipv6_only: true });
  });
});

suite("PUT, PATCH and DELETE", () => {
  const full = {
    ...a("www", "192.0.2.1"),
    proxied: true,
    comment: "a comment",
    tags: ["env:prod"],
    settings: { ipv4_only: true },
  };

  test("a PUT sets everything that it does not give to its default", async () => {
    const zone = await TestZone.make(server);
    const record = await zone.create(full);
    const put = await zone.put(record.id, a("www", "192.0.2.2"));
    const { id, ttl, proxied, comment, tags, settings, content } = put;
    assert.deepEqual(
      { id, ttl, proxied, comment, tags, settings, content },
      {
        id: record.id,
        ttl: 1,
        proxied: false,
        comment: null,
        tags: [],
        settings: {},
        content: "192.0.2.2",
      },
    );
    assert.equal(put.created_on, record.created_on);
    const timed = await zone.put(record.id, a("www", "192.0.2.2", { ttl: 600 }));
    assert.equal(timed.ttl, 600);
    assert.equal((await zone.put(record.id, a("www", "192.0.2.2"))).ttl, 1);
    refused(await zone.call("PUT", `/${record.id}`, { content: "192.0.2.9" }), 400, 9001);
    refused(await zone.call("PUT", `/${record.id}`, { type: "A", name: "www" }), 400, 9101);
  });

  test("a PATCH changes only what it gives", async () => {
    const zone = await TestZone.make(server);
    const record = await zone.create(full);
    const patches: [patch: Fields, change: Fields][] = [
      [{}, {}],
      [{ content: "192.0.2.7" }, { content: "192.0.2.7" }],
      [{ name: "web" }, { name: `web.${zone.name}` }],
      [{ comment: "another" }, { comment: "another" }],
      [{ comment: "" }, { comment: null }],
      [{ tags: null }, {}],
      [{ tags: ["a", "b:c"] }, { tags: ["a", "b:c"] }],
      [{ tags: [] }, { tags: [] }],
      [{ settings: null }, {}],
      [{ settings: {} }, { settings: {} }],
      [{ proxied: false }, { proxied: false }],
      [{ ttl: 120 }, { ttl: 120 }],
      [{ type: "A", name: `web.${zone.name}`, content: "192.0.2.7" }, {}],
    ];
    const bare = ({ modified_on, comment_modified_on, tags_modified_on, ...rest }: ZoneRecord) => {
      void modified_on;
      void comment_modified_on;
      void tags_modified_on;
      return rest;
    };
    let expected: Fields = bare(record);
    for (const [patch, change] of patches) {
      expected = { ...expected, ...change };
      assert.deepEqual(bare(await zone.patch(record.id, patch)), expected, JSON.stringify(patch));
    }
    assert.deepEqual(bare(await zone.get(record.id)), expected);
  });

  test("an edit without a change succeeds", async () => {
    const zone = await TestZone.make(server);
    const record = await zone.create(a("www"));
    assert.equal((await zone.put(record.id, a("www"))).id, record.id);
    assert.equal((await zone.patch(record.id, a("www"))).id, record.id);
    assert.equal((await zone.all()).length, 1);
  });

  test("a DELETE may carry a body", async () => {
    const zone = await TestZone.make(server);
    const record = await zone.create(a("www"));
    const answer = succeeded(await zone.call("DELETE", `/${record.id}`, {}));
    assert.deepEqual(answer.result, { id: record.id });
    refused(await zone.call("DELETE", `/${record.id}`), 404, 81_044, "Record does not exist.");
  });

  test("the structured data of a PATCH merges key by key, and null is not a value", async () => {
    const zone = await TestZone.make(server);
    const data = { priority: 1, target: ".", value: 'alpn="h2"' };
    const record = await zone.create({ type: "HTTPS", name: "w", data });
    const edited = await zone.patch(record.id, { data: { value: 'alpn="h3"' } });
    assert.deepEqual(edited.data, { ...data, value: 'alpn="h3"' });
    const untouched = await zone.patch(record.id, { data: { tag: "" }, ttl: 300 });
    assert.deepEqual(untouched.data, edited.data);
    const srv = { priority: 1, weight: 2, port: 3, target: "t.net" };
    const service = await zone.create({ type: "SRV", name: "_s._tcp", data: srv });
    assert.deepEqual((await zone.patch(service.id, { priority: 9 })).data, { ...srv, priority: 9 });
  });
});

suite("fields that clients send and nobody reads", () => {
  test("are passed over on every write", async () => {
    const zone = await TestZone.make(server);
    const junk = {
      id: MISSING,
      zone_id: MISSING,
      zone_name: "other.example",
      locked: true,
      meta: { auto_added: true },
      proxiable: false,
      created_on: "0001-01-01T00:00:00Z",
      modified_on: "0001-01-01T00:00:00Z",
      comment_modified_on: "x",
      data: { tag: "" },
      settings: {},
      priority: 0,
      proxied: false,
      comment: "",
      tags: [],
      private_routing: false,
      no_such_field: [1, 2, 3],
    };
    for (const { type, name, sent } of typeCases) {
      // What is structured brings its own data, and MX its own priority.
      const body = { ...junk, type, name, ...sent[0] };
      const record = await zone.create(body);
      assert.notEqual(record.id, MISSING, type);
      assert.deepEqual(
        [record.zone_id, record.zone_name, record.locked, record.comment],
        [zone.id, zone.name, false, null],
      );
      assert.ok(Date.parse(record.created_on) > Date.parse("2020-01-01"));
      const put = await zone.put(record.id, body);
      const patched = await zone.patch(record.id, body);
      assert.deepEqual([put.id, patched.id], [record.id, record.id]);
      assert.equal(patched.content, record.content);
      assert.equal(patched.created_on, record.created_on);
    }
  });
});

suite("SRV names", () => {
  const data = { priority: 1, weight: 2, port: 3, target: "t.net" };
  const variants: [client: string, fields: (zone: string) => Fields][] = [
    ["Terraform v5", (zone) => ({ name: `_sip._tcp.host.${zone}`, data })],
    [
      "octoDNS",
      (zone) => ({
        name: `_sip._tcp.host.${zone}`,
        data: { ...data, service: "_sip", proto: "_tcp", name: "host" },
      }),
    ],
    [
      "dnscontrol",
      (zone) => ({
        name: `_sip._tcp.host.${zone}`,
        content: "t.net.",
        priority: 0,
        data: { ...data, service: "_sip", proto: "_tcp", name: `host.${zone}` },
      }),
    ],
    [
      "libdns",
      () => ({
        name: "_sip._tcp.host",
        data: { ...data, service: "_sip", proto: "_tcp", name: "host" },
      }),
    ],
    ["Ansible", () => ({ data: { ...data, service: "_sip", proto: "_tcp", name: "host" } })],
    [
      "Ansible with a whole name",
      (zone) => ({ data: { ...data, service: "_sip", proto: "_tcp", name: `host.${zone}` } }),
    ],
  ];
  for (const [client, fields] of variants) {
    test(`as ${client} writes them are understood`, async () => {
      const zone = await TestZone.make(server);
      const record = await zone.create({ type: "SRV", ...fields(zone.name) });
      assert.equal(record.name, `_sip._tcp.host.${zone.name}`);
      assert.deepEqual(record.data, data);
      assert.equal(record.content, "2 3 t.net");
    });
  }

  test("at the apex, as octoDNS and Ansible write them, are understood", async () => {
    for (const host of [(zone: string) => `${zone}.`, () => "@", () => ""]) {
      const zone = await TestZone.make(server);
      const parts = { service: "_sip", proto: "_tcp", name: host(zone.name) };
      const record = await zone.create({ type: "SRV", data: { ...data, ...parts } });
      assert.equal(record.name, `_sip._tcp.${zone.name}`);
    }
  });
});

suite("records at one name", () => {
  const cname = (name: string, content = "x.example.net"): Fields => ({
    type: "CNAME",
    name,
    content,
  });
  const ns = (name: string, content = "ns.example.net"): Fields => ({ type: "NS", name, content });
  const aaaa = (name: string): Fields => ({ type: "AAAA", name, content: "2001:db8::1" });
  const mx = (name: string, priority = 1): Fields => ({
    type: "MX",
    name,
    content: "m.example.net",
    priority,
  });
  const ds = (name: string): Fields => ({
    type: "DS",
    name,
    data: { key_tag: 1, algorithm: 13, digest_type: 2, digest: "00".repeat(32) },
  });
  const NS_EXISTS = "NS records with that host already exist.";
  const CNAME_EXISTS = /^A CNAME record with that host already exists\./;

  const matrix: [
    there: Fields,
    added: Fields,
    refusal: readonly [code: number, message: string | RegExp] | null,
  ][] = [
    [a("n"), a("n", "192.0.2.2"), null],
    [a("n"), aaaa("n"), null],
    [a("n"), txt("n", "x"), null],
    [a("n"), mx("n"), null],
    [a("n"), cname("n"), [81_053, HOST_EXISTS]],
    [aaaa("n"), cname("n"), [81_053, HOST_EXISTS]],
    [cname("n"), cname("n", "y.example.net"), [81_053, HOST_EXISTS]],
    [cname("n"), a("n"), [81_054, CNAME_EXISTS]],
    [cname("n"), aaaa("n"), [81_054, CNAME_EXISTS]],
    [cname("n"), txt("n", "x"), null],
    [cname("n"), mx("n"), null],
    [txt("n", "x"), cname("n"), null],
    [ns("n"), ns("n", "ns2.example.net"), null],
    [ns("n"), ds("n"), null],
    [ns("n"), a("n"), [81_056, NS_EXISTS]],
    [ns("n"), aaaa("n"), [81_056, NS_EXISTS]],
    [ns("n"), cname("n"), [81_056, NS_EXISTS]],
    [ns("n"), txt("n", "x"), [81_056, NS_EXISTS]],
    [a("n"), ns("n"), [81_056, /already exist/]],
    [cname("n"), ns("n"), [81_056, /already exist/]],
    [txt("n", "x"), ns("n"), [81_056, /already exist/]],
    [a("n"), ds("n"), [81_059, /needs NS/]],
    [a("@"), ns("@"), null],
    [ns("@"), a("@"), null],
    [ns("@"), cname("@"), null],
    [cname("@"), mx("@"), null],
    [cname("@"), a("@"), [81_054, CNAME_EXISTS]],
    [mx("n"), mx("n", 2), null],
    [mx("n"), mx("n"), [81_058, IDENTICAL]],
    [a("n"), a("n"), [81_058, IDENTICAL]],
    [a("n"), a("N", "192.0.2.1", { ttl: 600, comment: "c" }), [81_058, IDENTICAL]],
    [aaaa("n"), { ...aaaa("n"), content: "2001:DB8:0::1" }, [81_058, IDENTICAL]],
    [cname("n"), cname("n", "X.example.net."), [81_058, IDENTICAL]],
    [txt("n", "a"), txt("n", '"a"'), [81_058, IDENTICAL]],
    [txt("n", "a"), txt("n", "A"), null],
  ];
  for (const [there, added, refusal] of matrix) {
    const label = ({ type, name, content, priority }: Fields) =>
      ([type, name, content, priority] as (string | number | undefined)[])
        .filter((part) => part !== undefined)
        .join(" ");
    const effect = refusal === null ? "stand together" : `are refused with ${refusal[0]}`;
    test(`${label(there)} and then ${label(added)} ${effect}`, async () => {
      const zone = await TestZone.make(server);
      await zone.create(there);
      const answer = await zone.call("POST", "", added);
      if (refusal === null) succeeded(answer);
      else refused(answer, 400, ...refusal);
      assert.equal((await zone.all()).length, refusal === null ? 2 : 1);
      if (refusal === null || added["type"] === "DS") return;
      // What cannot be created there cannot be moved there either.
      const elsewhere = await zone.create({ ...added, name: "elsewhere" });
      const name = added["name"];
      refused(await zone.call("PATCH", `/${elsewhere.id}`, { name }), 400, ...refusal);
      refused(await zone.call("PUT", `/${elsewhere.id}`, added), 400, ...refusal);
      assert.deepEqual(await zone.get(elsewhere.id), elsewhere);
    });
  }

  test("a DS goes before the NS that it needs", async () => {
    const zone = await TestZone.make(server);
    refused(await zone.call("POST", "", ds("sub")), 400, 81_059);
    const delegation = await zone.create(ns("sub"));
    const signer = await zone.create(ds("sub"));
    refused(await zone.call("DELETE", `/${delegation.id}`), 400, 81_059);
    refused(await zone.call("PATCH", `/${delegation.id}`, { name: "other" }), 400, 81_059);
    succeeded(await zone.call("DELETE", `/${signer.id}`));
    succeeded(await zone.call("DELETE", `/${delegation.id}`));
  });

  test("the apex has its own name servers already", async () => {
    const zone = await TestZone.make(server);
    refused(await zone.call("POST", "", ns("@", "NS1.selvedge.test.")), 400, 81_057, /already/);
    await zone.create(ns("below", "ns1.selvedge.test"));
    assert.deepEqual(await zone.list("type=NS&name=@"), []);
  });
});

suite("settings of a zone", async () => {
  const zone = await TestZone.make(server, "strict-settings.example");
  const bad: [path: string, body: unknown][] = [
    ["/settings/security_header", { value: { strict_transport_security: null } }],
    ["/settings/security_header", { value: { strict_transport_security: [1, 2] } }],
    ["/settings/security_header", { value: { strict_transport_security: { enabled: "yes" } } }],
    ["/settings/ssl", {}],
    ["/settings/browser_cache_ttl", { value: "14400" }],
    ["/dns_settings", { soa: { mname: "two words" } }],
    ["/dns_settings", { soa: { mname: "a.example.net.\nevil 1 IN A 192.0.2.66 ;" } }],
    ["/dns_settings", { soa: { rname: "a..b" } }],
    ["/dns_settings", { nameservers: { type: "none" } }],
    ["/dns_settings", { soa: { refresh: 599 } }],
    ["", { vanity_name_servers: ["not a host name"] }],
    ["", { paused: "yes" }],
    ["", { type: "other" }],
  ];
  for (const [path, body] of bad) {
    test(`${path || "the zone"} cannot be ${JSON.stringify(body)}`, async () => {
      const read = async () => (await call(server, "GET", zone.path + path)).result;
      const before = await read();
      const answer = await call(server, "PATCH", zone.path + path, { body });
      assert.equal(answer.status, 400, answer.text);
      assert.deepEqual(await read(), before);
    });
  }

  test("are changed several at once", async () => {
    const items = [
      { id: "ssl", value: "strict" },
      { id: "http3", value: "on" },
    ];
    const path = `${zone.path}/settings`;
    const answer = succeeded(await call(server, "PATCH", path, { body: { items } }));
    const shown = (answer.result as { id: string; value: unknown }[]).map(({ id, value }) => ({
      id,
      value,
    }));
    assert.deepEqual(shown, items);
    const { result } = succeeded(await call(server, "GET", path));
    const all = new Map((result as { id: string; value: unknown }[]).map((one) => [one.id, one]));
    for (const { id, value } of items) assert.equal(all.get(id)!.value, value);
    assert.equal(all.get("ipv6")!.value, "on");
  });
});

suite("limits that the operator sets", () => {
  test("keep the platform's own addresses and too many records out", async () => {
    await using limited = await startServer({
      env: {
        SELVEDGE_PLATFORM_NETWORKS: "203.0.113.0/24,2001:db8:ffff::/48",
        SELVEDGE_LIMITS_RECORDS_PER_ZONE: "3",
      },
    });
    const zone = await TestZone.make(limited);
    refused(await zone.call("POST", "", a("own", "203.0.113.9")), 400, 9008, /203\.0\.113\.9/);
    const own = { type: "AAAA", name: "own", content: "2001:DB8:FFFF::1" };
    refused(await zone.call("POST", "", own), 400, 9008);
    await zone.create(txt("own", "203.0.113.9"));
    const one = await zone.create(a("a"));
    await zone.create(a("b"));
    const full = "Record quota exceeded.";
    refused(await zone.call("POST", "", a("c")), 400, 81_045, full);
    refused(await zone.call("PATCH", `/${one.id}`, { content: "203.0.113.1" }), 400, 9008);
    const posts = [a("c"), a("d")];
    const batch = { deletes: [{ id: one.id }], posts };
    refused(await zone.call("POST", "/batch", batch), 400, 81_045, full);
    succeeded(await zone.call("POST", "/batch", { ...batch, posts: [a("c")] }));
    assert.equal((await zone.all()).length, 3);
    refused(await zone.import(`z.${zone.name}. 60 IN A 192.0.2.1\n`), 400, 81_045, full);
    const usage = await zone.call("GET", "/usage");
    assert.deepEqual(usage.result, { record_quota: 3, record_usage: 3 });
  });
});
