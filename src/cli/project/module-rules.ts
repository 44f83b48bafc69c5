/** Which files go along as modules of their own: text, data and wasm, by the globs of `rules`. */
import { matchesGlob } from "node:path";
import type { ModuleType } from "#scripts";
import type { ModuleRule } from "./shape.ts";

/** As in the original's tools. */
const DEFAULTS: readonly ModuleRule[] = [
  { type: "Text", globs: ["**/*.txt", "**/*.html", "**/*.sql"] },
  { type: "Data", globs: ["**/*.bin"] },
  { type: "CompiledWasm", globs: ["**/*.wasm"] },
];

/** Only where nothing is bundled: a bundler takes these in. */
const SCRIPTS: readonly ModuleRule[] = [
  { type: "ESModule", globs: ["**/*.js", "**/*.mjs"] },
  { type: "CommonJS", globs: ["**/*.cjs"] },
];

const TYPES = {
  ESModule: "esm",
  CommonJS: "commonjs",
  CompiledWasm: "wasm",
  Text: "text",
  Data: "data",
} as const satisfies Record<ModuleRule["type"], ModuleType>;

/** A rule of the project ends the default ones of its type, unless it says `fallthrough`. */
export function rulesFor(own: readonly ModuleRule[], isBundled: boolean): readonly ModuleRule[] {
  const ended = new Set(own.filter((rule) => rule.fallthrough !== true).map(({ type }) => type));
  const defaults = isBundled ? DEFAULTS : [...DEFAULTS, ...SCRIPTS];
  const all = [...own, ...defaults.filter(({ type }) => !ended.has(type))];
  // What is imported as a script is bundled, whatever a rule calls it.
  return isBundled ? all.filter(({ type }) => type !== "ESModule" && type !== "CommonJS") : all;
}

/** The type of a file's module, by its path within the project; null when it is none. */
export function typeByRules(rules: readonly ModuleRule[], path: string): ModuleType | null {
  const inside = path.replace(/^(?:\.\.?\/)+/, "");
  const rule = rules.find(({ globs }) => globs.some((glob) => matchesGlob(inside, glob)));
  return rule === undefined ? null : TYPES[rule.type];
}

/** What the bundler need only ask about: names that end like one of the globs. */
export function quickFilter(rules: readonly ModuleRule[]): RegExp {
  const globs = rules.flatMap((rule) => rule.globs);
  const endings = globs.map((glob) => /\*\.([\w.]+)$/.exec(glob)?.[1]);
  if (endings.includes(undefined)) return /.*/;
  const any = endings.map((ending) => ending!.replaceAll(".", "\\.")).join("|");
  return new RegExp(`\\.(?:${any})(?:\\?\\w+)?$`);
}
