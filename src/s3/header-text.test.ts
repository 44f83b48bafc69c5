import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeWords, encodeWords, fromHeader, toHeader } from "./header-text.ts";

test("octets of headers are UTF-8 where they can be, and Latin-1 where not", () => {
  assert.equal(fromHeader("plain"), "plain");
  assert.equal(fromHeader(Buffer.from("é€").toString("latin1")), "é€");
  assert.equal(fromHeader("\xe9"), "é");
});

test("text goes into headers as UTF-8, without what would end them", () => {
  assert.equal(toHeader("a\r\nb"), "a  b");
  assert.equal(toHeader("é"), Buffer.from("é").toString("latin1"));
});

test("encoded words are read in both encodings, joined, and beside plain text", () => {
  assert.equal(decodeWords("=?UTF-8?B?w7w=?="), "ü");
  assert.equal(decodeWords("=?utf-8?q?a_=C3=BC=3F?="), "a ü?");
  assert.equal(decodeWords("=?UTF-8?B?w7w=?= =?UTF-8?B?w7w=?="), "üü");
  assert.equal(decodeWords("x =?UTF-8?Q?=C3=BC?= y"), "x ü y");
  assert.equal(decodeWords("=?iso-8859-1?q?=FC?="), "ü");
});

test("what only looks like an encoded word stays as it is", () => {
  for (const text of ["=?", "=?UTF-8?X?a?=", "=?koi8-r?B?w7w=?=", "=?UTF-8?B?/w==?=", "a=?b"]) {
    assert.equal(decodeWords(text), text);
  }
});

test("every text comes back from its header", () => {
  for (const text of ["", "plain", "ü", " blank ", "a\nb", "=?UTF-8?B?w7w=?=", "\u{1F600}", "\0"]) {
    const header = encodeWords(text);
    assert.match(header, /^[\x20-\x7e]*$/);
    assert.equal(decodeWords(header), text);
  }
});
