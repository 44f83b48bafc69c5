/**
 * What SPF, DKIM and DMARC share: API types with structured `data` that are TXT on the wire, and the
 * tag lists that two of them are written in (RFC 6376 §3.2).
 */
import { isDeepStrictEqual } from "node:util";
import { type ApiForm, contentOf, isAbsent, isTelling, ownValue, type RecordInput } from "./api.ts";
import { acceptText, joinedText, showStrings, splitString } from "./character-strings.ts";
import type { TextData } from "./character-strings.ts";
import { quote, RecordFault } from "./fault.ts";

/** The API's form of a policy: its text as content, and `data` from which the text can be made. */
export function policyApi(
  keys: readonly string[],
  toData: (text: string) => Readonly<Record<string, unknown>>,
  toText: (data: Readonly<Record<string, unknown>>) => string,
  defaults: Readonly<Record<string, unknown>>,
): ApiForm<TextData> {
  return {
    show: (data) => ({ content: showStrings(data), data: toData(joinedText(data)) }),
    accept: (input) => {
      const hasData = keys.some((key) => isTelling(ownValue(input.data, key)));
      if (!hasData) return acceptText(contentOf(input));
      const kept = keptContent(input, toData, toText);
      if (kept !== null) return kept;
      const text = toText({ ...defaults, ...input.data });
      return { strings: splitString(Buffer.from(text, "utf8")) };
    },
  };
}

/** The content, when it says the same as the data: then it is kept with its spaces and cuts. */
function keptContent(
  input: RecordInput,
  toData: (text: string) => Readonly<Record<string, unknown>>,
  toText: (data: Readonly<Record<string, unknown>>) => string,
): TextData | null {
  if (!isTelling(input.content)) return null;
  try {
    const content = acceptText(contentOf(input));
    const data = toData(toText(input.data!));
    return isDeepStrictEqual(toData(joinedText(content)), data) ? content : null;
  } catch (error) {
    if (error instanceof RecordFault) return null; // The data wins, so the content may be wrong.
    throw error;
  }
}

/** The text is judged by its own grammar; the fault of the grammar is the record's. */
export function checkText(judge: (text: string) => void): (data: TextData) => RecordFault | null {
  return (data) => {
    try {
      judge(joinedText(data));
      return null;
    } catch (error) {
      if (error instanceof RecordFault) return error;
      throw error;
    }
  };
}

export type Tags = ReadonlyMap<string, string>;

/** Reads `v=DMARC1; p=none`. A tag twice is an error; the last `;` may be missing. */
export function parseTags(text: string): Tags {
  const tags = new Map<string, string>();
  const parts = text.split(";");
  if (parts.at(-1)!.trim() === "") parts.pop();
  for (const part of parts) {
    const match = /^\s*([A-Za-z]\w*)\s*=(.*)$/s.exec(part);
    if (match === null) {
      throw new RecordFault(
        "bad-text",
        "content",
        `${quote(part.trim())} is not a tag and its value`,
      );
    }
    const [, name, value] = match as unknown as [string, string, string];
    if (tags.has(name)) throw badTag(name, `The tag ${name} is there twice`);
    // oxlint-disable-next-line no-control-regex -- RFC 6376 §3.2: a value is printable, or white space
    if (/[^\x20-\x7e\t\r\n]/.test(value)) throw badTag(name, `The tag ${name} is not ASCII text`);
    tags.set(name, value.trim());
  }
  return tags;
}

export function badTag(name: string, message: string): RecordFault {
  return new RecordFault("bad-field", name, message);
}

/** A tag that must be one of a few words. */
export function checkWord(tags: Tags, name: string, words: readonly string[]): void {
  const value = tags.get(name);
  if (value === undefined || words.includes(value.toLowerCase())) return;
  throw badTag(name, `The tag ${name} is ${quote(value)}, not one of ${words.join(", ")}`);
}

/** A tag of words with colons between them. */
export function checkWords(tags: Tags, name: string, word: RegExp): void {
  const value = tags.get(name);
  if (value === undefined || value.split(":").every((part) => word.test(part.trim()))) return;
  throw badTag(name, `The tag ${name} is ${quote(value)}, which it cannot be`);
}

/**
 * `data` of a tag list: a key for each tag the type knows, and the tags that it does not know under
 * `other`, so that a client that changes one tag keeps them all.
 */
export function tagsToData(
  tags: Tags,
  known: readonly string[],
  numbers: readonly string[] = [],
): Readonly<Record<string, unknown>> {
  const entries = known
    .filter((name) => tags.has(name))
    .map((name) => [name, numbers.includes(name) ? Number(tags.get(name)) : tags.get(name)]);
  const other = [...tags].filter(([name]) => !known.includes(name));
  const rest = other.length === 0 ? {} : { other: Object.fromEntries(other) };
  return { ...Object.fromEntries(entries), ...rest };
}

/** The text of a tag list from `data`; null takes a tag away, and so does "" unless it may be empty. */
export function dataToTags(
  data: Readonly<Record<string, unknown>>,
  known: readonly string[],
  mayBeEmpty: readonly string[] = [],
): string {
  const other = ownValue(data, "other");
  const all = [
    ...known.map((name) => [name, ownValue(data, name)] as const),
    ...Object.entries(typeof other === "object" && other !== null ? other : {}),
  ];
  return all
    .filter(([name, value]) => !isAbsent(value) && (value !== "" || mayBeEmpty.includes(name)))
    .map(([name, value]) => `${name}=${tagText(name, value)}`)
    .join("; ");
}

function tagText(name: string, value: unknown): string {
  const text = typeof value === "number" ? String(value) : value;
  if (typeof text === "string" && !text.includes(";")) return text.trim();
  throw badTag(name, `The tag ${name} cannot be ${quote(value)}`);
}
