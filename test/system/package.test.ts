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
  const [line] = (await once(child.stdout!, "data")) as [Buffer];
  const origin = /api (http:\S+)/.exec(line.toString())![1]!;
  assert.equal(await (await fetch(`${origin}/readyz`)).text(), "ready\n");
  child.kill();
  assert.deepEqual(await once(child, "exit"), [0, null]);
  await rm(data, { recursive: true });
});
