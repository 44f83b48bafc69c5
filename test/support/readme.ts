/** Runs the commands of the README as they stand there, with a test server's addresses in place of the defaults. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { TestServer } from "./server.ts";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const README = await readFile(join(ROOT, "README.md"), "utf8");

/** The first block of commands under a heading. */
export function commandsUnder(heading: string): string {
  return new RegExp(`## ${heading}\\n[^]*?\`\`\`sh\\n([^]*?)\`\`\``).exec(README)![1]!;
}

/** With the addresses and the folder of this server. */
export function forServer(commands: string, { ready, data }: TestServer): string {
  return commands
    .replaceAll("$PWD/bin/", join(ROOT, "bin/"))
    .replaceAll(/(\$PWD\/|\.\/)?selvedge-data/g, data)
    .replaceAll("http://127.0.0.1:8080", ready["edge"]!)
    .replaceAll("http://127.0.0.1:9000", ready["s3"]!);
}

/** In one of its own, that is gone afterwards. */
export async function inFolder(act: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-walk-"));
  try {
    await act(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Stops at the first command that fails. */
export function shell(
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
      AWS_CA_BUNDLE: "", // Debian's rclone fails where the developer's shell has one.
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
