/** What a version may be: its modules, its compatibility, its bindings. Messages name fields as the API has them. */
import { checkBinding } from "./binding-rules.ts";
import { invalid, quoted, ScriptFault } from "./fault.ts";
import type { Binding, ScriptModule, ScriptSettings, VersionContent } from "./model.ts";

/** A DNS label, so that each script can have a hostname. */
const MAX_NAME = 63;
const SCRIPT_NAME = /^[a-z0-9_][a-z0-9_-]*$/;
/** Far more than bundlers leave; each is a file when the script starts. */
const MAX_MODULES = 1_000;
const MAX_MODULE_NAME = 256;
/** The runtime knows some hundred. */
const MAX_FLAGS = 200;
const FLAG = /^[a-z0-9_]{1,100}$/;
/** As the original gives those who pay; each costs time at every start. */
const MAX_BINDINGS = 128;
/** They stand in the list of scripts, which is held in memory. */
const MAX_TAGS = 32;
const MAX_TAG = 1_024;
const MAX_OBSERVABILITY = 8_192;
const DATE = /^\d{4}-\d\d-\d\d$/;

export interface ContentRules {
  readonly scriptBytes: number;
  /** `2026-11-15`: a date after it is a mistake. */
  readonly today: string;
}

export function checkScriptName(name: string): void {
  if (name.length <= MAX_NAME && SCRIPT_NAME.test(name)) return;
  throw invalid(
    `${quoted(name)} is no script name: 1 to ${MAX_NAME} of a-z, 0-9, - and _, and no - at the start`,
  );
}

/** Everything that can be told without looking elsewhere. */
export function checkContent(content: VersionContent, rules: ContentRules): void {
  checkModules(content);
  checkCompatibility(content, rules);
  content.bindings.forEach((binding, i) => checkBinding(binding, `bindings[${i}]`));
  checkSize(content, rules);
}

export function checkSize(
  { modules, bindings }: VersionContent,
  { scriptBytes }: ContentRules,
): void {
  const octets = [
    ...modules.map((module) => module.content.length),
    ...bindings.map((binding) => ("data" in binding ? binding.data.length : 0)),
  ];
  const size = octets.reduce((sum, some) => sum + some, 0);
  if (size <= scriptBytes) return;
  throw new ScriptFault("too-large", `The script has ${size} bytes; ${scriptBytes} are the limit`);
}

export function checkSettings({ tags = [], observability = null }: Partial<ScriptSettings>): void {
  if (tags.length > MAX_TAGS)
    throw invalid(`tags: there are ${tags.length}; ${MAX_TAGS} are the limit`);
  for (const [i, tag] of tags.entries()) {
    if (tag.length > 0 && tag.length <= MAX_TAG) continue;
    throw invalid(`tags[${i}]: ${quoted(tag)} is no tag: 1 to ${MAX_TAG} characters`);
  }
  if (JSON.stringify(observability).length > MAX_OBSERVABILITY) {
    throw invalid(`observability: it has more than ${MAX_OBSERVABILITY} characters`);
  }
}

function checkModules({ main, modules }: VersionContent): void {
  if (modules.length > MAX_MODULES) {
    throw new ScriptFault(
      "too-large",
      `The script has ${modules.length} modules; ${MAX_MODULES} are the limit`,
    );
  }
  const seen = new Set<string>();
  for (const [i, { name }] of modules.entries()) {
    if (name === "" || name.length > MAX_MODULE_NAME || /\p{Cc}/u.test(name)) {
      throw invalid(
        `modules[${i}].name: ${quoted(name)} is no module name: 1 to ${MAX_MODULE_NAME} characters, none of them a control character`,
      );
    }
    if (seen.has(name)) throw invalid(`modules[${i}].name: there are two modules ${quoted(name)}`);
    seen.add(name);
  }
  const code = modules.filter(({ type }) => type !== "sourcemap");
  if (main === null) checkServiceWorker(code);
  else checkMain(main, code);
}

function checkMain(main: string, code: readonly ScriptModule[]): void {
  const found = code.find(({ name }) => name === main);
  if (found === undefined) {
    throw invalid(`main_module: there is no module ${quoted(main)} among those that were uploaded`);
  }
  if (found.type !== "esm" && found.type !== "commonjs") {
    throw invalid(`main_module: ${quoted(main)} is not JavaScript, but ${found.type}`);
  }
}

function checkServiceWorker(code: readonly ScriptModule[]): void {
  const [script, second] = code;
  if (script === undefined) throw invalid("main_module: a script has at least one module");
  if (second === undefined) return;
  throw invalid(
    `body_part: a script in service-worker syntax is one file; ${quoted(second.name)} must be a binding, or main_module be given`,
  );
}

export function checkCompatibility(
  { compatibilityDate: date, compatibilityFlags: flags }: CompatibilityOf,
  { today }: ContentRules,
): void {
  if (!DATE.test(date) || !isRealDate(date)) {
    throw invalid(`compatibility_date: ${quoted(date)} is no date such as "${today}"`);
  }
  if (date > today) throw invalid(`compatibility_date: "${date}" is in the future`);
  if (flags.length > MAX_FLAGS) {
    throw invalid(`compatibility_flags: there are ${flags.length}; ${MAX_FLAGS} are the limit`);
  }
  for (const [i, flag] of flags.entries()) {
    if (FLAG.test(flag)) continue;
    throw invalid(`compatibility_flags[${i}]: ${quoted(flag)} is no flag: a-z, 0-9 and _ only`);
  }
}

type CompatibilityOf = Pick<VersionContent, "compatibilityDate" | "compatibilityFlags">;

function isRealDate(date: string): boolean {
  const ms = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(date);
}

/** Of all bindings that a version is to have, kept ones among them. */
export function checkBindingNames(bindings: readonly Pick<Binding, "type" | "name">[]): void {
  if (bindings.length > MAX_BINDINGS) {
    throw new ScriptFault(
      "too-large",
      `bindings: there are ${bindings.length}; ${MAX_BINDINGS} are the limit`,
    );
  }
  const seen = new Set<string>();
  for (const [i, { name }] of bindings.entries()) {
    if (seen.has(name)) throw invalid(`bindings[${i}].name: there are two bindings "${name}"`);
    seen.add(name);
  }
}
