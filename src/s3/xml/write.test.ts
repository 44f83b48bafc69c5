import assert from "node:assert/strict";
import { test } from "node:test";
import { parseXml } from "#kit/xml.ts";
import { bareDocument, isoTime, tag, xmlDocument } from "./write.ts";

test("text comes back from a document, whatever characters it has", () => {
  const text = `<&>"' \t\n\r\u0001\u001F\uFFFE\uFFFFé\u{1F600}]]>`;
  const { children } = parseXml(xmlDocument("Root", tag("Key", text)));
  assert.equal(children[0]?.text, text);
});

test("what XML cannot hold is written as a number", () => {
  assert.equal(tag("Key", "a\u0001\r"), "<Key>a&#x1;&#xD;</Key>");
});

test("what is not there is not written, but what is empty is", () => {
  assert.equal(tag("A", null) + tag("A", undefined), "");
  assert.equal(tag("A", ""), "<A></A>");
  assert.equal(tag("A", 0) + tag("B", false), "<A>0</A><B>false</B>");
});

test("errors have no namespace, all else has S3's", () => {
  assert.match(xmlDocument("A", ""), /<A xmlns="http:\/\/s3\.amazonaws\.com\/doc\/2006-03-01\/">/);
  assert.match(bareDocument("Error", ""), /<Error><\/Error>$/);
});

test("times have milliseconds", () => {
  assert.equal(isoTime(1_763_166_728_077), "2025-11-15T00:32:08.077Z");
});
