/** Lines of keys in TOML. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parse, stringify } from "smol-toml";
import { type KeyPath, TomlLines } from "./toml-lines.ts";

const DOCUMENT = `# A project
name = "shop" # its name
"quoted \\"key\\"" = 1

[vars]
TEXT = """
one
two"""
'a b'.deep = 5
LIST = [ 1, # one
  2, { x = "}" },
]

[[store_buckets]]
binding = "A"

[[store_buckets]]
binding = "B"
  [store_buckets.local_dev]
  on = true

[env.staging.vars]
TEXT = '''it's'''
[[env.staging.routes]]
pattern = "a/*"
`;

const NOISE = "[]{}=.,#\"'\\\n \ta1";

const places: [path: KeyPath, line: number][] = [
  [["name"], 2],
  [['quoted "key"'], 3],
  [["vars"], 5],
  [["vars", "TEXT"], 6],
  [["vars", "a b"], 9],
  [["vars", "a b", "deep"], 9],
  [["vars", "LIST"], 10],
  [["vars", "LIST", 1], 11],
  [["vars", "LIST", 2, "x"], 11],
  [["store_buckets"], 14],
  [["store_buckets", 0], 14],
  [["store_buckets", 0, "binding"], 15],
  [["store_buckets", 1, "binding"], 18],
  [["store_buckets", 1, "local_dev", "on"], 20],
  [["env", "staging", "vars", "TEXT"], 23],
  [["env", "staging", "routes", 0, "pattern"], 25],
];

for (const [path, line] of places) {
  test(`${JSON.stringify(path)} stands on line ${line}`, () => {
    parse(DOCUMENT); // It is well-formed.
    assert.equal(new TomlLines(DOCUMENT).lineOf(path), line);
  });
}

test("windows line ends count once", () => {
  const lines = new TomlLines("a = 1\r\n[b]\r\nc = 2\r\n");
  assert.equal(lines.lineOf(["b", "c"]), 3);
});

test("every key of a generated document has a line that names it", () => {
  const leaf = fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.array(fc.string()));
  const table = fc.dictionary(fc.stringMatching(/^[\w .'"-]{1,8}$/), leaf, { maxKeys: 4 });
  const tree = fc.dictionary(
    fc.stringMatching(/^\w{1,8}$/),
    fc.oneof(leaf, table, fc.array(table, { minLength: 1, maxLength: 3 })),
  );
  fc.assert(
    fc.property(tree, (value) => {
      const text = stringify(value);
      const lines = new TomlLines(text);
      for (const path of leaves(parse(text), [])) {
        assert.notEqual(lines.lineOf(path), null, `${JSON.stringify(path)} in\n${text}`);
      }
    }),
    { numRuns: 200 },
  );
});

test("the scan of anything ends", () => {
  const noise = fc.string({ unit: fc.constantFrom(...NOISE.split("")), maxLength: 60 });
  fc.assert(
    fc.property(noise, (text) => {
      assert.equal(new TomlLines(text).lineOf(["none such"]), null);
    }),
    { numRuns: 2_000 },
  );
});

function leaves(value: unknown, path: KeyPath): KeyPath[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [path];
  return Object.entries(value).flatMap(([key, member]) => leaves(member, [...path, key]));
}
