import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { runProgram } from "./program.ts";

/** A test that fails as often as told, and then passes. */
const failing = (times: number) => `
  import { existsSync, writeFileSync } from "node:fs";
  import { suite, test } from "node:test";
  suite("outer", () => test("the unsteady one", () => {
    for (let i = 0; i < ${times}; i++) {
      const mark = import.meta.filename + i;
      if (existsSync(mark)) continue;
      writeFileSync(mark, "");
      throw new Error("failed " + i);
    }
  }));`;
const steady = `import { test } from "node:test"; test("the steady one", () => {});`;
const ended = `import { test } from "node:test"; test("ends", () => process.exit(3));`;
const runner = `
  import { runFiles } from "${import.meta.resolve("./run-files.ts")}";
  const limits = { cwd: process.cwd(), together: 3, testTimeoutMs: 60_000 };
  process.exitCode = (await runFiles(process.argv.slice(2), limits)) ? 0 : 1;`;

suite("a run of test files", () => {
  let cwd = "";
  before(async () => {
    cwd = await mkdtemp(join(tmpdir(), "selvedge-run-"));
  });
  after(() => rm(cwd, { recursive: true }));

  async function run(sources: Readonly<Record<string, string>>) {
    const files = Object.keys(sources).map((name) => `${name}.test.ts`);
    for (const [i, source] of Object.values(sources).entries()) {
      await writeFile(join(cwd, files[i]!), source);
    }
    await writeFile(join(cwd, "run.ts"), runner);
    return runProgram(process.execPath, ["run.ts", ...files], { cwd });
  }

  test("in which all pass is well, and tells nothing more", async () => {
    const { code, stdout } = await run({ a: steady, b: steady });
    assert.equal(code, 0, stdout);
    assert.match(stdout, /✔ the steady one/);
    assert.doesNotMatch(stdout, /unsteady|once more|twice/);
  });

  test("in which a file fails beside others and passes alone is well, and names what is unsteady", async () => {
    const { code, stdout } = await run({ steady, once: failing(1) });
    assert.equal(code, 0, stdout);
    assert.match(stdout, /once more, each alone: once\.test\.ts\n/);
    assert.match(
      stdout,
      /⚠ unsteady, to be mended: [^\n]*\n {2}once\.test\.ts\n {4}✖ the unsteady one\n$/,
    );
  });

  test("in which a file fails twice has failed, however it fails", async () => {
    for (const bad of [failing(2), ended, "no program"]) {
      const { code, stdout } = await run({ steady, twice: bad, flaky: failing(1) });
      assert.equal(code, 1, stdout);
      assert.match(stdout, /✖ failed twice: twice\.test\.ts\n$/);
      await rm(join(cwd, "flaky.test.ts0"));
    }
  });

  test("of one file tries nothing again: it was alone", async () => {
    const { code, stdout } = await run({ alone: failing(1) });
    assert.equal(code, 1, stdout);
    assert.doesNotMatch(stdout, /once more/);
  });

  test("in which many files fail tries none again", async () => {
    const names = Array.from({ length: 11 }, (_, i) => `a${i}`);
    const { code, stdout } = await run(Object.fromEntries(names.map((name) => [name, failing(1)])));
    assert.equal(code, 1, stdout);
    assert.doesNotMatch(stdout, /once more/);
  });
});
