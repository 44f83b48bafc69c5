/** What is published: JavaScript that an older Node can start, through the runtime that came along. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { runSelvedge } from "../support/server.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

test("the built package starts and serves", async () => {
  const built = spawnSync(process.execPath, [join(ROOT, "scripts/build.ts")], { encoding: "utf8" });
  assert.equal(built.status, 0, built.stdout + built.stderr);
  const data = await mkdtemp(join(tmpdir(), "selvedge-test-"));
  const args = ["serve", "--data", data, "--api", "127.0.0.1:0", "--log", "pretty"];
  const child = runSelvedge(args, {}, tmpdir(), join(ROOT, "dist/bin/selvedge.js"));
  const exit = once(child, "exit");
  let said = "";
  for await (const chunk of child.stdout!) {
    said += String(chunk);
    const origin = /ready: api (http:\S+)\n/.exec(said)?.[1];
    if (origin === undefined) continue;
    assert.equal(await (await fetch(`${origin}/readyz`)).text(), "ready\n");
    child.kill();
  }
  assert.deepEqual(await exit, [0, null]);
  await rm(data, { recursive: true });
});
