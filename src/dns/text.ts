/** Presentation text: words and quoted strings, as zone files and the API's `content` have them. */
import { backslash, decimalEscape, escapedOctet } from "./escape.ts";
import { quote, RecordFault } from "./fault.ts";
import { Scanner } from "./scanner.ts";

/** A word or a quoted string; the text is raw, its escapes still in it. */
export interface Token {
  readonly text: string;
  readonly quoted: boolean;
  /** Follows the token before it without white space, as in `alpn="h2"`. */
  readonly joined: boolean;
}

/** The words of the data of one record. */
export function tokenize(text: string): Token[] {
  const scanner = new Scanner(text);
  const entry = scanner.next();
  if (entry === null) return [];
  if (entry.fault !== null) throw entry.fault;
  if (entry.comment !== null || scanner.next() !== null) {
    throw new RecordFault("bad-text", null, `${quote(text)} has more than one line or a comment`);
  }
  return entry.tokens;
}

/** The words of the API's `content`. */
export function contentReader(content: string): TextReader {
  return new TextReader(tokenize(content), null);
}

/** Takes the words of one record in turn. */
export class TextReader {
  /** What relative names are relative to; null in the API's `content`, where none is. */
  readonly origin: string | null;
  readonly #tokens: readonly Token[];
  #at: number;

  constructor(tokens: readonly Token[], origin: string | null, at = 0) {
    this.#tokens = tokens;
    this.origin = origin;
    this.#at = at;
  }

  get left(): number {
    return this.#tokens.length - this.#at;
  }

  peek(): Token | undefined {
    return this.#tokens[this.#at];
  }

  next(field: string): Token {
    const token = this.#tokens[this.#at];
    if (token === undefined)
      throw new RecordFault("missing-field", field, `The ${field} is missing`);
    this.#at++;
    return token;
  }

  /** Like `next`, for what cannot be in quotes. */
  word(field: string): string {
    const token = this.next(field);
    if (token.quoted) {
      throw new RecordFault("bad-field", field, `The ${field} ${quote(token.text)} is in quotes`);
    }
    return token.text;
  }

  rest(): readonly Token[] {
    const rest = this.#tokens.slice(this.#at);
    this.#at = this.#tokens.length;
    return rest;
  }

  /** Refuses words that no field has taken. */
  end(): void {
    const token = this.peek();
    if (token !== undefined) {
      throw new RecordFault("bad-text", null, `${quote(token.text)} is more than the type holds`);
    }
  }
}

/** The octets that raw text stands for; what is outside ASCII counts as UTF-8. */
export function unescapeText(raw: string): Uint8Array {
  const octets = Buffer.from(raw, "utf8");
  if (!raw.includes("\\")) return octets;
  const result = Buffer.allocUnsafe(octets.length);
  let length = 0;
  for (let at = 0; at < octets.length; at++) {
    const octet = octets[at]!;
    if (octet !== backslash) {
      result[length++] = octet;
      continue;
    }
    const escaped = escapedOctet(octets, at);
    if (escaped === null) {
      throw new RecordFault("bad-text", null, `${quote(raw)} has an escape that is not one`);
    }
    result[length++] = escaped.octet;
    at += escaped.length - 1;
  }
  return result.subarray(0, length);
}

/** A character string in quotes, with everything outside printable ASCII as `\DDD`. */
export function printQuoted(octets: Uint8Array): string {
  let text = '"';
  for (const octet of octets) {
    if (octet < 0x20 || octet > 0x7e) text += decimalEscape(octet);
    else if (octet === 0x22 || octet === backslash) text += `\\${String.fromCharCode(octet)}`;
    else text += String.fromCharCode(octet);
  }
  return `${text}"`;
}

/** As `printQuoted`, but text that is valid UTF-8 stays readable: JSON carries it as it is. */
export function printQuotedUnicode(octets: Uint8Array): string {
  const text = decodeUtf8(octets);
  if (text === null) return printQuoted(octets);
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  const escaped = text.replaceAll(/["\\]/g, "\\$&").replaceAll(/[\x00-\x1f\x7f]/g, (char) => {
    return decimalEscape(char.charCodeAt(0));
  });
  return `"${escaped}"`;
}

/** The text, or null when the octets are not UTF-8. */
export function decodeUtf8(octets: Uint8Array): string | null {
  try {
    return UTF8.decode(octets);
  } catch {
    return null;
  }
}

// A leading BOM is data here.
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
