import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { NameFault, type NameFaultKind, WireFault } from "./fault.ts";
import { parseHost } from "./host.ts";
import {
  compareNames,
  isSubdomain,
  parentName,
  parseName,
  printLabel,
  splitLabels,
  wireLength,
  withDot,
  withoutDot,
} from "./name.ts";
import { decodeName, encodeName, WireReader, WireWriter } from "./wire.ts";

const anyName = fc
  .array(fc.uint8Array({ minLength: 1, maxLength: 20 }), { maxLength: 8 })
  .map((labels) => labels.map((label) => `${printLabel(label)}.`).join("") || ".");

test("a name is made absolute, with its escapes in one form", () => {
  const cases: [text: string, name: string][] = [
    ["www", "www.example.com."],
    ["@", "example.com."],
    [".", "."],
    ["\\@", "\\@.example.com."],
    ["www.", "www."],
    ["a\\.b", "a\\.b.example.com."],
    ["a\\046b.", "a\\.b."],
    ["\\119ww.", "www."],
    ["a\\ b.", "a\\032b."],
    ["a\\\\.", "a\\\\."],
    ["a\\\\\\.", "a\\\\\\..example.com."],
    ["ü.", "\\195\\188."],
    ["*.Sub", "*.Sub.example.com."],
  ];
  for (const [text, name] of cases) assert.equal(parseName(text, "example.com."), name, text);
});

test("what is not a name is refused for the right reason", () => {
  const cases: [text: string, kind: NameFaultKind][] = [
    ["", "empty"],
    ["a..b", "empty-label"],
    [".a", "empty-label"],
    ["a".repeat(64), "label-too-long"],
    [`${"a".repeat(63)}.`.repeat(4), "name-too-long"],
    ["a\\", "bad-escape"],
    ["a\\1", "bad-escape"],
    ["a\\12x", "bad-escape"],
    ["a\\256", "bad-escape"],
    ["a b", "bad-character"],
    ['a"b', "bad-character"],
  ];
  for (const [text, kind] of cases) {
    assert.throws(() => parseName(text), { name: "NameFault", kind }, text);
  }
});

test("255 octets are the limit, counted as the wire has them", () => {
  const longest = `${`${"a".repeat(63)}.`.repeat(3)}${"b".repeat(61)}.`;
  assert.equal(wireLength(parseName(longest)), 255);
  assert.throws(() => parseName(`${"a".repeat(63)}.`.repeat(3) + "b".repeat(62)), NameFault);
  const escaped = `${"\\001".repeat(63)}.`.repeat(3); // Long as text, 193 octets as a name.
  assert.equal(wireLength(parseName(escaped)), 193);
  assert.throws(() => parseName(longest.slice(0, -1), "c."), { kind: "name-too-long" });
});

test("labels and parents respect escaped dots", () => {
  assert.deepEqual(splitLabels("a\\.b.c\\\\.d."), ["a\\.b", "c\\\\", "d"]);
  assert.deepEqual(splitLabels("."), []);
  assert.equal(parentName("a\\.b.c."), "c.");
  assert.equal(parentName("c."), ".");
  assert.equal(parentName("."), null);
  assert.equal(withDot("a"), "a.");
  assert.equal(withDot("a\\."), "a\\..");
  assert.equal(withoutDot("a."), "a");
  assert.equal(withoutDot("."), ".");
});

test("a subdomain is told at the borders of labels, in any case", () => {
  assert.ok(isSubdomain("www.Example.com.", "example.COM."));
  assert.ok(isSubdomain("example.com.", "example.com."));
  assert.ok(isSubdomain("com.", "."));
  assert.ok(isSubdomain("a\\\\.example.com.", "example.com."));
  assert.ok(!isSubdomain("notexample.com.", "example.com."));
  assert.ok(!isSubdomain("a\\.example.com.", "example.com."));
  assert.ok(!isSubdomain("com.", "example.com."));
});

test("names sort as RFC 4034 §6.1 shows", () => {
  const sorted = [
    "example.",
    "a.example.",
    "yljkjljk.a.example.",
    "Z.a.example.",
    "zABC.a.EXAMPLE.",
    "z.example.",
    "\\001.z.example.",
    "*.z.example.",
    "\\200.z.example.",
  ];
  assert.deepEqual(sorted.toReversed().sort(compareNames), sorted);
});

test("any name survives the wire", () => {
  fc.assert(
    fc.property(anyName, (name) => {
      const wire = encodeName(name);
      assert.equal(wire.length, wireLength(name));
      assert.deepEqual(decodeName(wire), { name, end: wire.length });
      assert.equal(parseName(name), name);
    }),
  );
});

test("any text is a name or a NameFault", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.string({ unit: "binary" })), (text) => {
      try {
        const name = parseName(text);
        assert.equal(parseName(name), name);
        assert.equal(decodeName(encodeName(name)).name, name);
      } catch (error) {
        assert.ok(error instanceof NameFault, String(error));
      }
    }),
  );
});

suite("compression", () => {
  test("a name points to one written before, and reads back", () => {
    const writer = new WireWriter({ compress: true });
    writer.name("ns1.example.com.", { compress: true });
    writer.name("ns2.example.com.", { compress: true });
    writer.name("example.com.", { compress: true });
    writer.name("example.com."); // As in SRV: never compressed.
    writer.name(".", { compress: true });
    const wire = writer.finish();
    assert.equal(wire.length, 17 + 6 + 2 + 13 + 1);
    const reader = new WireReader(wire);
    const names = Array.from({ length: 5 }, () => reader.name());
    const com = "example.com.";
    assert.deepEqual(names, [`ns1.${com}`, `ns2.${com}`, com, com, "."]);
    assert.equal(reader.left, 0);
  });

  test("a name of another spelling keeps its own", () => {
    const writer = new WireWriter({ compress: true });
    writer.name("Example.com.", { compress: true });
    writer.name("example.com.", { compress: true });
    const reader = new WireReader(writer.finish());
    assert.deepEqual([reader.name(), reader.name()], ["Example.com.", "example.com."]);
  });

  test("no pointer leads beyond its 14 bits", () => {
    const writer = new WireWriter({ compress: true });
    writer.bytes(new Uint8Array(0x3fff));
    writer.name("a.b.", { compress: true }); // Only its first label lies within reach.
    writer.name("b.", { compress: true });
    writer.name("a.b.", { compress: true });
    const reader = new WireReader(writer.finish(), { at: 0x3fff });
    assert.deepEqual([reader.name(), reader.name(), reader.name()], ["a.b.", "b.", "a.b."]);
    assert.equal(reader.at, 0x3fff + 5 + 3 + 2);
  });

  test("loops, forward pointers and cut names are refused", () => {
    for (const hex of ["c000", "c002c000", "03616263", "c0", "4061", "8000", "0161c000", "ff"]) {
      assert.throws(() => decodeName(Buffer.from(hex, "hex")), WireFault, hex);
    }
    // The pointer at 2 leads to 0, whose name runs into that same pointer.
    assert.throws(() => decodeName(Buffer.from("0161c000", "hex"), 2), WireFault);
    const long = Buffer.concat([
      ...Array<Buffer>(5).fill(Buffer.from(`3f${"61".repeat(63)}`, "hex")),
      Buffer.of(0),
    ]);
    assert.throws(() => decodeName(long), WireFault);
  });

  test("any bytes are a name or a WireFault", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), (bytes, at) => {
        try {
          decodeName(bytes, at);
        } catch (error) {
          assert.ok(error instanceof WireFault, String(error));
        }
      }),
    );
  });
});

test("the API's host names may be Unicode, upper case, and without a dot", () => {
  assert.equal(parseHost("WWW.Example.com"), "www.example.com.");
  assert.equal(parseHost("bücher.example."), "xn--bcher-kva.example.");
  assert.equal(parseHost("_x.bücher.example"), "_x.xn--bcher-kva.example.");
  assert.equal(parseHost("１２.example"), "12.example.");
  assert.equal(parseHost(" example.com "), "example.com.");
  for (const bad of [
    "http://example.com",
    "a@example.com",
    "a b",
    "a,b",
    "2001:db8::1",
    "",
    "[::1]",
  ]) {
    assert.throws(() => parseHost(bad), NameFault, bad);
  }
});
