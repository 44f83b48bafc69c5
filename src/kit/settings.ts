/**
 * Settings described once and read from three places: flags win over environment variables,
 * environment over a TOML file, the file over defaults. Every fault is one sentence that says
 * what is wrong and where it stands.
 */
import { parse, TomlError } from "smol-toml";
import { suggestion } from "./closest.ts";
import { listen } from "./readers.ts";
import { redactUrl } from "./redact.ts";

/** Turns text (a flag, a variable) or a TOML value into the setting's value, or throws why not. */
export type Reader<T> = (raw: unknown) => T;

export interface Setting<T> {
  readonly help: string;
  readonly read: Reader<T>;
  /** Given in the form that `read` takes, so that help can show it. */
  readonly fallback: string | number | readonly string[];
  /** The word for the value in help: `HOST:PORT`, `DIR`. */
  readonly value: string;
  /** Settings without a flag are set in the file or the environment. */
  readonly flag: boolean;
}

export type Settings = Readonly<Record<string, Setting<unknown>>>;

/** A setting with a flag of its own. */
export function flag<T>(
  value: string,
  fallback: string | number,
  reader: (raw: unknown) => T,
  help: string,
) {
  return { value, fallback, read: reader, help, flag: true } satisfies Setting<T>;
}

/** A setting for the file or the environment. */
export function key<T>(
  value: string,
  fallback: string | number | readonly string[],
  reader: (raw: unknown) => T,
  help: string,
) {
  return { value, fallback, read: reader, help, flag: false } satisfies Setting<T>;
}
export type Values<S extends Settings> = {
  readonly [K in keyof S]: S[K] extends Setting<infer T> ? T : never;
};

export class SettingsFault extends Error {
  override readonly name = "SettingsFault";
}

export interface SettingsSources {
  /** By key, as given: `{ "dns.tls": "…" }` has come from `--dns-tls`. */
  readonly flags: Readonly<Record<string, string>>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly environmentPrefix: string;
  readonly file: { readonly path: string; readonly text: string } | null;
}

/** A flag is its key with dashes: `edge.addresses` is `--edge-addresses`. */
export function flagOf(key: string): string {
  return `--${key.replaceAll(/[._]/g, "-")}`;
}

export function variableOf(prefix: string, key: string): string {
  return prefix + key.replaceAll(".", "_").toUpperCase();
}

export function readSettings<S extends Settings>(settings: S, sources: SettingsSources): Values<S> {
  const file =
    sources.file === null ? new Map<string, unknown>() : readFile(settings, sources.file);
  const values: Record<string, unknown> = {};
  for (const [key, setting] of Object.entries(settings)) {
    const variable = variableOf(sources.environmentPrefix, key);
    const fromEnvironment = sources.environment[variable];
    if (sources.flags[key] !== undefined) {
      values[key] = readOne(setting, sources.flags[key], flagOf(key));
    } else if (fromEnvironment !== undefined && fromEnvironment !== "") {
      values[key] = readOne(setting, fromEnvironment, variable);
    } else if (file.has(key)) {
      values[key] = readOne(setting, file.get(key), `${key} in ${sources.file!.path}`);
    } else {
      values[key] = setting.read(setting.fallback);
    }
  }
  return values as Values<S>;
}

function readOne(setting: Setting<unknown>, raw: unknown, where: string): unknown {
  try {
    return setting.read(raw);
  } catch (cause) {
    const given = redactUrl(typeof raw === "string" ? `"${raw}"` : JSON.stringify(raw));
    throw new SettingsFault(`Cannot use ${where} = ${given}: ${(cause as Error).message}.`, {
      cause,
    });
  }
}

/** The file's values by key. Tables join with dots; `[edge] listen = …` is `edge` itself. */
function readFile(settings: Settings, file: { path: string; text: string }): Map<string, unknown> {
  const found = new Map<string, unknown>();
  const walk = (table: object, path: string) => {
    for (const [name, value] of Object.entries(table)) {
      const spelled = path + name.replaceAll("-", "_");
      const key = keyOf(settings, spelled);
      if (Object.hasOwn(settings, key) && !isTable(value)) found.set(key, value);
      else if (isTable(value) && isPrefix(settings, spelled)) walk(value, `${spelled}.`);
      else throw new SettingsFault(unknownKey(settings, spelled, name, file));
    }
  };
  walk(parseToml(file), "");
  return found;
}

/** `edge.listen` is `edge`, where that takes an address to listen on. */
function keyOf(settings: Settings, spelled: string): string {
  const listener = spelled.endsWith(".listen") ? spelled.slice(0, -".listen".length) : "";
  return settings[listener]?.read === listen ? listener : spelled;
}

function parseToml(file: { path: string; text: string }): object {
  try {
    return parse(file.text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const why = cause.message.split("\n")[0]!.replace(/^Invalid TOML document: /, "");
    const where = `${file.path} line ${cause.line} column ${cause.column}`;
    throw new SettingsFault(`Cannot read ${where}: ${why}.`, { cause });
  }
}

function isTable(value: unknown): value is object {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date)
  );
}

/** Whether some setting lies in this table, or is this table by its `listen`. */
function isPrefix(settings: Settings, path: string): boolean {
  return Object.keys(settings).some((key) => key === path || key.startsWith(`${path}.`));
}

function unknownKey(
  settings: Settings,
  key: string,
  name: string,
  file: { path: string; text: string },
): string {
  const escaped = name.replaceAll(/[^\w-]/g, "\\$&");
  const pattern = new RegExp(`^\\s*(\\[.*)?["']?${escaped}\\b`);
  const line = file.text.split("\n").findIndex((text) => pattern.test(text)) + 1;
  const where = line > 0 ? `${file.path} line ${line}` : file.path;
  return `Unknown key "${key}" in ${where}.${suggestion(key, Object.keys(settings))}`;
}
