/** A project file as it was read: its values, and the line of each, for the faults found in it. */
import { basename } from "node:path";
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { parse, TomlError } from "smol-toml";
import { CliFault } from "../fault.ts";
import { type KeyPath, TomlLines } from "./toml-lines.ts";

export interface ProjectDocument {
  /** As people know it: `selvedge.toml`. */
  readonly file: string;
  readonly value: unknown;
  /** Of the value, or of the nearest one around it; null for the document itself. */
  lineOf(path: KeyPath): number | null;
}

/** What stops the reading of a project file, a line each. */
export class ProjectFault extends CliFault {
  override readonly name = "ProjectFault";
  constructor(message: string, options?: ErrorOptions) {
    super("usage", message, options);
  }
}

export function parseDocument(path: string, text: string): ProjectDocument {
  const file = basename(path);
  return file.endsWith(".toml") ? tomlDocument(file, text) : jsonDocument(file, text);
}

/** `selvedge.toml:12: store_buckets[0].binding: …` */
export function placed(document: ProjectDocument, path: KeyPath, message: string): string {
  const line = document.lineOf(path);
  const where = line === null ? document.file : `${document.file}:${line}`;
  return path.length === 0 ? `${where}: ${message}` : `${where}: ${spelled(path)}: ${message}`;
}

export function spelled(path: KeyPath): string {
  return path
    .map((step, depth) => {
      if (typeof step === "number") return `[${step}]`;
      return depth === 0 ? step : `.${step}`;
    })
    .join("");
}

function tomlDocument(file: string, text: string): ProjectDocument {
  let value: unknown;
  try {
    value = parse(text);
  } catch (cause) {
    if (!(cause instanceof TomlError)) throw cause;
    const why = cause.message.split("\n")[0]!.replace(/^Invalid TOML document: /, "");
    throw new ProjectFault(`${file}:${cause.line}: ${why} (column ${cause.column})`, { cause });
  }
  const lines = new TomlLines(text);
  return { file, value, lineOf: (path) => nearest(path, (p) => lines.lineOf(p)) };
}

/** JSON with comments and commas at the end, whatever the file is called: as wrangler reads it. */
function jsonDocument(file: string, text: string): ProjectDocument {
  const errors: ParseError[] = [];
  const tree = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined || tree === undefined) {
    const line = lineAt(text, first?.offset ?? 0);
    const why = first === undefined ? "is empty" : words(printParseErrorCode(first.error));
    throw new ProjectFault(`${file}:${line}: ${why}`);
  }
  const lineOf = (path: KeyPath) => {
    const node = findNodeAtLocation(tree, [...path]);
    return node === undefined ? null : lineAt(text, ownerOf(node).offset);
  };
  return { file, value: getNodeValue(tree), lineOf: (path) => nearest(path, lineOf) };
}

/** The line of a member is that of its name. */
function ownerOf(node: Node): Node {
  return node.parent?.type === "property" ? node.parent : node;
}

function nearest(path: KeyPath, lineOf: (path: KeyPath) => number | null): number | null {
  for (let length = path.length; length > 0; length--) {
    const line = lineOf(path.slice(0, length));
    if (line !== null) return line;
  }
  return null;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

/** `CommaExpected` is `comma expected`. */
function words(code: string): string {
  return code
    .replaceAll(/(?<=[a-z])[A-Z]/g, (c) => ` ${c.toLowerCase()}`)
    .replace(/^./, (c) => c.toLowerCase());
}
