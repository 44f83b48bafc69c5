/** Places in stacks, from the built script back to its sources. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { transform } from "esbuild";
import { sourceStacks } from "./source-stacks.ts";

const SOURCE =
  "interface A {\n  a: string;\n}\nexport function f(a: A) {\n  throw new Error(a.a);\n}\n";

test("places in the script are told in the source's lines; all else stays", async () => {
  const { map } = await transform(SOURCE, {
    loader: "ts",
    sourcemap: "external",
    sourcefile: "src/f.ts",
  });
  const told = sourceStacks(map, "index.js");
  const stack = [
    "Error: at index.js:2:9 it broke",
    "    at f (index.js:2:9)",
    "    at index.js:2:9",
    "    at async g (file:///bundle/index.js:2:9)",
    "    at h (other.js:2:9)",
    "    at i (index.js:900:1)",
    "    at <anonymous>",
    "    at index.js:2:9 (10021).",
  ].join("\n");
  assert.equal(
    told(stack),
    [
      "Error: at index.js:2:9 it broke",
      "    at f (src/f.ts:5:9)",
      "    at src/f.ts:5:9",
      "    at async g (src/f.ts:5:9)",
      "    at h (other.js:2:9)",
      told("    at i (index.js:900:1)"), // Beyond the map: wherever it leads, it does not fail.
      "    at <anonymous>",
      "    at src/f.ts:5:9 (10021).",
    ].join("\n"),
  );
});

test("without a map nothing changes", () => {
  assert.equal(sourceStacks(null, "index.js")("at f (index.js:2:9)"), "at f (index.js:2:9)");
});
