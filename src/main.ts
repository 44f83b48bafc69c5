/** The command line: reads the config, starts the platform, waits for a signal. */
import { readFileSync } from "node:fs";
import { Command } from "commander";
import { addClientCommands } from "#cli";
import { Log } from "#kit/log.ts";
import { settleMemory } from "#kit/settle-memory.ts";
import { flagOf, type Setting, SettingsFault, variableOf } from "#kit/settings.ts";
import { type Config, readConfig } from "./config.ts";
import type { LocalObjects } from "./embedded-store.ts";
import type { Platform } from "./platform.ts";
import { settings } from "./settings.ts";
import { authHeaders, serverUrl } from "./store-credentials.ts";
import { connectStore } from "./store.ts";

/** Exit codes: what a script can tell apart. */
const FAILED = 1;
const BAD_USAGE = 2;
const INTERRUPTED = 130;

/** Signals that follow the first within this are the same one again. */
const ECHO_MS = 1_000;

/** The longest that a timer can be set to. */
const MAX_TIMER_MS = 2 ** 31 - 1;

const { version } = JSON.parse(
  readFileSync(new URL("../package.json", import.meta.url), "utf8"),
) as { version: string };

await program().parseAsync();

function program(): Command {
  const command = new Command("selvedge")
    .description("A self-hosted edge platform in one process.")
    .version(version)
    .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : BAD_USAGE))
    .configureOutput({ outputError: (said, write) => write(oneSentence(said)) });
  const serve = command
    .command("serve")
    .description("start the platform")
    .option("--config <FILE>", "the same settings as TOML (default: ./server.toml if present)")
    .addHelpText("after", `\n${keysHelp()}`);
  for (const [key, setting] of Object.entries<Setting<unknown>>(settings)) {
    if (!setting.flag) continue;
    serve.option(
      `${flagOf(key)} <${setting.value}>`,
      `${setting.help} (default: ${shown(setting)})`,
    );
  }
  serve.action((options: Record<string, string>) => runServer(options));
  addClientCommands(command, { version, serverUrl, authHeaders, connectStore, openObjects });
  return command;
}

/** Loaded for the one command that keeps objects itself. */
async function openObjects(data: string): Promise<LocalObjects> {
  const { openLocalObjects } = await import("./embedded-store.ts");
  return openLocalObjects({ data });
}

/** Commander's words for a wrong command line, on one line. */
function oneSentence(said: string): string {
  const words = said
    .trim()
    .replace(/^error: /, "")
    .replaceAll(/\s*\n\(?/g, ". ")
    .replace(/\)$/, "");
  const message = `${words}${/[.?]$/.test(words) ? "" : "."}`;
  // The command line cannot be read, but who wants JSON is plain.
  const isJson = process.argv.includes("--json");
  return isJson
    ? `${JSON.stringify({ error: { kind: "usage", message } })}\n`
    : `selvedge: ${message}\n`;
}

/** Settings that only the file and the environment take. */
function keysHelp(): string {
  const rows = Object.entries<Setting<unknown>>(settings)
    .filter(([, setting]) => !setting.flag)
    .map(([key, setting]) => `  ${key.padEnd(34)} ${setting.help} (default: ${shown(setting)})`);
  return [
    "Every flag is also a key of the config file (--dns-tls is dns_tls) and an environment",
    `variable (${variableOf("SELVEDGE_", "dns_tls")}). Flags win over the environment, the environment over the file.`,
    "",
    "Further keys:",
    ...rows,
  ].join("\n");
}

function shown({ fallback }: Setting<unknown>): string {
  if (fallback === "") return "none";
  if (Array.isArray(fallback)) return fallback.length === 0 ? "none" : fallback.join(", ");
  return String(fallback);
}

async function runServer(options: Record<string, string>): Promise<void> {
  const config = configOrExit(options);
  const log = new Log({ ...config.log, now: Date.now });
  process.on("exit", () => log.flush());
  const stop = nextSignal();
  process.umask(0o077); // What the platform writes is for its own account alone.
  for (const warning of config.warnings) log.warn("setting", { warning });
  try {
    const { startPlatform } = await import("./platform.ts"); // Not for the commands of the client.
    await using platform = await startPlatform(config, log, (path) => tellFirstStart(config, path));
    announce(config, platform);
    settleMemory();
    const signal = await stop;
    log.info("stopping", { signal });
  } catch (error) {
    exitWith(FAILED, (error as Error).message, error, log);
  }
  log.info("stopped");
}

function configOrExit({ config: file, ...given }: Record<string, string>): Config {
  // Commander names options in camel case.
  const flags: Record<string, string> = {};
  for (const key of Object.keys(settings)) {
    const name = key.replaceAll(/[._]([a-z])/g, (_, letter: string) => letter.toUpperCase());
    if (given[name] !== undefined) flags[key] = given[name];
  }
  try {
    return readConfig({
      flags,
      file: file ?? null,
      environment: process.env,
      onTerminal: process.stdout.isTTY,
    });
  } catch (error) {
    if (!(error instanceof SettingsFault)) throw error;
    return exitWith(BAD_USAGE, error.message);
  }
}

/** Said as soon as the keys exist: a start that fails later must not hide where they are. */
function tellFirstStart({ log }: Config, credentials: string): void {
  const line =
    log.format === "json"
      ? JSON.stringify({ event: "first start", credentials })
      : `First start: your keys are in ${credentials}`;
  process.stdout.write(`${line}\n`);
}

/** The line that says all doors are open; scripts wait for it. */
function announce({ log }: Config, { doors }: Platform): void {
  const open = Object.entries(doors).map(([name, at]) => `${name} ${at}`);
  const line =
    log.format === "json"
      ? JSON.stringify({ event: "ready", ...doors })
      : `Selvedge ${version} is ready: ${open.join(", ")}`;
  process.stdout.write(`${line}\n`);
}

/** The first SIGTERM or SIGINT asks to stop; a second does not wait. */
function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let askedAt = 0;
    // Nothing else may keep the process: a server can have all its doors off.
    const awake = setInterval(() => {}, MAX_TIMER_MS);
    const hear = (signal: NodeJS.Signals) => {
      clearInterval(awake);
      // A terminal signals the whole group, and a parent may hand the same signal on.
      const isEcho = performance.now() - askedAt < ECHO_MS;
      if (askedAt > 0 && !isEcho) process.exit(INTERRUPTED);
      askedAt ||= performance.now();
      resolve(signal);
    };
    process.on("SIGTERM", hear);
    process.on("SIGINT", hear);
  });
}

function exitWith(code: number, message: string, cause?: unknown, log?: Log): never {
  log?.debug("start failed", { cause });
  log?.flush();
  process.stderr.write(`selvedge: ${message}\n`);
  process.exit(code);
}
