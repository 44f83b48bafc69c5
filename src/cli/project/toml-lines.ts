/**
 * Which line each key of a TOML document stands on, so that a fault can name it. The parser tells nothing
 * of that, but has made sure that the document is well-formed. https://toml.io/en/v1.0.0
 */
export type KeyPath = readonly (string | number)[];

/** Lines from 1, by path. */
export class TomlLines {
  readonly #lines = new Map<string, number>();

  constructor(text: string) {
    new Scanner(text, (path, line) => {
      const key = JSON.stringify(path);
      if (!this.#lines.has(key)) this.#lines.set(key, line);
    }).run();
  }

  lineOf(path: KeyPath): number | null {
    return this.#lines.get(JSON.stringify(path)) ?? null;
  }
}

class Scanner {
  readonly #text: string;
  readonly #tell: (path: KeyPath, line: number) => void;
  /** How many tables each `[[…]]` has so far. */
  readonly #counts = new Map<string, number>();
  #at = 0;
  #line = 1;

  constructor(text: string, tell: (path: KeyPath, line: number) => void) {
    this.#text = text;
    this.#tell = tell;
  }

  run(): void {
    let table: KeyPath = [];
    for (this.#skip(); this.#at < this.#text.length; this.#skip()) {
      if (this.#text[this.#at] === "[") table = this.#header();
      else this.#pair(table);
    }
  }

  #header(): KeyPath {
    const line = this.#line;
    const isArray = this.#text.startsWith("[[", this.#at);
    this.#at += isArray ? 2 : 1;
    const names = this.#key();
    this.#skip();
    this.#at += isArray ? 2 : 1;
    const path = this.#resolve(names, isArray);
    if (isArray) this.#tell(path.slice(0, -1), line);
    this.#tell(path, line);
    return path;
  }

  /** `[a.b]` after `[[a]]` is of the last table of `a`. */
  #resolve(names: readonly string[], isArray: boolean): KeyPath {
    const path: (string | number)[] = [];
    for (const [depth, name] of names.entries()) {
      path.push(name);
      const key = JSON.stringify(path);
      const isNew = isArray && depth === names.length - 1;
      if (isNew) this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
      const count = this.#counts.get(key);
      if (count !== undefined) path.push(count - 1);
    }
    return path;
  }

  #pair(table: KeyPath): void {
    const line = this.#line;
    const path = [...table];
    for (const name of this.#key()) {
      path.push(name);
      this.#tell(path, line); // `a.b = 1` is where `a` stands, too.
    }
    this.#skip();
    this.#at++; // The equals sign.
    this.#value(path);
  }

  #key(): string[] {
    const names: string[] = [];
    for (;;) {
      this.#skip();
      names.push(this.#name());
      this.#skip();
      if (this.#text[this.#at] !== ".") return names;
      this.#at++;
    }
  }

  #name(): string {
    const quote = this.#text[this.#at]!;
    const start = this.#at;
    if (quote === '"' || quote === "'") {
      this.#string();
      const raw = this.#text.slice(start, this.#at);
      return quote === "'" ? raw.slice(1, -1) : unescaped(raw);
    }
    const [name] = /^[\w-]*/.exec(this.#text.slice(start, start + LONGEST_NAME))!;
    this.#at += Math.max(name.length, 1); // Never stands still.
    return name;
  }

  #value(path: KeyPath): void {
    this.#skip();
    this.#tell(path, this.#line);
    const first = this.#text[this.#at];
    if (first === '"' || first === "'") this.#string();
    else if (first === "[") this.#list("]", (index) => this.#value([...path, index]));
    else if (first === "{") this.#list("}", () => this.#pair(path));
    else
      while (this.#at < this.#text.length && !/[,\]}\s#]/.test(this.#text[this.#at]!)) this.#at++;
  }

  #list(end: string, item: (index: number) => void): void {
    this.#at++;
    for (let index = 0; this.#at < this.#text.length; index++) {
      this.#skip();
      if (this.#text[this.#at] === end) break;
      const before = this.#at;
      item(index);
      this.#skip();
      if (this.#text[this.#at] === ",") this.#at++;
      if (this.#at === before) return; // Not well-formed after all.
    }
    this.#at++;
  }

  #string(): void {
    const quote = this.#text[this.#at]!;
    const isLong = this.#text.startsWith(quote.repeat(3), this.#at);
    const end = isLong ? quote.repeat(3) : quote;
    this.#at += end.length;
    while (this.#at < this.#text.length && !this.#text.startsWith(end, this.#at)) {
      if (quote === '"' && this.#text[this.#at] === "\\") this.#at++;
      if (this.#text[this.#at] === "\n") this.#line++;
      this.#at++;
    }
    this.#at += end.length;
    // A long string may end in up to two quotes of its own.
    if (isLong) while (this.#text[this.#at] === quote) this.#at++;
  }

  /** White space, line ends and comments. */
  #skip(): void {
    for (; this.#at < this.#text.length; this.#at++) {
      const c = this.#text[this.#at]!;
      if (c === "#") this.#at = endOfLine(this.#text, this.#at);
      if (this.#text[this.#at] === "\n") this.#line++;
      else if (c !== " " && c !== "\t" && c !== "\r") return;
    }
  }
}

/** No name that counts here is longer, and a slice keeps the scan linear. */
const LONGEST_NAME = 1_000;

function endOfLine(text: string, from: number): number {
  const at = text.indexOf("\n", from);
  return at === -1 ? text.length : at;
}

function unescaped(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return quoted.slice(1, -1); // `\e` and `\U0001F600` are TOML's own; no key that counts has them.
  }
}
