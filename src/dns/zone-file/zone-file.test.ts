import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { assertQuick, msOf } from "../../../test/support/patience.ts";
import { recordType } from "../rr/index.ts";
import { MAX_GENERATED_RECORDS } from "./generate.ts";
import { parseZoneFile, type ZoneErrorKind } from "./parse.ts";
import { printRecordLine } from "./print.ts";
import { parseTrailer, printTrailer } from "./trailer.ts";

const origin = "example.com.";

/** The records of a file that must be without errors, as `owner ttl type data`. */
function read(file: string): string[] {
  const { records, errors } = parseZoneFile(file, { origin });
  assert.deepEqual(errors, []);
  return records.map(({ owner, ttl, type, data }) => {
    return `${owner} ${ttl} ${type} ${recordType(type)!.print(data)}`;
  });
}

function errorsOf(file: string): { line: number; kind: ZoneErrorKind; reason: string }[] {
  return parseZoneFile(file, { origin }).errors.map(({ line, kind, reason }) => ({
    line,
    kind,
    reason,
  }));
}

suite("a line", () => {
  test("has owner, TTL and class in either order, and a type in any case", () => {
    assert.deepEqual(read("www 300 IN A 192.0.2.1\nwww in 5m aaaa ::1\nwww A 192.0.2.2\n"), [
      "www.example.com. 300 A 192.0.2.1",
      "www.example.com. 300 AAAA ::1",
      "www.example.com. 300 A 192.0.2.2",
    ]);
  });

  test("that begins with white space has the owner before it", () => {
    assert.deepEqual(read("$TTL 1\na A 192.0.2.1\n  TXT x\n\tTXT y\n"), [
      "a.example.com. 1 A 192.0.2.1",
      'a.example.com. 1 TXT "x"',
      'a.example.com. 1 TXT "y"',
    ]);
    assert.equal(errorsOf("  A 192.0.2.1")[0]?.kind, "no-owner");
  });

  test("may have an owner that is named like a type, a class or a TTL", () => {
    assert.deepEqual(read("$TTL 1\nmx A 192.0.2.1\nIN A 192.0.2.1\n300 A 192.0.2.1\n"), [
      "mx.example.com. 1 A 192.0.2.1",
      "IN.example.com. 1 A 192.0.2.1",
      "300.example.com. 1 A 192.0.2.1",
    ]);
  });
});

suite("names", () => {
  test("@ is the origin, as owner and in data; \\@ is itself", () => {
    assert.deepEqual(read("$TTL 1\n@ MX 1 @\n\\@ CNAME a\n"), [
      "example.com. 1 MX 1 example.com.",
      "\\@.example.com. 1 CNAME a.example.com.",
    ]);
  });

  test("are relative to $ORIGIN, which is relative to the one before", () => {
    assert.deepEqual(
      read(
        "$TTL 1\n$ORIGIN sub\na CNAME b\n$ORIGIN deep\na CNAME b.\n$ORIGIN example.com.\n@ NS ns\n",
      ),
      [
        "a.sub.example.com. 1 CNAME b.sub.example.com.",
        "a.deep.sub.example.com. 1 CNAME b.",
        "example.com. 1 NS ns.example.com.",
      ],
    );
  });

  test("that become too long are errors", () => {
    const long = `${"a".repeat(63)}.`.repeat(3) + "b".repeat(60);
    assert.deepEqual(
      errorsOf(`${long} A 192.0.2.1`).map(({ line, kind }) => ({ line, kind })),
      [{ line: 1, kind: "bad-name" }],
    );
    assert.equal(errorsOf(`a CNAME ${long}`)[0]?.kind, "bad-target");
  });

  test("of records outside of the zone are errors", () => {
    assert.deepEqual(errorsOf("example.net. A 192.0.2.1\n"), [
      { line: 1, kind: "out-of-zone", reason: '"example.net." is not in the zone "example.com."' },
    ]);
  });

  test("of a bad owner do not give its later records to the owner before", () => {
    const { records, errors } = parseZoneFile("a A 192.0.2.1\nb..c A 192.0.2.2\n  A 192.0.2.3\n", {
      origin,
    });
    assert.equal(records.length, 1);
    assert.deepEqual(
      errors.map(({ kind }) => kind),
      ["bad-name", "no-owner"],
    );
  });
});

suite("TTLs", () => {
  test("come from the line, $TTL, the last line that had one, the SOA's minimum, or nowhere", () => {
    const soa = "@ SOA ns host 1 2h 1h 2w 10m\n";
    assert.deepEqual(
      read(`${soa}a A 192.0.2.1\na 60 A 192.0.2.2\na A 192.0.2.3\n$TTL 1d\na A 192.0.2.4\n`),
      [
        "example.com. 600 SOA ns.example.com. host.example.com. 1 7200 3600 1209600 600",
        "a.example.com. 600 A 192.0.2.1",
        "a.example.com. 60 A 192.0.2.2",
        "a.example.com. 60 A 192.0.2.3",
        "a.example.com. 86400 A 192.0.2.4",
      ],
    );
    assert.deepEqual(read("a A 192.0.2.1"), ["a.example.com. null A 192.0.2.1"]);
  });

  test("may have units in any mix, and are at most 2^31 - 1", () => {
    assert.deepEqual(
      read("a 1h30m A 192.0.2.1\na 1W2D3H4M5S A 192.0.2.2\na 2147483647 A 192.0.2.3\n"),
      [
        "a.example.com. 5400 A 192.0.2.1",
        `a.example.com. ${604_800 + 2 * 86_400 + 3 * 3600 + 4 * 60 + 5} A 192.0.2.2`,
        "a.example.com. 2147483647 A 192.0.2.3",
      ],
    );
    for (const bad of ["2147483648", "1x", "9999w", "1h30"]) {
      assert.equal(errorsOf(`a ${bad} A 192.0.2.1`)[0]?.kind, "bad-ttl", bad);
      assert.equal(errorsOf(`$TTL ${bad}`)[0]?.kind, "bad-ttl", bad);
    }
  });
});

suite("directives", () => {
  test("$INCLUDE is refused, and so is what nobody knows", () => {
    assert.deepEqual(errorsOf("\n$INCLUDE /etc/passwd\n$FOO\n$TTL\n$ORIGIN a b\n"), [
      { line: 2, kind: "bad-directive", reason: "$INCLUDE directive not allowed" },
      { line: 3, kind: "bad-directive", reason: '"$FOO" is not a known directive' },
      { line: 4, kind: "bad-directive", reason: "$TTL takes one argument, not 0" },
      { line: 5, kind: "bad-directive", reason: "$ORIGIN takes one argument, not 2" },
    ]);
  });

  test("$GENERATE makes a record for each value", () => {
    assert.deepEqual(read("$TTL 1\n$GENERATE 1-5/2 h-$ A 192.0.2.$\n"), [
      "h-1.example.com. 1 A 192.0.2.1",
      "h-3.example.com. 1 A 192.0.2.3",
      "h-5.example.com. 1 A 192.0.2.5",
    ]);
    assert.deepEqual(
      read("$GENERATE 15-15 ${1,4,x}.$$\\$ 60 IN CNAME ${-5}.${0,3}.${0,0,X}.${0,3,n}\n"),
      ["0010.\\$\\$.example.com. 60 CNAME 10.015.F.f.0.example.com."],
    );
    assert.deepEqual(read('$TTL 1\n$GENERATE 7-7 @ TXT "n $"\n'), ['example.com. 1 TXT "n 7"']);
  });

  test("$GENERATE has a limit for the whole file, and stops at its first error", () => {
    const most = `$GENERATE 1-${MAX_GENERATED_RECORDS} h$ 1 TXT x\n`;
    const { records, errors } = parseZoneFile(`${most}$GENERATE 1-1 x 1 TXT x\n`, { origin });
    assert.equal(records.length, MAX_GENERATED_RECORDS);
    assert.deepEqual(
      errors.map(({ line, kind }) => ({ line, kind })),
      [{ line: 2, kind: "too-long" }],
    );
    assert.equal(errorsOf("$GENERATE 0-4294967295 h$ A 192.0.2.1")[0]?.kind, "too-long");
    assert.equal(errorsOf(`$GENERATE 1-60000 h$ TXT ${"x".repeat(1000)}`)[0]?.kind, "too-long");
    assert.equal(errorsOf("$GENERATE 255-300 h$ A 192.0.2.$").length, 1);
    for (const bad of [
      "5-1 a A 1",
      "x a A 1",
      "1-2/0 a A 1",
      "1-2",
      "1-2 a${x} A 1",
      "1-2 a${-9} A 1",
    ]) {
      assert.equal(errorsOf(`$GENERATE ${bad}`).length, 1, bad);
    }
  });
});

suite("text", () => {
  test("the class is IN or left out", () => {
    assert.deepEqual(
      errorsOf("a CH TXT x\na CLASS3 TXT x\na HS TXT x\n").map(({ kind }) => kind),
      ["bad-class", "bad-class", "bad-class"],
    );
    assert.equal(read("a CLASS1 TXT x").length, 1);
  });

  test("parentheses join lines, comments inside them are passed over", () => {
    const soa =
      '@ 1 IN SOA ns host ( 1 ; serial (\n 2 ; refresh\n 3\n4 5 ) ; last\nb 1 TXT ("a" "b")\n';
    const { records, errors } = parseZoneFile(soa, { origin });
    assert.deepEqual(errors, []);
    assert.deepEqual(
      records.map(({ line, comment }) => ({ line, comment })),
      [
        { line: 1, comment: "last" },
        { line: 5, comment: null },
      ],
    );
  });

  test("what is not closed is an error at the line where it was opened", () => {
    assert.deepEqual(errorsOf("a 1 A 192.0.2.1\nb 1 TXT (\nx\n"), [
      { line: 2, kind: "bad-text", reason: "A parenthesis is not closed" },
    ]);
    assert.deepEqual(errorsOf('\n\nb 1 TXT "x\ny\n'), [
      { line: 3, kind: "bad-text", reason: "A quoted string is not closed" },
    ]);
    const { records, errors } = parseZoneFile("a 1 TXT )\nb 1 TXT y\n", { origin });
    assert.deepEqual([records.length, errors.length, errors[0]?.line], [1, 1, 1]);
    const alone = parseZoneFile("a 1 TXT x\n)\nb 1 TXT y\n", { origin });
    assert.deepEqual([alone.records.length, alone.errors.length, alone.errors[0]?.line], [2, 1, 2]);
  });

  test("quoted strings may span lines, and hold what is special outside", () => {
    assert.deepEqual(read('a 1 TXT "x\ny" "; ( )"\nb 1 TXT z'), [
      'a.example.com. 1 TXT "x\\010y" "; ( )"',
      'b.example.com. 1 TXT "z"',
    ]);
    assert.equal(parseZoneFile('a 1 TXT "x\ny"\nb 1 TXT z', { origin }).records[1]?.line, 3);
  });

  test("CRLF, a BOM, tabs and a last line without an end are accepted", () => {
    assert.deepEqual(
      read("\uFEFFa\t1\tIN\tA\t192.0.2.1\r\n\r\n; note\r\nb 1 TXT x ; c\r\nc 1 TXT y"),
      ["a.example.com. 1 A 192.0.2.1", 'b.example.com. 1 TXT "x"', 'c.example.com. 1 TXT "y"'],
    );
    assert.equal(parseZoneFile("b 1 TXT x ; c\r\n", { origin }).records[0]?.comment, "c");
  });

  test("a file in bytes is UTF-8, or else keeps its octets", () => {
    const file = (encoding: BufferEncoding) => Buffer.from('a 1 TXT "ä"', encoding);
    const print = (bytes: Uint8Array) => {
      const [record] = parseZoneFile(bytes, { origin }).records;
      return recordType("TXT")!.print(record!.data);
    };
    assert.equal(print(file("utf8")), '"\\195\\164"');
    assert.equal(print(file("latin1")), '"\\228"');
  });

  test("a TXT string of more than 255 octets is cut", () => {
    assert.deepEqual(read(`a 1 TXT "${"x".repeat(256)}"`), [
      `a.example.com. 1 TXT "${"x".repeat(255)}" "x"`,
    ]);
  });

  test("unknown types travel in the form of RFC 3597", () => {
    assert.deepEqual(
      read("a 1 TYPE731 \\# 3 ab cdef\na 1 TYPE1 \\# 4 c0000201\na 1 A \\# 4 c0000202\n"),
      [
        "a.example.com. 1 TYPE731 \\# 3 abcdef",
        "a.example.com. 1 A 192.0.2.1",
        "a.example.com. 1 A 192.0.2.2",
      ],
    );
  });
});

test("errors are collected with line, type, text and reason, and the rest is read", () => {
  const file = [
    "a 1 A 10.0.0.256",
    "a 1 A 192.0.2.1",
    "a 1 RRSIG A 8 2 1 2 3 4 example.com. AAAA",
    "a 1 MX mail",
    "a 1",
    'a 1 "A" 192.0.2.1',
    "b 1 A 192.0.2.2",
  ].join("\n");
  const { records, errors } = parseZoneFile(file, { origin });
  assert.equal(records.length, 2);
  assert.deepEqual(
    errors.map(({ line, kind, type }) => ({ line, kind, type })),
    [
      { line: 1, kind: "bad-address-v4", type: "A" },
      { line: 3, kind: "bad-type", type: "RRSIG" },
      { line: 4, kind: "bad-field", type: "MX" },
      { line: 5, kind: "missing-field", type: null },
      { line: 6, kind: "bad-type", type: "A" },
    ],
  );
  assert.equal(errors[0]?.reason, '"10.0.0.256" is not an IPv4 address');
  assert.equal(errors[0]?.text, "a 1 A 10.0.0.256");
});

test("a printed record is one line that reads back the same", () => {
  const file =
    'a 1 MX 10 mail\n@ 300 TXT "a;b" "c"\nb 60 SPF "v=spf1 -all"\nc 1 HTTPS 1 . alpn=h2\n';
  const { records } = parseZoneFile(file, { origin });
  const lines = records.map((record) => printRecordLine({ ...record, ttl: record.ttl! }));
  assert.deepEqual(lines, [
    "a.example.com.\t1\tIN\tMX\t10 mail.example.com.",
    'example.com.\t300\tIN\tTXT\t"a;b" "c"',
    'b.example.com.\t60\tIN\tTXT\t"v=spf1 -all"',
    'c.example.com.\t1\tIN\tHTTPS\t1 . alpn="h2"',
  ]);
  const again = parseZoneFile(lines.join("\n"), { origin: "." }).records;
  assert.deepEqual(
    again.map((record) => printRecordLine({ ...record, ttl: record.ttl! })),
    lines,
  );
});

suite("trailers of Cloudflare's exports", () => {
  test("are read: comment, tags, settings", () => {
    const line =
      'a 1 IN A 192.0.2.1 ; web server cf_tags=cf-proxied:true,team:"a,b",solo,empty:,none:""';
    const [record] = parseZoneFile(line, { origin }).records;
    assert.deepEqual(parseTrailer(record!.comment), {
      comment: "web server",
      tags: [
        { name: "cf-proxied", value: "true" },
        { name: "team", value: "a,b" },
        { name: "solo", value: "" },
        { name: "empty", value: "" },
        { name: "none", value: "" },
      ],
    });
    assert.deepEqual(parseTrailer("cf_tags=cf-flatten-cname"), {
      comment: null,
      tags: [{ name: "cf-flatten-cname", value: "" }],
    });
    assert.deepEqual(parseTrailer("just words"), { comment: "just words", tags: [] });
    assert.deepEqual(parseTrailer("x cf_tags=not a list!"), {
      comment: "x cf_tags=not a list!",
      tags: [],
    });
    assert.deepEqual(parseTrailer(null), { comment: null, tags: [] });
  });

  test("are printed so that they read back", () => {
    const line = printRecordLine(
      { owner: "a.example.com.", ttl: 1, type: "A", data: { address: "192.0.2.1" } },
      { comment: "see cf_tags=x", tags: [] },
    );
    assert.equal(line, "a.example.com.\t1\tIN\tA\t192.0.2.1 ; see cf_tags=x cf_tags=");
    const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,32}$/);
    const value = fc
      .oneof(
        fc.string({ maxLength: 20 }),
        fc.constantFrom("cf_tags=a", 'x cf_tags=a:"', "a b", "=", "\\"),
      )
      .filter((text) => !/[\r\n]/.test(text));
    const comment = fc
      .oneof(fc.string({ maxLength: 30 }), fc.constantFrom("a cf_tags=b", "cf_tags=", "; x"))
      .map((text) => text.trim())
      .map((text) => text || null);
    fc.assert(
      fc.property(
        comment,
        fc.array(fc.record({ name, value }, { noNullPrototype: true }), { maxLength: 4 }),
        (comment, tags) => {
          assert.deepEqual(parseTrailer(printTrailer({ comment, tags })), { comment, tags });
        },
      ),
    );
  });
});

test("any text is read without anything thrown, and every error has a line of the file", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "a",
      " ",
      "\n",
      "\t",
      "(",
      ")",
      '"',
      ";",
      "\\",
      "A",
      "TXT",
      "192.0.2.1",
      "$TTL",
      "$ORIGIN",
    ),
    fc.constantFrom(
      "$GENERATE",
      "1-3",
      "IN",
      "300",
      "@",
      "\\#",
      "4",
      "SOA",
      "CAA",
      "$",
      "${0,2,n}",
      "\r\n",
      "MX",
    ),
    fc.string({ unit: "binary", maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
      const file = pieces.join("");
      const lines = file.split("\n").length;
      const { records, errors } = parseZoneFile(file, { origin });
      for (const { line } of [...records, ...errors]) assert.ok(line >= 1 && line <= lines);
    }),
    { numRuns: 2000 },
  );
});

test("100 000 records take time in proportion to their number", async () => {
  const data = [
    "A 192.0.2.1",
    'TXT "hello world" ; c',
    "MX 10 mail",
    "CNAME www.example.net.",
    "AAAA 2001:db8::1",
  ];
  const lines = Array.from({ length: 100_000 }, (_, i) => `host-${i} 300 IN ${data[i % 5]}`);
  const msFor = async (count: number) => {
    const file = lines.slice(0, count).join("\n");
    return msOf(() => assert.equal(parseZoneFile(file, { origin }).records.length, count));
  };
  await msFor(10_000); // For the compiler.
  const few = await msFor(10_000);
  await assertQuick(30 * few, () => msFor(100_000)); // Quadratic reading would take a hundred times.
});
