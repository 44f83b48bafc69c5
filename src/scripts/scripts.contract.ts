/** Scripts for tests: on each engine, with a runtime that starts everything but what says it does not. */
import assert from "node:assert/strict";
import type { Database } from "#db";
import { Log } from "#kit/log.ts";
import {
  type DefineOnEngine,
  onBothEngines as onEngines,
} from "../../test/support/both-engines.ts";
import { ScriptFault, type ScriptFaultKind } from "./fault.ts";
import type { Binding, RunnableScript, Script, Upload, VersionContent } from "./model.ts";
import { Routes } from "./routes.ts";
import { scriptMigrations } from "./schema.ts";
import { Scripts, type ScriptsOptions } from "./scripts.ts";
import { ZoneRoutes } from "./zone-routes.ts";

export const ACCOUNT = "a".repeat(32);
export const OTHER_ACCOUNT = "b".repeat(32);
/** Zones, by id, with their names; the last two are the other account's. */
const ZONES: Readonly<Record<string, string>> = {
  ["1".repeat(32)]: "example.com",
  ["2".repeat(32)]: "example.org",
  ["3".repeat(32)]: "other.example",
  ["4".repeat(32)]: "within.example.com",
};
export const [ZONE, SECOND_ZONE, OTHER_ZONE, INNER_ZONE] = Object.keys(ZONES) as [
  string,
  string,
  string,
  string,
];
export const by = { author: "someone@example.com", trigger: "upload" };
export const NOW = Date.UTC(2026, 10, 15, 12);
const SEAL_KEY = new Uint8Array(32).fill(7);

/** Scripts belong to accounts and routes to zones, whose tables are other parts'. */
const others = {
  part: "others",
  number: 1,
  sql: ({ text }: { text: string }) => [
    `CREATE TABLE accounts (id ${text} PRIMARY KEY)`,
    `INSERT INTO accounts (id) VALUES ('${ACCOUNT}'), ('${OTHER_ACCOUNT}')`,
    `CREATE TABLE zones (id ${text} PRIMARY KEY)`,
    ...Object.keys(ZONES).map((id) => `INSERT INTO zones (id) VALUES ('${id}')`),
  ],
};

/** On the tables of this part, and what they refer to of others. */
export function onBothEngines(name: string, define: DefineOnEngine): void {
  onEngines(name, [others, ...scriptMigrations], define);
}

export interface TestScripts {
  readonly scripts: Scripts;
  /** What was started, in order. */
  readonly checked: RunnableScript[];
  /** What listeners heard: the name, and the version's id or "removed". */
  readonly heard: { readonly name: string; readonly versionId: string | null }[];
}

/** Code that does not start. */
const BROKEN = Buffer.from("broken");

/** What every version takes to start. */
export const START_MS = 7;
/** The one bucket there is. */
export const BUCKET = "bucket-1";

export async function openScripts(
  db: Database,
  options: Partial<ScriptsOptions> = {},
): Promise<TestScripts> {
  const checked: RunnableScript[] = [];
  const heard: TestScripts["heard"] = [];
  const scripts = await Scripts.open({
    db,
    now: () => NOW,
    sealKey: SEAL_KEY,
    check: async (script) => {
      checked.push(script);
      const isBroken = script.modules.some(({ content }) => BROKEN.equals(content));
      if (isBroken) throw new ScriptFault("does-not-start", "Uncaught SyntaxError");
      return START_MS;
    },
    bucketExists: async (accountId, name) => accountId === ACCOUNT && name === BUCKET,
    ...options,
  });
  scripts.follow({
    changed: ({ name, versionId }) => heard.push({ name, versionId }),
    removed: ({ name }) => heard.push({ name, versionId: "removed" }),
  });
  return { scripts, checked, heard };
}

export function openRoutes(db: Database, scripts: Scripts): Promise<Routes> {
  return Routes.open({
    db,
    scripts,
    zone: async (zoneId) => {
      const name = ZONES[zoneId];
      assert.ok(name !== undefined, "no such zone");
      const isOthers = zoneId === OTHER_ZONE || zoneId === INNER_ZONE;
      return { name, accountId: isOthers ? OTHER_ACCOUNT : ACCOUNT };
    },
  });
}

/** Where a request to the zone goes. */
export function matchIn(routes: Routes, zoneId: string, hostname: string, path: string) {
  return new ZoneRoutes(routes.ofZone(zoneId)).match(hostname, path, "https");
}

export const is = (kind: ScriptFaultKind, says?: RegExp) => (error: unknown) =>
  error instanceof ScriptFault && error.kind === kind && (says?.test(error.message) ?? true);

export const octets = (text: string): Uint8Array => new TextEncoder().encode(text);
export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

/** A script of one module. */
export function content(
  code: string,
  bindings: readonly Binding[] = [],
  more: Partial<VersionContent> = {},
): VersionContent {
  return {
    main: "index.js",
    modules: [{ name: "index.js", type: "esm", content: octets(code) }],
    compatibilityDate: "2026-10-01",
    compatibilityFlags: [],
    bindings,
    ...more,
  };
}

export function upload(code: string, bindings: readonly Binding[] = []): Upload {
  return { content: content(code, bindings) };
}

/** The code that a script runs now. */
export async function codeOf(scripts: Scripts, { id }: Pick<Script, "id">): Promise<string> {
  return textOf((await scripts.runnable(id))!.modules[0]!.content);
}

/** What `env` holds of a script that runs: secrets and texts by name. */
export function textsOf(script: RunnableScript): Record<string, string> {
  const texts = script.bindings.flatMap((one) => ("text" in one ? [[one.name, one.text]] : []));
  return Object.fromEntries(texts) as Record<string, string>;
}

export function silentLog(): Log {
  return new Log({ format: "json", level: "error", now: Date.now, write: () => {} });
}
