/** Where a project file is looked for, and the secrets beside it. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { readDevVars } from "./dev-vars.ts";
import { findProject, openProject } from "./find.ts";

let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "selvedge-project-"));
});
after(() => rm(folder, { recursive: true }));

async function lay(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await mkdtemp(join(folder, "p-"));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  return root;
}

const nowhere = { config: null, environment: null };

test("the nearest folder with a file counts", async () => {
  const root = await lay({
    "selvedge.toml": 'name = "outer"',
    "in/ner/wrangler.toml": 'name = "inner"',
    "in/x/y": "",
  });
  assert.equal(openProject({ cwd: join(root, "in/ner"), ...nowhere }).name, "inner");
  assert.equal(openProject({ cwd: join(root, "in/x"), ...nowhere }).name, "outer");
});

test("in one folder the order is json, jsonc, toml, then wrangler's; a second file is warned of", async () => {
  const root = await lay({
    "selvedge.toml": 'name = "toml"',
    "selvedge.jsonc": '{"name":"jsonc"}',
    "wrangler.json": '{"name":"wrangler"}',
  });
  const project = openProject({ cwd: root, ...nowhere });
  assert.equal(project.name, "jsonc");
  assert.deepEqual(project.warnings, [
    `${join(root, "selvedge.toml")} lies beside ${join(root, "selvedge.jsonc")} and is not read`,
  ]);
});

test("--config names the file, relative to here", async () => {
  const root = await lay({ "selvedge.toml": 'name = "a"', "other/x.toml": 'name = "b"' });
  const project = openProject({ cwd: root, config: "other/x.toml", environment: null });
  assert.equal(project.name, "b");
  assert.equal(project.folder, join(root, "other"));
  assert.throws(
    () => openProject({ cwd: root, config: "none.toml", environment: null }),
    /^CliFault: Cannot read the project file .+none\.toml: there is no such file or folder\.$/,
  );
});

test("without a file there is no project, and the fault says how to get one", async () => {
  const root = await lay({});
  assert.equal(findProject({ cwd: root, ...nowhere }), null);
  assert.throws(() => openProject({ cwd: root, ...nowhere }), /selvedge init/);
});

test("secrets of local runs come from .dev.vars, else from .env", async () => {
  const both = await lay({ ".dev.vars": 'A="1 2"\n# no\nB=2\n', ".env": "A=x\nC=3" });
  assert.deepEqual(readDevVars(both, null).values, { A: "1 2", B: "2" });
  const dotenv = await lay({ ".env": "A=x\nC=3", ".env.live": "A=live" });
  assert.deepEqual(readDevVars(dotenv, null).values, { A: "x", C: "3" });
  assert.deepEqual(readDevVars(dotenv, "live").values, { A: "live", C: "3" });
  const own = await lay({ ".dev.vars": "A=1", ".dev.vars.live": "B=2" });
  assert.deepEqual(readDevVars(own, "live"), {
    files: [join(own, ".dev.vars.live")],
    values: { B: "2" },
  });
  assert.deepEqual(readDevVars(await lay({}), null), { files: [], values: {} });
});
