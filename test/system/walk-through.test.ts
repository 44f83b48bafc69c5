/** The walk-through of the README, as it stands there: what a new user does first. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { startServer, type TestServer } from "../support/server.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

test("the README's walk-through: from an empty server to an object put and read through a script", async () => {
  await using server = await startServer();
  const folder = await mkdtemp(join(tmpdir(), "selvedge-walk-"));
  try {
    const { code, output } = await shell(await walkThrough(server), folder, server);
    assert.equal(code, 0, output);
    assert.match(output, /Deployed my-script/);
    assert.match(output, /"key":"hello\.txt","size":5/);
    assert.equal(output.split("hello").length - 1 >= 3, true, output);
    assert.ok(output.trimEnd().endsWith("hellohello"), "by the name, then from the bucket");
  } finally {
    await rm(folder, { recursive: true });
  }
});

/** The first block of commands under "Edge scripts", with the addresses of this server. */
async function walkThrough({ ready, data }: TestServer): Promise<string> {
  const readme = await readFile(join(ROOT, "README.md"), "utf8");
  const block = /## Edge scripts\n[^]*?```sh\n([^]*?)```/.exec(readme)![1]!;
  return block
    .replaceAll("$PWD/bin/", join(ROOT, "bin/"))
    .replaceAll("$PWD/selvedge-data", data)
    .replaceAll("http://127.0.0.1:8080", ready["edge"]!);
}

function shell(
  commands: string,
  cwd: string,
  { origin }: TestServer,
): Promise<{ code: number | null; output: string }> {
  const script = `set -e; shopt -s expand_aliases\n${commands}`;
  const child = spawn("bash", ["-c", script], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...process.env,
      PATH: `${dirname(process.execPath)}:${process.env["PATH"]}`,
      SELVEDGE_API: origin,
    },
  });
  let output = "";
  const hear = (chunk: Buffer) => (output += chunk.toString());
  child.stdout.on("data", hear);
  child.stderr.on("data", hear);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, output }));
  });
}
