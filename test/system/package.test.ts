/** What is published: JavaScript that an older Node can start, through the runtime that came along. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { mustRun } from "../support/program.ts";
import { runSelvedge } from "../support/server.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

before(() => {
  const built = spawnSync(process.execPath, [join(ROOT, "scripts/build.ts")], { encoding: "utf8" });
  assert.equal(built.status, 0, built.stdout + built.stderr);
});

test("the built package starts and serves", async () => {
  const data = await mkdtemp(join(tmpdir(), "selvedge-test-"));
  const doors = ["--api", "127.0.0.1:0", "--dns", "127.0.0.1:0"];
  const args = ["serve", "--data", data, ...doors, "--log", "pretty"];
  const child = runSelvedge(args, {}, tmpdir(), join(ROOT, "dist/bin/selvedge.js"));
  const exit = once(child, "exit");
  let said = "";
  for await (const chunk of child.stdout!) {
    said += String(chunk);
    const origin = /ready: api (http:[^\s,]+)/.exec(said)?.[1];
    if (origin === undefined) continue;
    assert.equal(await (await fetch(`${origin}/readyz`)).text(), "ready\n");
    child.kill();
  }
  assert.deepEqual(await exit, [0, null]);
  await rm(data, { recursive: true });
});

test("the built package is a library with types: selvedge/store", async () => {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-test-"));
  try {
    await mkdir(join(folder, "node_modules"));
    await symlink(join(ROOT, "dist"), join(folder, "node_modules/selvedge"), "dir");
    await writeFile(join(folder, "package.json"), '{"type":"module"}');
    const program = `
      import { connectStore, openStore, type StoreBucket } from "selvedge/store";
      const store = await openStore({ data: ${JSON.stringify(join(folder, "data"))} });
      const bucket: StoreBucket = await store.createBucket("things");
      await bucket.put("k", "value");
      const text: string | undefined = await (await bucket.get("k"))?.text();
      console.log(text, typeof connectStore);
      // @ts-expect-error -- a key is text
      const wrong = () => bucket.get(5);
    `;
    await writeFile(join(folder, "main.ts"), program);
    const types = ["--types", "node", "--typeRoots", join(ROOT, "node_modules/@types")];
    const strict = ["--strict", "--module", "nodenext", "--target", "esnext", "--noEmit"];
    const compiler = join(ROOT, "node_modules/.bin/tsc");
    await mustRun(compiler, [...strict, ...types, join(folder, "main.ts")], {
      cwd: folder,
      env: { PATH: process.env["PATH"]! },
    });
    // Nobody closes the store: a program ends when nothing waits to be written.
    assert.equal(await mustRun(process.execPath, [join(folder, "main.ts")]), "value function\n");
  } finally {
    await rm(folder, { recursive: true });
  }
});

test("the built package makes a project that type-checks with nothing else installed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-test-"));
  try {
    const command = join(ROOT, "dist/bin/selvedge.js");
    await mustRun(process.execPath, [command, "init", folder, "--name", "shop"]);
    await mkdir(join(folder, "node_modules"));
    await symlink(join(ROOT, "dist"), join(folder, "node_modules/selvedge"), "dir");
    await mustRun(process.execPath, [command, "types"], { cwd: folder });
    await mustRun(join(ROOT, "node_modules/.bin/tsc"), ["--project", "."], {
      cwd: folder,
      env: { PATH: process.env["PATH"]! },
    });
  } finally {
    await rm(folder, { recursive: true });
  }
});
