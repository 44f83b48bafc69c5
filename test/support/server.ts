/** Starts the real server as a process of its own, as a user would, on free ports in a fresh folder. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PATIENCE_MS } from "./patience.ts";

const COMMAND = fileURLToPath(new URL("../../bin/selvedge.js", import.meta.url));

export const EMAIL = "admin@selvedge.local";
export const KEY = "0123456789abcdef0123456789abcdef01234";

export interface ServerOptions {
  /** A folder to start on again; a fresh one by default, removed at the end. */
  readonly data?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface TestServer extends AsyncDisposable {
  readonly process: ChildProcess;
  readonly data: string;
  /** `http://127.0.0.1:PORT`, and the base of the API under it. */
  readonly origin: string;
  readonly base: string;
  readonly ready: Readonly<Record<string, string>>;
  /** What it has written so far. */
  readonly output: { stdout: string; stderr: string };
  /** Sends a signal and waits for the end; returns the exit code, null after a kill. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

let databaseUrl: (() => Promise<string>) | null = null;

/** From now on every server that starts is given a database of its own from here, not an embedded one. */
export function giveDatabases(fresh: () => Promise<string>): void {
  databaseUrl = fresh;
}

export async function startServer(options: ServerOptions = {}): Promise<TestServer> {
  const database = databaseUrl === null ? [] : ["--database", await databaseUrl()];
  const data = options.data ?? (await mkdtemp(join(tmpdir(), "selvedge-test-")));
  const child = runSelvedge(
    ["serve", "--data", data, "--api", "127.0.0.1:0", ...database, ...(options.args ?? [])],
    {
      SELVEDGE_BOOTSTRAP_KEY: KEY,
      SELVEDGE_DNS: "127.0.0.1:0", // Servers run beside each other; a test's own flag wins.
      ...options.env,
    },
  );
  const output = { stdout: "", stderr: "" };
  child.stdout!.on("data", (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr!.on("data", (chunk: Buffer) => (output.stderr += chunk.toString()));
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const ready = await waitForReady(child, output).catch((error: unknown) => {
    child.kill("SIGKILL");
    throw error;
  });
  const origin = ready["api"]!;
  return {
    process: child,
    data,
    origin,
    base: `${origin}/client/v4`,
    ready,
    output,
    end(signal = "SIGTERM") {
      child.kill(signal);
      return exited;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode === null) child.kill("SIGKILL");
      await exited;
      if (options.data === undefined) await rm(data, { recursive: true, force: true });
    },
  };
}

/** Runs the command with this Node, without settings that the developer's shell may hold. */
const anyPort = {
  SELVEDGE_S3: "127.0.0.1:0",
  SELVEDGE_EDGE: "127.0.0.1:0",
  SELVEDGE_EDGE_TLS: "127.0.0.1:0",
};

export function runSelvedge(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd = tmpdir(),
  command = COMMAND,
): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("SELVEDGE_"));
  return spawn(process.execPath, [command, ...args], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    // Servers run beside each other; a flag wins.
    env: { ...Object.fromEntries(inherited), ...anyPort, ...env },
  });
}

function waitForReady(
  child: ChildProcess,
  output: { stdout: string; stderr: string },
): Promise<Record<string, string>> {
  return new Promise((resolve, reject) => {
    const fail = (why: string) => {
      clearTimeout(timer);
      reject(new Error(`${why}\n${output.stdout}${output.stderr}`));
    };
    const timer: NodeJS.Timeout = setTimeout(
      () => fail("The server did not get ready"),
      PATIENCE_MS,
    );
    child.once("exit", (code) => fail(`The server ended with ${code}`));
    child.stdout!.on("data", () => {
      const line = output.stdout.split("\n").find((text) => text.includes('"event":"ready"'));
      if (line === undefined) return;
      clearTimeout(timer);
      resolve(JSON.parse(line) as Record<string, string>);
    });
  });
}

/** Headers of the account key that test servers start with. */
export const keyHeaders = { "X-Auth-Email": EMAIL, "X-Auth-Key": KEY };
