import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { childText, escapeXml, parseXml, XmlFault } from "./xml.ts";

test("elements, text, references, CDATA, comments and prefixes are read", () => {
  const root = parseXml(
    '\uFEFF<?xml version="1.0" encoding="UTF-8"?>\r\n<!-- hello -->\n' +
      `<s:List xmlns:s="urn:x" a='1' >\n  <Key>a&amp;b&#60;&#x1F600;&quot;</Key><Empty/><Empty></Empty>\n` +
      "  <Key>x<![CDATA[<&>]]>y<!-- no -->z</Key></s:List>\n<!-- bye -->",
  );
  assert.equal(root.name, "List");
  assert.deepEqual(
    root.children.map(({ name, text }) => [name, text]),
    [
      ["Key", 'a&b<\u{1F600}"'],
      ["Empty", ""],
      ["Empty", ""],
      ["Key", "x<&>yz"],
    ],
  );
  assert.equal(childText(root, "Key"), 'a&b<\u{1F600}"');
  assert.equal(childText(root, "None"), null);
});

suite("a document is refused when", () => {
  const cases: [why: string, source: string][] = [
    ["it is empty", ""],
    ["it is not XML", "Service Unavailable"],
    ["an element is closed by another", "<a><b></a></b>"],
    ["an element is not closed", "<a><b></b>"],
    ["a second root follows", "<a/><b/>"],
    ["text follows the root", "<a/>b"],
    ["it has a DTD", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'],
    ["an entity is unknown", "<a>&nbsp;</a>"],
    ["an ampersand stands alone", "<a>b & c</a>"],
    ["a reference is to no character", "<a>&#xD800;</a>"],
    ["text stands beside elements", "<a>b<c/></a>"],
    ["an attribute is not quoted", "<a b=c/>"],
    ["it has a control character", "<a>\u0001</a>"],
    ["it has a lone surrogate", "<a>\uD800</a>"],
    ["it is nested too deep", "<a>".repeat(33) + "</a>".repeat(33)],
  ];
  for (const [why, source] of cases) {
    test(why, () => assert.throws(() => parseXml(source), XmlFault));
  }
});

test("references may be to control characters and NUL, which S3 has in keys", () => {
  assert.equal(parseXml("<a>&#0;&#x1;&#31;</a>").text, "\0\u0001\u001f");
});

test("what is escaped is read back, but for line ends", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 50 }), (text) => {
      if (/[^\n\t\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u.test(text)) return;
      assert.equal(parseXml(`<a>${escapeXml(text)}</a>`).text, text);
    }),
  );
});

test("any text is read or refused, in time that follows its length", () => {
  const pieces = fc.constantFrom(
    "<a>",
    "</a>",
    "<",
    ">",
    "&",
    ";",
    '"',
    "x",
    " ",
    "<!--",
    "-->",
    "]]>",
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 200 }), (parts) => {
      try {
        parseXml(parts.join(""));
      } catch (error) {
        assert.ok(error instanceof XmlFault);
      }
    }),
  );
  const started = performance.now();
  for (const part of ["<a b='c'", "<!-- -", "<![CDATA[ ]", "&", " ", "<a>"]) {
    assert.throws(() => parseXml(`<a>${part.repeat(100_000)}`), XmlFault);
  }
  assert.ok(performance.now() - started < 5_000, "reading took far too long");
});
