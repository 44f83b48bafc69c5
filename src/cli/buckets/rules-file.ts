/** A file of rules for a bucket: the JSON that the API takes, with the line of what is wrong in it. */
import { suggestion } from "#kit/closest.ts";
import { ApiFault } from "../api-fault.ts";
import { text } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { wrongUsage } from "../fault.ts";
import { parseDocument, placed, type ProjectDocument } from "../project/document.ts";
import type { KeyPath } from "../project/toml-lines.ts";
import { readInput } from "../read-input.ts";
import { isRefusal } from "./ask.ts";

/** The keys of an object, with those of what it holds; null where they are the user's own, or there are none. */
export interface Keys {
  readonly [key: string]: Keys | null;
}

export type RuleInFile = Readonly<Record<string, unknown>>;

export interface RulesFile {
  readonly rules: readonly RuleInFile[];
  readonly document: ProjectDocument;
  /** Where the rules are in it. */
  readonly path: KeyPath;
}

/** On every command that sets rules. */
export const rulesOption = text("FILE", "the rules as JSON; - is standard input");

/** From `{"rules": […]}`, or from the array alone, as `list --json` prints it. */
export async function readRules(
  context: CommandContext,
  file: string | undefined,
  keys: Keys,
): Promise<RulesFile> {
  if (file === undefined) throw wrongUsage("Name the file that has the rules: --file FILE.");
  const octets = await readInput(file, context);
  const name = file === "-" ? "standard input" : file;
  const document = parseDocument(name, new TextDecoder().decode(octets));
  const { value } = document;
  const path = Array.isArray(value) ? [] : ["rules"];
  const rules: unknown = isObject(value) ? value["rules"] : value;
  if (!Array.isArray(rules)) {
    throw wrongUsage(placed(document, [], 'there is no array "rules"; --help shows a file'));
  }
  for (const [index, rule] of rules.entries()) {
    if (!isObject(rule)) throw wrongUsage(placed(document, [...path, index], "must be an object"));
    const stray = strayIn(rule, keys, [...path, index]);
    // The API passes over what it does not know: a key that is mistyped would just do nothing.
    if (stray !== null) throw wrongUsage(placed(document, stray.path, stray.message));
  }
  return { rules: rules as RuleInFile[], document, path };
}

interface Stray {
  readonly path: KeyPath;
  readonly message: string;
}

/** The first key that is not known. */
function strayIn(value: unknown, keys: Keys, path: KeyPath): Stray | null {
  if (typeof value !== "object" || value === null) return null;
  for (const [key, member] of Object.entries(value)) {
    const here = [...path, Array.isArray(value) ? Number(key) : key];
    const isKnown = Array.isArray(value) || Object.hasOwn(keys, key);
    if (!isKnown) return { path: here, message: strayWords(key, Object.keys(keys)) };
    const inner = Array.isArray(value) ? keys : keys[key]!;
    const stray = inner === null ? null : strayIn(member, inner, here);
    if (stray !== null) return stray;
  }
  return null;
}

function strayWords(key: string, known: readonly string[]): string {
  const guess = suggestion(key, known) || ` There are ${known.join(", ")}.`;
  return `is not a key that is known here.${guess}`;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const BAD_FIELD = 1001;

/** What the API says of the rules that were sent is said with its line in the file. */
export async function sendRules(
  { document, path }: RulesFile,
  sent: Promise<unknown>,
): Promise<void> {
  try {
    await sent;
  } catch (error) {
    if (!isRefusal(error, BAD_FIELD)) throw error;
    const lines = error.errors.map(({ message, source }) => {
      const [, ...below] = source?.pointer.split("/").slice(1).map(step) ?? [];
      const line = below.length === 0 ? null : document.lineOf([...path, ...below]);
      return `${line === null ? document.file : `${document.file}:${line}`}: ${message}`;
    });
    throw new ApiFault(error.status, error.errors, lines.join("\n"));
  }
}

/** Of a JSON pointer to a place in the rules, whose keys have nothing that is escaped. */
function step(text: string): string | number {
  return /^\d+$/.test(text) ? Number(text) : text;
}
