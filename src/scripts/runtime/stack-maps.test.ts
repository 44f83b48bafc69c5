import assert from "node:assert/strict";
import { test } from "node:test";
import { transform } from "esbuild";
import { StackMaps, type Traced } from "./stack-maps.ts";
import type { TailEvent } from "./types.ts";

const SOURCE =
  "interface A {\n  a: string;\n}\nexport function f(a: A) {\n  throw new Error(a.a);\n}\n";
const BUILT = "    at f (index.js:2:9)";
const TOLD = "    at f (src/f.ts:5:9)";

const { map } = await transform(SOURCE, {
  loader: "ts",
  sourcemap: "external",
  sourcefile: "src/f.ts",
});

const traced = (versionId: string, ...maps: readonly string[]): Traced => ({
  name: "s",
  versionId,
  sourceMaps: maps.map((text) => ({
    name: "index.js.map",
    type: "sourcemap",
    content: Buffer.from(text),
  })),
});

function event(stack: string): TailEvent {
  const error = { name: "Error", message: "x", timestamp: 1, stack };
  return {
    scriptName: "s",
    entrypoint: null,
    outcome: "exception",
    eventTimestamp: 1,
    event: null,
    logs: [
      { level: "error", timestamp: 1, message: ["Error: x", 5], errorInfo: [error, null] },
      { level: "log", timestamp: 1, message: [stack] },
    ],
    exceptions: [error],
    truncated: false,
    cpuTime: 0,
    wallTime: 0,
  };
}

const stackOf = ({ exceptions }: TailEvent) => exceptions[0]!.stack;

test("stacks of exceptions and of errors that were logged name places in the sources", () => {
  const told = new StackMaps().tell(event(BUILT), traced("1", map));
  assert.equal(stackOf(told), TOLD);
  assert.deepEqual(
    told.logs.map(({ errorInfo }) => errorInfo?.map((error) => error && error.stack)),
    [[TOLD, null], undefined],
  );
  assert.deepEqual(told.logs[1]!.message, [BUILT], "what the script has said stays");
});

test("versions that bring no maps, or such that cannot be read, or too much of them, keep theirs", () => {
  const maps = new StackMaps();
  const long = JSON.stringify({ ...JSON.parse(map), mappings: "AAAA;".repeat(300_000) });
  const heavy = JSON.stringify({ ...JSON.parse(map), sourcesContent: ["x".repeat(9_000_000)] });
  for (const [version, given] of [
    [],
    ["{"],
    ["null"],
    ["{}"],
    ['{"mappings":5}'],
    [long],
    [heavy],
  ].entries()) {
    assert.equal(stackOf(maps.tell(event(BUILT), traced(String(version), ...given))), BUILT);
  }
  const endless = `${BUILT}\n`.repeat(1_000);
  assert.equal(stackOf(maps.tell(event(endless), traced("endless", map))), endless);
});

test("each version has its own map, however many take turns", () => {
  const maps = new StackMaps();
  const moved = JSON.stringify({ ...JSON.parse(map), sources: ["other.ts"] });
  for (let turn = 0; turn < 3; turn++) {
    for (let version = 0; version < 6; version++) {
      const told = maps.tell(event(BUILT), traced(`v${version}`, version === 0 ? moved : map));
      assert.equal(stackOf(told), version === 0 ? TOLD.replace("src/f.ts", "other.ts") : TOLD);
    }
  }
});
