/** JSON from strangers: parsed with limits, and without text that a database cannot keep. */
import { jsonPointer } from "./json-pointer.ts";

export type JsonFaultKind = "malformed" | "too-deep" | "bad-text";

export class JsonFault extends Error {
  override readonly name = "JsonFault";
  readonly kind: JsonFaultKind;
  constructor(kind: JsonFaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** No API body nests deeper than a handful of levels; this leaves room and keeps walks shallow. */
const MAX_DEPTH = 64;

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** Parses UTF-8 JSON; refuses deep nesting, NUL characters and lone surrogates in any string. */
export function parseJsonInput(bytes: Uint8Array): unknown {
  let value: unknown;
  try {
    value = JSON.parse(decoder.decode(bytes));
  } catch (cause) {
    throw new JsonFault("malformed", "Malformed JSON in request body", { cause });
  }
  check(value, [], 1);
  return value;
}

function check(value: unknown, path: readonly PropertyKey[], depth: number): void {
  if (typeof value === "string") return checkText(value, path);
  if (typeof value !== "object" || value === null) return;
  if (depth > MAX_DEPTH) {
    throw new JsonFault("too-deep", `The request body nests deeper than ${MAX_DEPTH} levels`);
  }
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) check(value[i], [...path, i], depth + 1);
    return;
  }
  for (const [key, member] of Object.entries(value)) {
    checkText(key, path);
    check(member, [...path, key], depth + 1);
  }
}

function checkText(text: string, path: readonly PropertyKey[]): void {
  if (!text.includes("\0") && text.isWellFormed()) return;
  const where = path.length === 0 ? "The request body" : `The value at ${jsonPointer(path)}`;
  if (text.includes("\0")) throw new JsonFault("bad-text", `${where} contains a NUL character`);
  throw new JsonFault("bad-text", `${where} contains half of a surrogate pair`);
}
