import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ApiError } from "./errors.ts";
import { foldFields } from "./form-fields.ts";

const part = (name: string, text: string) => ({
  name,
  filename: null,
  type: "",
  content: Buffer.from(text),
});

const fold = (...fields: readonly (readonly [name: string, text: string])[]) =>
  foldFields(
    fields.map(([name, text]) => part(name, text)),
    "m",
    ([first]) => first === "typed",
  );

/** As JSON has it: what is folded has no prototype. */
const shown = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test("names are folded into objects and lists", () => {
  const folded = fold(
    ["m[main]", "index.js"],
    ["m[flags][]", "a"],
    ["m[flags][]", "b"],
    ["m[list][][type]", "one"],
    ["m[list][][name]", "A"],
    ["m[list][][deep][of][]", "1"],
    ["m[list][][deep][of][]", "2"],
    ["m[list][][type]", "two"],
    ["m[list][][deep][of][]", "3"],
    ["m[notes][workers/message]", "why"],
    ["other", "x"],
    ["mm[x]", "x"],
  );
  assert.deepEqual(shown(folded), {
    main: "index.js",
    flags: ["a", "b"],
    list: [
      { type: "one", name: "A", deep: { of: ["1", "2"] } },
      { type: "two", deep: { of: ["3"] } },
    ],
    notes: { "workers/message": "why" },
  });
});

test("values are text, and where it is said what they read as", () => {
  for (const [text, value] of [
    ["true", true],
    ["false", false],
    ["0.25", 0.25],
    ["-3", -3],
    ["007", "007"],
    ["1e9", "1e9"],
    ["yes", "yes"],
    ["", ""],
  ] as const) {
    const folded = fold(["m[plain]", text], ["m[typed][x]", text]);
    assert.deepEqual(shown(folded), { plain: text, typed: { x: value } });
  }
});

test("without such fields there is nothing", () => {
  assert.equal(fold(["m", "x"], ["n[a]", "x"]), null);
});

test("names that say nothing, or two things, are refused", () => {
  for (const names of [
    ["m[]"],
    ["m[a"],
    ["m[a]b"],
    ["m[a][b]]"],
    ["m[a]", "m[a]"],
    ["m[a]", "m[a][b]"],
    ["m[a]", "m[a][]"],
    ["m[a][b]", "m[a][]"],
    ["m[a][]", "m[a][b]"],
    ["m[a][][]"],
    [`m${"[a]".repeat(17)}`],
  ]) {
    assert.throws(() => fold(...names.map((name) => [name, "x"] as const)), ApiError);
  }
});

test("a NUL is refused, as in JSON", () => {
  assert.throws(() => fold(["m[a]", "x\0"]), ApiError);
});

test("a name of JavaScript's own is a name like others", () => {
  const folded = fold(["m[__proto__][polluted]", "x"], ["m[constructor]", "y"]);
  assert.equal(({} as Record<string, unknown>)["polluted"], undefined);
  assert.equal(folded?.["constructor"], "y");
});

test("any names are folded or refused", () => {
  const piece = fc.constantFrom("[", "]", "[]", "[a]", "[b]", "a", "", "\0");
  const name = fc.array(piece, { maxLength: 6 }).map((pieces) => `m[${pieces.join("")}`);
  fc.assert(
    fc.property(fc.array(name, { maxLength: 8 }), (names) => {
      try {
        fold(...names.map((one) => [one, "x"] as const));
      } catch (error) {
        assert.ok(error instanceof ApiError, String(error));
      }
    }),
    { numRuns: 1_000 },
  );
});
