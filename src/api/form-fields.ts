/**
 * Fields of a form whose names say where they belong: `metadata[bindings][][type]`. The official SDKs send
 * objects so; a list has no numbers, so that its next element begins where a name comes again.
 */
import { invalidFields } from "./errors.ts";
import type { FormPart } from "./form.ts";

/** Deeper than anything that is asked for. */
const MAX_DEPTH = 16;

interface Fields {
  [name: string]: Value;
}
type Scalar = string | number | boolean;
type Value = Scalar | Fields | Value[];

/**
 * What the fields under a name say; null when there are none. Values are text, but where `isTyped` says so they are
 * the numbers and truth values that they read as: the form does not tell them apart.
 */
export function foldFields(
  parts: readonly FormPart[],
  root: string,
  isTyped: (path: readonly string[]) => boolean,
): Fields | null {
  const under = parts.filter(({ name }) => name.startsWith(`${root}[`));
  const folded = fresh();
  for (const { name, content } of under) {
    const path = pathOf(name.slice(root.length));
    if (path === null) throw badField(name, "this is no name of a field");
    const text = Buffer.from(content).toString();
    if (text.includes("\0") || name.includes("\0")) throw badField(name, "NUL character");
    if (!put(folded, path, isTyped(path) ? scalarOf(text) : text)) {
      throw badField(name, "it is given twice, or beside others that it cannot stand with");
    }
  }
  return under.length === 0 ? null : folded;
}

/** `[bindings][][type]` is `bindings`, an element of it, `type`. */
function pathOf(suffix: string): string[] | null {
  if (!/^\[[^[\]]+\](?:\[[^[\]]*\])*$/.test(suffix)) return null;
  const path = suffix.slice(1, -1).split("][");
  return path.length <= MAX_DEPTH ? path : null;
}

function scalarOf(text: string): Scalar {
  const isScalar = /^(?:true|false|-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?)$/.test(text);
  return isScalar ? (JSON.parse(text) as Scalar) : text;
}

/** Whether there was room for the value. */
function put(into: Fields, [name, ...rest]: readonly string[], value: Scalar): boolean {
  const there = into[name!];
  if (rest.length === 0) {
    if (there === undefined) into[name!] = value;
    return there === undefined;
  }
  if (rest[0] === "") {
    if (there !== undefined && !Array.isArray(there)) return false;
    return append((into[name!] = there ?? []), rest.slice(1), value);
  }
  if (there !== undefined && !isFields(there)) return false;
  return put((into[name!] = there ?? fresh()), rest, value);
}

function append(list: Value[], path: readonly string[], value: Scalar): boolean {
  if (path.length === 0) {
    list.push(value);
    return true;
  }
  if (path[0] === "") return false; // A list in a list: nobody can tell where one of them ends.
  const last = list.at(-1);
  if (last !== undefined && isFields(last) && put(last, path, value)) return true;
  const next = fresh();
  list.push(next);
  return put(next, path, value);
}

function isFields(value: Value): value is Fields {
  return typeof value === "object" && !Array.isArray(value);
}

/** Without a prototype: names are a stranger's. */
function fresh(): Fields {
  return Object.create(null) as Fields;
}

function badField(name: string, what: string) {
  return invalidFields([{ pointer: "/", message: `${name}: ${what}` }]);
}
