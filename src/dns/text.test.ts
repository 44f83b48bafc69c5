import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { RecordFault } from "./fault.ts";
import { printQuoted, printQuotedUnicode, tokenize, unescapeText } from "./text.ts";
import { parseTtl } from "./ttl.ts";

test("words, quoted strings and what joins them are told apart", () => {
  assert.deepEqual(tokenize('a "b c" key="d;e" (f)'), [
    { text: "a", quoted: false, joined: false },
    { text: "b c", quoted: true, joined: false },
    { text: "key=", quoted: false, joined: false },
    { text: "d;e", quoted: true, joined: true },
    { text: "f", quoted: false, joined: false },
  ]);
  assert.deepEqual(tokenize("  "), []);
});

test("escapes stay in the token, and take special characters along", () => {
  const [word] = tokenize(String.raw`a\;b\ c\"d\(`);
  assert.equal(word?.text, String.raw`a\;b\ c\"d\(`);
  assert.equal(Buffer.from(unescapeText(word.text)).toString(), 'a;b c"d(');
});

test("a comment, a second line and what does not pair up are refused", () => {
  for (const bad of ["a ; b", "a\nb", '"a', "(a", "a)", ")", 'a "b']) {
    assert.throws(() => tokenize(bad), RecordFault, bad);
  }
});

test("octets survive both ways of printing", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.uint8Array(),
        fc.string({ unit: "binary" }).map((text) => Buffer.from(text)),
      ),
      (octets) => {
        for (const print of [printQuoted, printQuotedUnicode]) {
          const tokens = tokenize(print(octets));
          assert.equal(tokens.length, 1);
          assert.deepEqual([...unescapeText(tokens[0]!.text)], [...octets]);
        }
        assert.match(printQuoted(octets), /^[ -~]*$/);
      },
    ),
  );
});

test("any text is cut into tokens or refused", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      try {
        for (const token of tokenize(text)) unescapeText(token.text);
      } catch (error) {
        assert.ok(error instanceof RecordFault, String(error));
      }
    }),
  );
});

test("times have units in any mix", () => {
  assert.equal(parseTtl("3600"), 3600);
  assert.equal(parseTtl("1H30m"), 5400);
  assert.equal(parseTtl("1w1d1h1m1s"), 694_861);
  for (const bad of ["", "h", "1h30", "-1", "1.5h", "1y", " 1"])
    assert.equal(parseTtl(bad), null, bad);
});
