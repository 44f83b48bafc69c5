/** Runs the real `selvedge` command against a server, as a user's shell would. */
import type { ChildProcess } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type ProgramResult, runProgram } from "./program.ts";
import { EMAIL, KEY, runSelvedge } from "./server.ts";

const COMMAND = fileURLToPath(new URL("../../bin/selvedge.js", import.meta.url));

export class Cli implements AsyncDisposable {
  /** The folder that commands run in, which is removed at the end. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;

  constructor(folder: string, env: Readonly<Record<string, string>>) {
    this.folder = folder;
    this.env = env;
  }

  /** With the key of the first account, and a folder and cache of its own. */
  static async for(origin: string): Promise<Cli> {
    const folder = await mkdtemp(join(tmpdir(), "selvedge-cli-"));
    return new Cli(folder, {
      SELVEDGE_API: origin,
      SELVEDGE_EMAIL: EMAIL,
      SELVEDGE_KEY: KEY,
      XDG_CACHE_HOME: join(folder, "cache"),
    });
  }

  /** The same folder, with other variables. */
  with(env: Readonly<Record<string, string>>): Cli {
    return new Cli(this.folder, { ...this.env, ...env });
  }

  /** To its end. */
  run(args: readonly string[], input = ""): Promise<ProgramResult> {
    const { folder: cwd, env } = this;
    return runProgram(process.execPath, [COMMAND, ...args], { cwd, env, input });
  }

  /** What it prints; an error unless it ends with 0. */
  async must(args: readonly string[], input = ""): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, input);
    if (code === 0) return stdout;
    throw new Error(`selvedge ${args.join(" ")} ended with ${code}:\n${stdout}${stderr}`);
  }

  /** What it prints as JSON. */
  async json<T>(args: readonly string[], input = ""): Promise<T> {
    return JSON.parse(await this.must([...args, "--json"], input)) as T;
  }

  /** Begun, for a test that stops it. */
  start(args: readonly string[]): ChildProcess {
    return runSelvedge(args, this.env, this.folder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The exit code, once all that it wrote has come; null after a kill. */
export function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => void child.once("close", resolve));
}
