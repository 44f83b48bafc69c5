import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { JsonFault, type JsonFaultKind, parseJsonInput } from "./json-input.ts";

const parse = (text: string) => parseJsonInput(Buffer.from(text));
const refuses = (bytes: Uint8Array, kind: JsonFaultKind) =>
  assert.throws(
    () => parseJsonInput(bytes),
    (error) => error instanceof JsonFault && error.kind === kind,
  );

test("JSON within the limits is given back as it was", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 20, stringUnit: "grapheme" }), (text) => {
      if (text.includes("\\u0000")) return;
      assert.deepEqual(parse(text), JSON.parse(text));
    }),
  );
});

test("text that is not JSON, or not UTF-8, is malformed", () => {
  for (const text of ["", "{", "nul", "{'a':1}", "[1,]", '"\u0001"'])
    refuses(Buffer.from(text), "malformed");
  refuses(Uint8Array.of(0x22, 0xff, 0x22), "malformed");
  refuses(Uint8Array.of(0x22, 0xc0, 0x80, 0x22), "malformed");
});

test("nesting is refused past the limit, however deep, without a stack running over", () => {
  parse("[".repeat(64) + "]".repeat(64));
  for (const depth of [65, 1_000, 100_000]) {
    refuses(Buffer.from("[".repeat(depth) + "]".repeat(depth)), "too-deep");
    refuses(Buffer.from('{"a":'.repeat(depth) + "1" + "}".repeat(depth)), "too-deep");
  }
});

test("NUL and half surrogate pairs are refused in values and in keys, with their place", () => {
  refuses(Buffer.from('{"a":["\\u0000"]}'), "bad-text");
  refuses(Buffer.from('{"a\\u0000":1}'), "bad-text");
  assert.throws(
    () => parse('{"a":[1,"\\ud800"]}'),
    /value at \/a\/1 contains half of a surrogate pair/,
  );
  assert.equal(parse('"\\ud83d\\ude00"'), "😀");
});

test("random bytes parse or fault, and nothing else", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      try {
        parseJsonInput(bytes);
      } catch (error) {
        assert.ok(error instanceof JsonFault);
      }
    }),
  );
});
