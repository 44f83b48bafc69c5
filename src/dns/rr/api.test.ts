/** What the API takes and shows for each type. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { plainText } from "../character-strings.ts";
import type { RecordInput, ShownRecord } from "../api.ts";
import type { RecordFaultKind } from "../fault.ts";
import { recordType, recordTypes } from "./index.ts";

function shown(type: string, input: RecordInput): ShownRecord {
  const { api } = recordType(type)!;
  return api.show(api.accept(input));
}

/** From the table of types in the API's reference: what is sent, and what comes back. */
const ROWS: [type: string, input: RecordInput, shown: ShownRecord][] = [
  ["A", { content: "192.0.2.1" }, { content: "192.0.2.1" }],
  ["AAAA", { content: "fe80::0:0:1" }, { content: "fe80::1" }],
  ["CNAME", { content: "Target.example.com." }, { content: "target.example.com" }],
  [
    "MX",
    { content: "mail.example.com.", priority: 10 },
    { content: "mail.example.com", priority: 10 },
  ],
  ["MX", { content: ".", priority: 0 }, { content: ".", priority: 0 }],
  ["MX", { content: "m.example", data: { priority: "5" } }, { content: "m.example", priority: 5 }],
  ["NS", { content: "ns1.example.com." }, { content: "ns1.example.com" }],
  ["PTR", { content: "host.example.com." }, { content: "host.example.com" }],
  ["TXT", { content: "hello world" }, { content: '"hello world"' }],
  ["OPENPGPKEY", { content: "mQIN BFit" }, { content: "mQINBFit" }],
  [
    "SRV",
    { data: { priority: 10, weight: 60, port: 5060, target: "sip.example.com." } },
    {
      content: "60 5060 sip.example.com",
      priority: 10,
      data: { priority: 10, weight: 60, port: 5060, target: "sip.example.com" },
    },
  ],
  [
    "SRV",
    { data: { port: 443, target: ".", service: "_x", proto: "_tcp", name: "example.com." } },
    { content: "0 443 .", priority: 0, data: { priority: 0, weight: 0, port: 443, target: "." } },
  ],
  [
    "SRV",
    { content: "60 5060 sip.example.com", priority: 10 },
    {
      content: "60 5060 sip.example.com",
      priority: 10,
      data: { priority: 10, weight: 60, port: 5060, target: "sip.example.com" },
    },
  ],
  [
    "SRV",
    { content: "10 60 5060 sip.example.com.", priority: 0 },
    {
      content: "60 5060 sip.example.com",
      priority: 10,
      data: { priority: 10, weight: 60, port: 5060, target: "sip.example.com" },
    },
  ],
  [
    "SRV", // dnscontrol: the target as content, and a priority of 0 beside it.
    {
      content: "a.example",
      priority: 0,
      data: { priority: 1, weight: 2, port: 3, target: "b.example" },
    },
    {
      content: "2 3 b.example",
      priority: 1,
      data: { priority: 1, weight: 2, port: 3, target: "b.example" },
    },
  ],
  [
    "CAA",
    { data: { flags: 0, tag: "issue", value: "letsencrypt.org" } },
    {
      content: '0 issue "letsencrypt.org"',
      data: { flags: 0, tag: "issue", value: "letsencrypt.org" },
    },
  ],
  [
    "CERT",
    { data: { type: 1, key_tag: 2, algorithm: 8, certificate: "MIIB" } },
    { content: "1 2 8 MIIB", data: { type: 1, key_tag: 2, algorithm: 8, certificate: "MIIB" } },
  ],
  [
    "DNSKEY",
    { data: { flags: 257, protocol: 3, algorithm: 13, public_key: "mdss" } },
    {
      content: "257 3 13 mdss",
      data: { flags: 257, protocol: 3, algorithm: 13, public_key: "mdss" },
    },
  ],
  [
    "DS",
    {
      data: {
        key_tag: 60485,
        algorithm: 5,
        digest_type: 1,
        digest: "2BB183AF5F22588179A53B0A98631FAD1A292118",
      },
    },
    {
      content: "60485 5 1 2bb183af5f22588179a53b0a98631fad1a292118",
      data: {
        key_tag: 60485,
        algorithm: 5,
        digest_type: 1,
        digest: "2bb183af5f22588179a53b0a98631fad1a292118",
      },
    },
  ],
  [
    "HTTPS", // octoDNS sends the value with a space in front.
    { data: { priority: 1, target: ".", value: ' alpn="h3,h2" ipv4hint="127.0.0.1"' } },
    {
      content: '1 . alpn="h3,h2" ipv4hint="127.0.0.1"',
      data: { priority: 1, target: ".", value: 'alpn="h3,h2" ipv4hint="127.0.0.1"' },
    },
  ],
  [
    "SVCB",
    { data: { priority: 0, target: "foo.", value: "" } },
    { content: "0 foo.", data: { priority: 0, target: "foo.", value: "" } },
  ],
  [
    "LOC",
    {
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
    },
    {
      content: "37 46 46.000 N 122 23 35.000 W 0.00 100.00 0.00 0.00",
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
    },
  ],
  [
    "NAPTR",
    {
      data: {
        order: 100,
        preference: 10,
        flags: "u",
        service: "E2U+sip",
        regex: "!^.*$!sip:a@b!",
        replacement: ".",
      },
    },
    {
      content: '100 10 "u" "E2U+sip" "!^.*$!sip:a@b!" .',
      data: {
        order: 100,
        preference: 10,
        flags: "u",
        service: "E2U+sip",
        regex: "!^.*$!sip:a@b!",
        replacement: ".",
      },
    },
  ],
  ...["SMIMEA", "TLSA"].map((type): [string, RecordInput, ShownRecord] => [
    type,
    { data: { usage: 3, selector: 0, matching_type: 0, certificate: "30 82" } },
    {
      content: "3 0 0 3082",
      data: { usage: 3, selector: 0, matching_type: 0, certificate: "3082" },
    },
  ]),
  [
    "SSHFP",
    { data: { algorithm: 2, type: 1, fingerprint: "123456789abcdef67890123456789abcdef67890" } },
    {
      content: "2 1 123456789abcdef67890123456789abcdef67890",
      data: { algorithm: 2, type: 1, fingerprint: "123456789abcdef67890123456789abcdef67890" },
    },
  ],
  [
    "URI",
    { priority: 10, data: { weight: 1, target: "https://example.com/a" } },
    {
      content: '1 "https://example.com/a"',
      priority: 10,
      data: { weight: 1, target: "https://example.com/a" },
    },
  ],
  [
    "SPF",
    { content: "v=spf1 include:_spf.example.com -all" },
    {
      content: '"v=spf1 include:_spf.example.com -all"',
      data: { version: "spf1", terms: ["include:_spf.example.com", "-all"] },
    },
  ],
  [
    "SPF",
    { data: { terms: ["mx", "-all"] } },
    { content: '"v=spf1 mx -all"', data: { version: "spf1", terms: ["mx", "-all"] } },
  ],
  [
    "DKIM",
    { data: { p: "AAAA", k: "rsa" } },
    { content: '"v=DKIM1; k=rsa; p=AAAA"', data: { v: "DKIM1", k: "rsa", p: "AAAA" } },
  ],
  [
    "DMARC",
    { data: { p: "reject", pct: 50, rua: "mailto:a@example.com" } },
    {
      content: '"v=DMARC1; p=reject; pct=50; rua=mailto:a@example.com"',
      data: { v: "DMARC1", p: "reject", pct: 50, rua: "mailto:a@example.com" },
    },
  ],
];

for (const [type, input, expected] of ROWS) {
  test(`${type} is shown as the API shows it: ${expected.content}`, () => {
    assert.deepEqual(shown(type, input), expected);
  });
}

test("every type has a row, but those that the API does not have", () => {
  const missing = [...recordTypes.keys()].filter((type) => !ROWS.some(([row]) => row === type));
  assert.deepEqual(missing, ["SOA", "CDS", "CDNSKEY"]);
});

test("what is shown is accepted again, as content, as data, and with keys of other types", () => {
  for (const [type, , expected] of ROWS) {
    assert.deepEqual(shown(type, expected), expected, type);
    const { content, priority, data } = expected;
    const beside = priority === undefined ? {} : { priority };
    assert.deepEqual(shown(type, { content, ...beside }), expected, `${type} from content`);
    if (data !== undefined) assert.deepEqual(shown(type, { ...beside, data }), expected, type);
    if (type === "CAA") continue;
    const foreign = { tag: "", ...data, matching: 1, nonsense: null };
    assert.deepEqual(
      shown(type, { content, ...beside, data: foreign }),
      expected,
      `${type} foreign`,
    );
  }
});

test("a policy keeps the way it was written until its data changes", () => {
  const content = '"v=DMARC1;p=none;x=" "y"';
  const expected = { content, data: { v: "DMARC1", p: "none", other: { x: "y" } } };
  assert.deepEqual(shown("DMARC", { content }), expected);
  assert.deepEqual(shown("DMARC", expected), expected);
  const { content: rewritten } = shown("DMARC", { content, data: { ...expected.data, pct: 5 } });
  assert.equal(rewritten, '"v=DMARC1; p=none; pct=5; x=y"');
});

test("a change of a part keeps the rest", () => {
  const cases: [type: string, before: RecordInput, change: RecordInput, content: string][] = [
    ["HTTPS", { content: '1 . alpn="h2"' }, { data: { value: 'alpn="h3"' } }, '1 . alpn="h3"'],
    ["SRV", { content: "1 2 3 a.example" }, { data: { port: 9 } }, "2 9 a.example"],
    ["SRV", { content: "1 2 3 a.example" }, { content: "5 6 b.example" }, "5 6 b.example"],
    ["CAA", { content: '0 issue "a"' }, { data: { value: "b" } }, '0 issue "b"'],
    [
      "LOC",
      { content: "1 N 2 E 3" },
      { data: { altitude: 4 } },
      "1 0 0.000 N 2 0 0.000 E 4.00 1.00 10000.00 10.00",
    ],
    [
      "DMARC",
      { content: "v=DMARC1; p=none; x=y" },
      { data: { p: "reject" } },
      '"v=DMARC1; p=reject; x=y"',
    ],
    [
      "DMARC",
      { content: "v=DMARC1; p=none; pct=5" },
      { data: { pct: null } },
      '"v=DMARC1; p=none"',
    ],
    ["DKIM", { content: "v=DKIM1; p=AAAA" }, { data: { t: "y" } }, '"v=DKIM1; t=y; p=AAAA"'],
    ["A", { content: "192.0.2.1" }, {}, "192.0.2.1"],
    ["A", { content: "192.0.2.1" }, { content: "192.0.2.2", data: { tag: "" } }, "192.0.2.2"],
    ["URI", { content: '1 "a:b"', priority: 3 }, { data: { target: "c:d" } }, '1 "c:d"'],
  ];
  for (const [type, before, change, content] of cases) {
    const { api } = recordType(type)!;
    assert.equal(api.show(api.change(api.accept(before), change)).content, content, type);
  }
  for (const [type, content] of [
    ["SRV", "2 3 a.example"],
    ["MX", "a.example"],
    ["URI", '1 "a:b"'],
  ] as const) {
    const { api } = recordType(type)!;
    const before = api.accept({ content, priority: 1 });
    const after = api.show(api.change(before, { priority: 7 }));
    assert.equal(after.priority, 7, type);
    assert.equal(after.content, content, type);
  }
});

suite("a refusal names its kind and its field", () => {
  const cases: [type: string, input: RecordInput, kind: RecordFaultKind, ...fields: string[]][] = [
    ["A", { content: "10.0.0.256" }, "bad-address-v4", "content"],
    ["A", {}, "missing-field", "content"],
    ["AAAA", { content: "192.0.2.1" }, "bad-address-v6", "content"],
    ["CNAME", { content: "not a name" }, "bad-target", "content"],
    ["CNAME", { content: "192.0.2.1" }, "bad-target", "target"],
    ["CNAME", { content: "" }, "bad-target", "content"],
    ["MX", { content: "mail.example.com" }, "missing-field", "priority"],
    ["MX", { content: "10 mail.example.com", priority: 10 }, "bad-target", "content"],
    ["MX", { content: "mail.example.com", priority: 65536 }, "bad-field", "priority"],
    ["MX", { content: "192.0.2.1", priority: 1 }, "bad-target", "exchange"],
    ["SRV", { data: { weight: 1 } }, "missing-data-field", "port", "target"],
    ["SRV", { data: { tag: "" } }, "missing-data-field", "port", "target"],
    ["SRV", { data: { port: 1.5, target: "a" } }, "bad-field", "port"],
    ["SRV", { data: { port: true, target: "a" } }, "bad-field", "port"],
    ["CAA", { data: { tag: "issue", value: "x" } }, "missing-data-field", "flags"],
    ["CAA", { data: { flags: 300, tag: "issue", value: "x" } }, "bad-field", "flags"],
    ["URI", { data: { weight: 1, target: "a:b" } }, "missing-field", "priority"],
    ["TXT", { content: "" }, "bad-text", "content"],
    ["TXT", { content: '""' }, "bad-text", "content"],
    ["TXT", { content: '"this' }, "bad-text", "content"],
    ["TXT", { content: '"a" b"' }, "bad-text", "content"],
    ["TXT", { content: '"a" b' }, "bad-text", "content"],
    ["TXT", { content: 'say "hi"' }, "bad-text", "content"],
    ["TXT", { content: "x".repeat(65_536) }, "too-long"],
    ["HTTPS", { data: { priority: 0, target: "a.", value: "alpn=h2" } }, "bad-field", "value"],
    ["SPF", { content: "v=spf1 bogus" }, "bad-field", "terms"],
    ["SPF", { data: { version: "spf1" } }, "missing-data-field", "terms"],
    ["DMARC", { data: { pct: 5 } }, "missing-data-field", "p"],
    ["DKIM", { data: { k: "rsa" } }, "missing-data-field", "p"],
    ["DKIM", { data: { p: "A; x=y" } }, "bad-field", "p"],
    [
      "LOC",
      { data: { lat_degrees: 1 } },
      "missing-data-field",
      "lat_direction",
      "long_degrees",
      "long_direction",
    ],
    ["SVCB", { content: "1 a:b" }, "bad-target", "target"],
    ["SRV", { content: "1 2 a@b" }, "bad-target", "target"],
    ["DS", { content: "1 2" }, "missing-field", "digest_type"],
  ];
  for (const [type, input, kind, ...fields] of cases) {
    test(`${type} ${JSON.stringify(input).slice(0, 80)}`, () => {
      assert.throws(() => recordType(type)!.api.accept(input), {
        name: "RecordFault",
        kind,
        fields,
      });
    });
  }
});

suite("TXT", () => {
  test("text without quotes gets them, and is cut at 255 octets, not characters", () => {
    assert.equal(shown("TXT", { content: "v=spf1; a\\b" }).content, '"v=spf1; a\\\\b"');
    const long = shown("TXT", { content: "x".repeat(300) }).content;
    assert.equal(long, `"${"x".repeat(255)}" "${"x".repeat(45)}"`);
    const { strings } = recordType("TXT")!.api.accept({ content: "ä".repeat(200) }) as {
      strings: Uint8Array[];
    };
    assert.deepEqual(
      strings.map((string) => string.length),
      [255, 145],
    );
  });

  test("text in quotes is returned as it was sent", () => {
    for (const content of [
      '"a" "b"',
      '"a\\"b\\\\"',
      '"ä"',
      '"\\000\\255"',
      '"a;b (c)"',
      '"" "a"',
    ]) {
      assert.equal(shown("TXT", { content }).content, content);
    }
  });

  test("plainText is the same however the text is quoted", () => {
    for (const same of ["abc def", '"abc def"', '"abc" " def"', '"\\097bc def"']) {
      assert.equal(plainText(same), "abc def");
    }
    assert.equal(plainText('"this'), '"this');
    assert.equal(plainText('say "hi"'), 'say "hi"');
    const text = 'a"b\\c;ä';
    assert.equal(plainText('"a\\"b\\\\c;ä"'), text);
    const long = "ä".repeat(200);
    assert.equal(plainText(shown("TXT", { content: long }).content), long);
  });
});

test("only A, AAAA and CNAME can be proxied", () => {
  const proxiable = [...recordTypes.values()]
    .filter((type) => type.proxiable)
    .map((type) => type.type);
  assert.deepEqual(proxiable, ["A", "AAAA", "CNAME"]);
});

test("names that lead on to addresses are told", () => {
  const additional = (name: string, text: string) => {
    const type = recordType(name)!;
    return type.additional(type.parse(text));
  };
  assert.deepEqual(additional("MX", "10 a."), ["a."]);
  assert.deepEqual(additional("MX", "0 ."), []);
  assert.deepEqual(additional("SRV", "1 2 3 a."), ["a."]);
  assert.deepEqual(additional("NS", "a."), ["a."]);
  assert.deepEqual(additional("HTTPS", "1 a."), ["a."]);
  assert.deepEqual(additional("HTTPS", "1 ."), []);
  assert.deepEqual(additional("CNAME", "a."), []);
});

test("the canonical form folds the names of old types, and only theirs", () => {
  const canonical = (name: string, text: string) => {
    const type = recordType(name)!;
    return Buffer.from(type.encode(type.parse(text), { canonical: true }))
      .toString("latin1")
      .replaceAll("\u0007", ".");
  };
  assert.match(canonical("MX", "10 Mail.Example."), /mail\.example/);
  assert.match(canonical("SRV", "1 2 3 Mail.Example."), /mail\.example/);
  assert.match(canonical("HTTPS", "1 Mail.Example."), /Mail\.Example/);
});
