/** Holds a project file against its shape: every fault and every stray key, with its place. */
import { z } from "zod";
import { suggestion } from "#kit/closest.ts";
import { shorten } from "#kit/shorten.ts";
import { placed, ProjectFault, type ProjectDocument } from "./document.ts";
import { harmless, missingHere, type ProjectFile, projectShape } from "./shape.ts";
import type { KeyPath } from "./toml-lines.ts";

export interface CheckedFile {
  readonly file: ProjectFile;
  readonly warnings: readonly string[];
}

export function checkFile(document: ProjectDocument): CheckedFile {
  const checked = projectShape.safeParse(document.value, { error: wordsOf });
  if (!checked.success) throw new ProjectFault(faults(document, checked.error.issues).join("\n"));
  const warnings = strays(projectShape, document.value, []).map(({ path, message }) =>
    placed(document, path, message),
  );
  return { file: checked.data, warnings };
}

/** One for each key: what else is wrong with it shows when the first fault is mended. */
function faults(document: ProjectDocument, issues: readonly z.core.$ZodIssue[]): string[] {
  const found = new Map<string, string>();
  for (const issue of issues) {
    const path = issue.path as KeyPath;
    const line = placed(document, path, issue.message);
    if (!found.has(JSON.stringify(path))) found.set(JSON.stringify(path), line);
  }
  return [...found.values()];
}

const KINDS: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a table",
  record: "a table",
};

/** Zod's faults of type in the words of this file; rules of our own have theirs. */
function wordsOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== "invalid_type") return undefined;
  if (issue.input === undefined) return "is missing";
  const wanted = KINDS[String(issue["expected"])] ?? String(issue["expected"]);
  return `must be ${wanted}, but is ${shorten(JSON.stringify(issue.input))}`;
}

interface Stray {
  readonly path: KeyPath;
  readonly message: string;
}

/** Keys that the shape does not know. */
function strays(shape: z.core.$ZodType, value: unknown, path: KeyPath): Stray[] {
  if (typeof value !== "object" || value === null) return [];
  if (shape instanceof z.ZodOptional) return strays(shape.unwrap(), value, path);
  if (shape instanceof z.ZodArray && Array.isArray(value)) {
    return value.flatMap((item, index) => strays(shape.element, item, [...path, index]));
  }
  if (shape instanceof z.ZodRecord) {
    return Object.entries(value).flatMap(([key, member]) =>
      strays(shape.valueType, member, [...path, key]),
    );
  }
  if (shape instanceof z.ZodUnion) {
    return shape.options.flatMap((option) => strays(option, value, path));
  }
  if (!(shape instanceof z.ZodObject)) return [];
  const known: Readonly<Record<string, z.core.$ZodType>> = shape.shape;
  return Object.entries(value).flatMap(([key, member]) => {
    const inner = Object.hasOwn(known, key) ? known[key] : undefined;
    if (inner !== undefined) return strays(inner, member, [...path, key]);
    const message = strayWords(key, Object.keys(known));
    return message === null ? [] : [{ path: [...path, key], message }];
  });
}

function strayWords(key: string, known: readonly string[]): string | null {
  if (harmless.has(key)) return null;
  if (missingHere.has(key)) return "there is no such thing here, and the script will not find it";
  return `is not a key that is known here.${suggestion(key, known)}`;
}
