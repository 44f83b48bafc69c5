/** Runs the stock wrangler against a server of the tests, as its user would. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { PATIENCE_MS } from "./patience.ts";
import { EMAIL, KEY, type TestServer } from "./server.ts";

const CLIENTS = fileURLToPath(new URL("../clients/", import.meta.url));
const PROGRAM = join(CLIENTS, "node_modules/wrangler/bin/wrangler.js");

/** Why tests of it cannot run, for `skip`; false when they can. */
export const noWrangler: string | false =
  !existsSync(PROGRAM) && "wrangler is not installed: npm ci in test/clients";

export interface Wrangler {
  /** Runs a command to its end; throws with what it said when it fails. */
  (args: readonly string[], input?: string): Promise<string>;
  /** Starts a command that does not end by itself. */
  start(args: readonly string[]): ChildProcess;
}

/** What the environment tells it of who asks. */
export type WranglerCredentials = Readonly<Record<`CLOUDFLARE_${string}`, string>>;

export const keyCredentials = {
  CLOUDFLARE_EMAIL: EMAIL,
  CLOUDFLARE_API_KEY: KEY,
} satisfies WranglerCredentials;

/** `home` keeps what wrangler remembers, `project` is where it looks for its file. */
export function wranglerFor(
  server: TestServer,
  credentials: WranglerCredentials,
  { home, project }: { readonly home: string; readonly project: string },
): Wrangler {
  const env = {
    PATH: process.env["PATH"],
    HOME: home,
    XDG_CONFIG_HOME: home,
    CLOUDFLARE_API_BASE_URL: server.base,
    ...credentials,
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_HIDE_BANNER: "true",
    CI: "1", // It asks nothing.
    NO_COLOR: "1",
  };
  const start = (args: readonly string[]) =>
    spawn(process.execPath, [PROGRAM, ...args], { cwd: project, env, stdio: "pipe" });
  const run = async (args: readonly string[], input = ""): Promise<string> => {
    const child = start(args);
    const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stdin.end(input);
    const code = await new Promise((resolve) => child.once("close", resolve));
    clearTimeout(timer);
    if (code === 0) return output;
    throw new Error(`wrangler ${args.join(" ")} ended with ${String(code)}:\n${output}`);
  };
  return Object.assign(run, { start });
}
