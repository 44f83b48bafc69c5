/** Cuts a zone file into entries: the words of a record or directive, over one or more lines. */
import { RecordFault } from "./fault.ts";
import type { Token } from "./text.ts";

export interface Entry {
  /** Where it begins. */
  readonly line: number;
  /** The line began with white space, so the owner is the one before. */
  readonly indented: boolean;
  /** Empty only beside a fault. */
  readonly tokens: Token[];
  /** What follows the last `;`, after the entry's end. */
  readonly comment: string | null;
  /** What is wrong with its punctuation, when the entries after it can still be read. */
  readonly fault: RecordFault | null;
}

const NEWLINE = 0x0a;
const SEMICOLON = 0x3b;
const OPEN = 0x28;
const CLOSE = 0x29;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

const ENDS_A_WORD = new Uint8Array(128);
for (const char of ' \t\r\n;()"') ENDS_A_WORD[char.charCodeAt(0)] = 1;

export class Scanner {
  readonly #text: string;
  #at = 0;
  #line = 1;
  #tokens: Token[] = [];

  constructor(text: string) {
    this.#text = text;
    if (text.startsWith("\uFEFF")) this.#at = 1;
  }

  /** The line where the scanner stands, or where an unclosed quote or parenthesis began. */
  get line(): number {
    return this.#line;
  }

  /** The next entry, or null at the end. What is unclosed at the end is thrown, and is the end. */
  next(): Entry | null {
    const text = this.#text;
    this.#tokens = [];
    let comment: string | null = null;
    let indented = isBlank(text.charCodeAt(this.#at));
    let start = this.#line;
    let depth = 0;
    let opened = start;
    let joined = false;
    let fault: RecordFault | null = null;
    for (;;) {
      const code = text.charCodeAt(this.#at);
      if (Number.isNaN(code)) break;
      if (code === NEWLINE) {
        this.#at++;
        this.#line++;
        if (depth === 0 && (this.#tokens.length > 0 || fault !== null)) break;
        if (depth === 0) {
          indented = isBlank(text.charCodeAt(this.#at));
          start = this.#line;
          comment = null;
        }
        joined = false;
      } else if (isBlank(code)) {
        this.#at++;
        joined = false;
      } else if (code === SEMICOLON) {
        const rest = this.#restOfLine();
        if (depth === 0) comment = rest;
      } else if (code === OPEN || code === CLOSE) {
        if (code === OPEN && depth++ === 0) opened = this.#line;
        else if (code === CLOSE && depth-- === 0) {
          depth = 0;
          fault ??= new RecordFault(
            "bad-text",
            null,
            "A parenthesis is closed that was not opened",
          );
        }
        this.#at++;
        joined = false;
      } else {
        if (code === QUOTE) this.#quoted(joined);
        else this.#word(joined);
        joined = true;
      }
    }
    if (depth > 0) {
      this.#line = opened;
      throw new RecordFault("bad-text", null, "A parenthesis is not closed");
    }
    if (this.#tokens.length === 0 && fault === null) return null;
    return { line: start, indented, tokens: this.#tokens, comment, fault };
  }

  #restOfLine(): string {
    const end = this.#text.indexOf("\n", this.#at);
    const stop = end === -1 ? this.#text.length : end;
    const rest = this.#text.slice(this.#at + 1, stop);
    this.#at = stop;
    return rest.trim();
  }

  #word(joined: boolean): void {
    const text = this.#text;
    let at = this.#at;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code < 128 && ENDS_A_WORD[code] === 1) break;
      // A backslash takes the next character along, but never the end of the line.
      if (code === BACKSLASH && !isLineEnd(text.charCodeAt(at + 1))) at++;
    }
    this.#tokens.push({ text: text.slice(this.#at, at), quoted: false, joined });
    this.#at = at;
  }

  #quoted(joined: boolean): void {
    const text = this.#text;
    const opened = this.#line;
    let at = this.#at + 1;
    for (; ; at++) {
      const code = text.charCodeAt(at);
      if (Number.isNaN(code)) {
        this.#line = opened;
        this.#at = text.length;
        throw new RecordFault("bad-text", null, "A quoted string is not closed");
      }
      if (code === QUOTE) break;
      if (code === BACKSLASH && !isLineEnd(text.charCodeAt(at + 1))) at++;
      else if (code === NEWLINE) this.#line++;
    }
    this.#tokens.push({ text: text.slice(this.#at + 1, at), quoted: true, joined });
    this.#at = at + 1;
  }
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09 || code === 0x0d;
}

function isLineEnd(code: number): boolean {
  return Number.isNaN(code) || code === NEWLINE || code === 0x0d;
}
