/** What a binding may be: a name that JavaScript can say, and values within their limits. */
import { invalid, quoted, ScriptFault } from "./fault.ts";
import type { Binding } from "./model.ts";

/** Some times what the original takes; all of them together still fit a row of the database. */
const MAX_TEXT_BYTES = 64 * 1024;
/** Longer ones are a mistake, and would make messages unreadable. */
const MAX_NAME = 256;

/** ECMA-262 §12.7, without escapes. */
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$\u200C\u200D]*$/u;
/** ECMA-262 §12.7.2, with what strict mode adds. */
const RESERVED = new Set(
  `arguments await break case catch class const continue debugger default delete do else enum eval export
   extends false finally for function if implements import in instanceof interface let new null package
   private protected public return static super switch this throw true try typeof var void while with yield`.split(
    /\s+/,
  ),
);

/** Checks a binding by itself; `field` is where it stands: `bindings[2]`. */
export function checkBinding(binding: Binding, field: string): void {
  checkBindingName(binding.name, `${field}.name`);
  switch (binding.type) {
    case "text":
    case "secret":
      return checkText(binding.text, `${field}.text`);
    case "json":
      return checkText(jsonText(binding.json, `${field}.json`), `${field}.json`);
    case "bucket":
      if (binding.bucketName === "") throw invalid(`${field}.bucket_name: it is empty`);
      return;
    case "service":
      if (binding.entrypoint === null || isIdentifier(binding.entrypoint)) return;
      throw invalid(
        `${field}.entrypoint: ${quoted(binding.entrypoint)} is no JavaScript identifier`,
      );
    case "data":
    case "wasm":
    case "version":
      return;
  }
}

export function checkBindingName(name: string, field: string): void {
  if (isIdentifier(name) && !RESERVED.has(name)) return;
  throw invalid(
    `${field}: ${quoted(name)} is no JavaScript identifier: letters, digits, _ and $, no digit at the start, and no word of the language`,
  );
}

function isIdentifier(text: string): boolean {
  return text.length <= MAX_NAME && IDENTIFIER.test(text);
}

export function checkText(text: string, field: string): void {
  const size = Buffer.byteLength(text);
  if (size <= MAX_TEXT_BYTES) return;
  throw new ScriptFault(
    "too-large",
    `${field}: it has ${size} bytes; ${MAX_TEXT_BYTES} are the limit`,
  );
}

function jsonText(value: unknown, field: string): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw invalid(`${field}: it is missing`);
  return text;
}
