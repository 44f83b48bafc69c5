/** What bindings a version has that is made from an earlier one. */
import { invalid, quoted, ScriptFault } from "./fault.ts";
import type { Fresh, StoredBinding } from "./manifest.ts";
import { store } from "./manifest.ts";
import type { Binding } from "./model.ts";

export interface Keep {
  readonly keepBindings?: ReadonlySet<Binding["type"]>;
  readonly inherit?: readonly string[];
}

/** The bindings of the earlier version that stay beside those that are given. */
export function keptBindings(
  given: readonly Binding[],
  { keepBindings: kinds = new Set(), inherit = [] }: Keep,
  earlier: readonly StoredBinding[],
): StoredBinding[] {
  const names = new Set(given.map(({ name }) => name));
  for (const name of inherit) {
    if (names.has(name)) throw invalid(`bindings: "${name}" is both given and inherited`);
    if (earlier.some((binding) => binding.name === name)) continue;
    throw invalid(
      `bindings: ${quoted(name)} cannot be inherited: the latest version has no such binding`,
    );
  }
  return earlier.filter(
    ({ name, type }) => !names.has(name) && (kinds.has(type) || inherit.includes(name)),
  );
}

/** The bindings with these secrets set, or removed where the text is null. */
export function withSecrets(
  bindings: readonly StoredBinding[],
  secrets: ReadonlyMap<string, string | null>,
  fresh: Fresh,
): StoredBinding[] {
  const next = new Map(bindings.map((binding) => [binding.name, binding]));
  for (const [name, text] of secrets) {
    const there = next.get(name);
    if (there !== undefined && there.type !== "secret") {
      throw new ScriptFault("exists", `The script has a binding ${quoted(name)} already`);
    }
    if (text !== null) next.set(name, store({ type: "secret", name, text }, fresh));
    else if (!next.delete(name)) {
      throw new ScriptFault("not-found", `The script has no secret ${quoted(name)}`);
    }
  }
  return [...next.values()];
}
