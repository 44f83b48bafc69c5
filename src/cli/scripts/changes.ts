/** What a deploy would change: the state on the server held against the project's. */
import { isDeepStrictEqual } from "node:util";
import { showSize } from "../units.ts";
import type { ApiBinding } from "./upload.ts";

/** What decides how a script behaves; null where nobody knows, or nobody says. */
export interface ScriptState {
  readonly bytes: number | null;
  readonly compatibilityDate: string | null;
  readonly compatibilityFlags: readonly string[];
  readonly bindings: readonly ApiBinding[];
  readonly routes: readonly string[] | null;
  readonly domains: readonly string[] | null;
  readonly crons: readonly string[] | null;
  /** Its own, under the server's domain for scripts; none while that is off. */
  readonly urls: readonly string[];
}

export interface Change {
  /** `size`, `binding PHOTOS`, `route example.com/*` */
  readonly what: string;
  /** Null: it was not there. */
  readonly before: string | null;
  /** Null: it goes. */
  readonly after: string | null;
}

/** `keeps` are types of bindings that stay though the project does not name them. */
export function changesBetween(
  before: ScriptState | null,
  after: ScriptState,
  keeps: ReadonlySet<string>,
): Change[] {
  const was = before ?? NOTHING;
  const flagged = (flags: readonly string[]) => entries("flag", flags);
  return [
    // A server that does not say how large a version is has not lost it.
    ...(before?.bytes === null ? [] : single("size", sizeOf(was.bytes), sizeOf(after.bytes))),
    ...single("compatibility_date", was.compatibilityDate, after.compatibilityDate),
    ...among(flagged(was.compatibilityFlags), flagged(after.compatibilityFlags)),
    ...amongBindings(was.bindings, after.bindings, keeps),
    ...amongNamed("route", was.routes, after.routes),
    ...amongNamed("domain", was.domains, after.domains),
    ...amongNamed("cron", was.crons, after.crons),
    ...amongNamed("url", was.urls, after.urls),
  ];
}

/** Null after: they stay as they are. */
function amongNamed(
  kind: string,
  before: readonly string[] | null,
  after: readonly string[] | null,
): Change[] {
  return after === null ? [] : among(entries(kind, before ?? []), entries(kind, after));
}

const NOTHING: ScriptState = {
  bytes: null,
  compatibilityDate: null,
  compatibilityFlags: [],
  bindings: [],
  routes: [],
  domains: [],
  crons: [],
  urls: [],
};

/** `+ binding PHOTOS: bucket photos`, `~ size: 1 KiB → 2 KiB`, `- route a.example/*` */
export function changeLine({ what, before, after }: Change): string {
  if (before === null) return `+ ${what}${after === "" ? "" : `: ${after}`}`;
  if (after === null) return `- ${what}${before === "" ? "" : `: ${before}`}`;
  return before === after ? `~ ${what}: ${after}` : `~ ${what}: ${before} → ${after}`;
}

function single(what: string, before: string | null, after: string | null): Change[] {
  return after === null || before === after ? [] : [{ what, before, after }];
}

function among(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): Change[] {
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return names.flatMap((what) => {
    const [was, is] = [before.get(what) ?? null, after.get(what) ?? null];
    return was === is ? [] : [{ what, before: was, after: is }];
  });
}

function entries(kind: string, values: readonly string[]): Map<string, string> {
  return new Map(values.map((value) => [`${kind} ${value}`, ""]));
}

function amongBindings(
  before: readonly ApiBinding[],
  after: readonly ApiBinding[],
  keeps: ReadonlySet<string>,
): Change[] {
  const was = new Map(before.map((binding) => [binding.name, binding]));
  const is = new Map(after.map((binding) => [binding.name, binding]));
  const names = [...new Set([...was.keys(), ...is.keys()])];
  return names.flatMap((name) => {
    const [old, fresh] = [was.get(name), is.get(name)];
    if (fresh === undefined && keeps.has(old!.type)) return [];
    if (isDeepStrictEqual(settled(old), settled(fresh))) return [];
    const shown = (one: ApiBinding | undefined) => (one === undefined ? null : showBinding(one));
    return [{ what: `binding ${name}`, before: shown(old), after: shown(fresh) }];
  });
}

/** Without what the server adds by itself. */
function settled(binding: ApiBinding | undefined): unknown {
  if (binding === undefined) return null;
  const { environment: _, ...rest } = binding;
  return structuredClone(JSON.parse(JSON.stringify(rest)));
}

export function showBinding(binding: ApiBinding): string {
  switch (binding.type) {
    case "store_bucket":
      return `bucket ${String(binding["bucket_name"])}`;
    case "r2_bucket":
      return `bucket ${String(binding["bucket_name"])} (as r2_buckets)`;
    case "service":
      return ["service " + String(binding["service"]), binding["entrypoint"]]
        .filter(Boolean)
        .join(".");
    case "plain_text":
      return `var ${JSON.stringify(binding["text"])}`;
    case "json":
      return `var ${JSON.stringify(binding["json"])}`;
    case "secret_text":
      return "secret";
    case "version_metadata":
      return "version";
    default:
      return binding.type;
  }
}

function sizeOf(bytes: number | null): string | null {
  return bytes === null ? null : showSize(bytes);
}
