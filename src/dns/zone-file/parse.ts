/**
 * Reads zone files. RFC 1035 §5, RFC 2308 §4 for `$TTL`, RFC 3597 §5 for unknown types. A record that is
 * wrong is reported with its line and the rest is read on.
 */
import { isDnsFault, NameFault, quote, RecordFault, type RecordFaultKind } from "../fault.ts";
import { isSubdomain, parseName } from "../name.ts";
import type { AnyRecordType } from "../record.ts";
import { recordType } from "../rr/index.ts";
import { type Entry, Scanner } from "../scanner.ts";
import { TextReader, type Token } from "../text.ts";
import { MAX_TTL_SECONDS, parseTtl } from "../ttl.ts";
import {
  generateTokens,
  MAX_GENERATED_CHARACTERS,
  MAX_GENERATED_RECORDS,
  parseRange,
} from "./generate.ts";

export interface ZoneRecord {
  readonly line: number;
  /** Absolute, spelled as in the file. */
  readonly owner: string;
  /** Its own, or the file's default; null when the file gives none. */
  readonly ttl: number | null;
  /** A name that `recordType` knows. */
  readonly type: string;
  readonly data: object;
  /** What follows `;` behind the record; `parseTrailer` reads it. */
  readonly comment: string | null;
}

export type ZoneErrorKind =
  | RecordFaultKind
  | "bad-name"
  | "bad-ttl"
  | "bad-class"
  | "bad-directive"
  | "no-owner"
  | "out-of-zone";

export interface ZoneError {
  readonly line: number;
  readonly kind: ZoneErrorKind;
  /** Why, without the line: `"10.0.0.256" is not an IPv4 address`. */
  readonly reason: string;
  /** The type as the file has it, when reading came that far; importers pass over RRSIG and NSEC. */
  readonly type: string | null;
  /** The words of the entry, cut to the length of a line. */
  readonly text: string;
}

export interface ZoneFile {
  readonly records: ZoneRecord[];
  readonly errors: ZoneError[];
}

export interface ZoneFileOptions {
  /** What names are relative to until the file says otherwise, and where its records must lie. */
  readonly origin: string;
}

export function parseZoneFile(file: string | Uint8Array, options: ZoneFileOptions): ZoneFile {
  const records: ZoneRecord[] = [];
  const errors: ZoneError[] = [];
  for (const one of readZoneFile(file, options)) {
    if ("reason" in one) errors.push(one);
    else records.push(one);
  }
  return { records, errors };
}

/** The records and the errors as they come: a large file has many, and few need be held at a time. */
export function readZoneFile(
  file: string | Uint8Array,
  { origin }: ZoneFileOptions,
): Generator<ZoneRecord | ZoneError, void> {
  return new ZoneFileReader(origin).read(typeof file === "string" ? file : zoneFileText(file));
}

/** The text of a file. One that is not UTF-8 keeps its octets, as escapes. */
function zoneFileText(file: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(file);
  } catch {
    const latin1 = Buffer.from(file).toString("latin1");
    return latin1.replaceAll(/[\x80-\xff]/g, (char) => `\\${char.charCodeAt(0)}`);
  }
}

/** A refusal of the file's own form, beside those of names and data. */
class ZoneFault extends Error {
  readonly kind: ZoneErrorKind;
  constructor(kind: ZoneErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

class ZoneFileReader {
  readonly #zone: string;
  /** What the entry in hand has come to. */
  #found: (ZoneRecord | ZoneError)[] = [];
  #origin: string;
  #owner: string | null = null;
  #defaultTtl: number | null = null;
  #lastTtl: number | null = null;
  #soaMinimum: number | null = null;
  #generated = 0;
  #generatedCharacters = 0;
  /** The type of the entry in hand, for its error. */
  #type: string | null = null;
  readonly #types = new Map<string, AnyRecordType | null>();

  constructor(zone: string) {
    this.#zone = zone;
    this.#origin = zone;
  }

  *read(text: string): Generator<ZoneRecord | ZoneError, void> {
    const scanner = new Scanner(text);
    for (;;) {
      let entry: Entry | null = null;
      try {
        entry = scanner.next();
        if (entry === null) return;
        if (entry.fault !== null) throw entry.fault;
        this.#entry(entry);
      } catch (error) {
        this.#report(error, entry?.line ?? scanner.line, entry?.tokens ?? []);
      }
      yield* this.#found;
      if (entry === null) return; // Something is not closed: where the next entry begins is unknown.
      this.#found = [];
      this.#type = null;
    }
  }

  #entry(entry: Entry): void {
    const first = entry.tokens[0]!;
    if (first.text.startsWith("$") && !first.quoted && !entry.indented) this.#directive(entry);
    else this.#record(entry, entry.tokens);
  }

  #directive({ tokens, ...entry }: Entry): void {
    const [name, ...args] = tokens.map((token) => token.text);
    switch (name!.toUpperCase()) {
      case "$ORIGIN":
        this.#origin = parseName(onlyArgument(name!, args), this.#origin);
        return;
      case "$TTL":
        this.#defaultTtl = timeToLive(onlyArgument(name!, args));
        return;
      case "$INCLUDE":
        throw new ZoneFault("bad-directive", "$INCLUDE directive not allowed");
      case "$GENERATE":
        this.#generate(entry, tokens.slice(1));
        return;
      default:
        throw new ZoneFault("bad-directive", `${quote(name)} is not a known directive`);
    }
  }

  #generate(entry: Omit<Entry, "tokens">, [range, ...template]: readonly Token[]): void {
    if (range === undefined || template.length < 3) {
      throw new ZoneFault("bad-directive", "$GENERATE needs a range, an owner, a type and data");
    }
    const values = parseRange(range.text, MAX_GENERATED_RECORDS - this.#generated);
    this.#generated += values.length;
    for (const value of values) {
      const tokens = generateTokens(template, value);
      this.#generatedCharacters += tokens.reduce((sum, token) => sum + token.text.length, 0);
      if (this.#generatedCharacters > MAX_GENERATED_CHARACTERS) {
        throw new RecordFault("too-long", null, "$GENERATE makes more text than a file may");
      }
      this.#record({ ...entry, indented: false }, tokens);
    }
  }

  #record(entry: Omit<Entry, "tokens">, tokens: readonly Token[]): void {
    let at = 0;
    if (!entry.indented) this.#owner = this.#ownerName(tokens[at++]!);
    let ttl: number | null = null;
    let classSeen = false;
    let type: Token | undefined;
    for (;;) {
      type = tokens[at++];
      if (type === undefined || type.quoted) break;
      if (ttl === null && isTime(type.text)) ttl = timeToLive(type.text);
      else if (!classSeen && isClass(type.text)) classSeen = true;
      else break;
    }
    if (this.#owner === null)
      throw new ZoneFault("no-owner", "No record before this one has an owner");
    const known = this.#typeOf(type);
    const data = known.parse(new TextReader(tokens, this.#origin, at));
    if (!isSubdomain(this.#owner, this.#zone)) {
      throw new ZoneFault(
        "out-of-zone",
        `${quote(this.#owner)} is not in the zone ${quote(this.#zone)}`,
      );
    }
    if (ttl !== null) this.#lastTtl = ttl;
    if (known.type === "SOA") this.#soaMinimum = (data as { minimum: number }).minimum;
    this.#found.push({
      line: entry.line,
      owner: this.#owner,
      ttl: ttl ?? this.#defaultTtl ?? this.#lastTtl ?? this.#soaMinimum,
      type: known.type,
      data,
      comment: entry.comment,
    });
  }

  #ownerName(token: Token): string {
    this.#owner = null; // Whatever follows a bad owner must not be given to the one before.
    if (token.quoted)
      throw new ZoneFault("bad-name", `The owner ${quote(token.text)} is in quotes`);
    return parseName(token.text, this.#origin);
  }

  #typeOf(token: Token | undefined): AnyRecordType {
    if (token === undefined) throw new RecordFault("missing-field", "type", "The type is missing");
    this.#type = token.text.toUpperCase();
    let type = token.quoted ? null : this.#types.get(token.text);
    if (type === undefined) {
      type = recordType(token.text);
      this.#types.set(token.text, type);
    }
    if (type !== null) return type;
    throw new RecordFault("bad-type", "type", `${quote(token.text)} is not a record type`);
  }

  #report(error: unknown, line: number, tokens: readonly Token[]): void {
    if (!(error instanceof ZoneFault) && !isDnsFault(error)) throw error;
    const LONGEST = 200;
    this.#found.push({
      line,
      kind: kindOf(error),
      reason: error.message,
      type: this.#type,
      text: tokens
        .map((token) => token.text)
        .join(" ")
        .slice(0, LONGEST),
    });
  }
}

function kindOf(error: Error): ZoneErrorKind {
  if (error instanceof ZoneFault || error instanceof RecordFault) return error.kind;
  return error instanceof NameFault ? "bad-name" : "bad-text";
}

function onlyArgument(directive: string, args: readonly string[]): string {
  if (args.length === 1) return args[0]!;
  throw new ZoneFault("bad-directive", `${directive} takes one argument, not ${args.length}`);
}

function isTime(text: string): boolean {
  const code = text.charCodeAt(0);
  return code >= 0x30 && code <= 0x39;
}

function timeToLive(text: string): number {
  const seconds = parseTtl(text);
  if (seconds !== null && seconds <= MAX_TTL_SECONDS) return seconds;
  throw new ZoneFault("bad-ttl", `${quote(text)} is not a TTL from 0 to ${MAX_TTL_SECONDS}`);
}

function isClass(text: string): boolean {
  if (/^(?:IN|CLASS1)$/i.test(text)) return true;
  if (!/^(?:CH|HS|CS|ANY|NONE|CLASS\d{1,5})$/i.test(text)) return false;
  throw new ZoneFault("bad-class", `The class ${quote(text)} is not IN`);
}
