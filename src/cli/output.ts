/**
 * Where a command's words go. Results go to standard output, for people or as JSON; notes and progress go to
 * standard error, so that a pipe only ever carries results.
 */
import type { Writable } from "node:stream";
import { Progress } from "./progress.ts";
import { styles, type Styles } from "./style.ts";
import { type Column, table, visible } from "./table.ts";
import { WorkingLine } from "./working-line.ts";

export type OutputStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

export interface OutputOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly json: boolean;
}

/** Of a terminal that does not say. */
const DEFAULT_WIDTH = 80;

export class Output {
  readonly #stdout: OutputStream;
  readonly #stderr: OutputStream;
  readonly #env: OutputOptions["env"];
  /** Whether results are asked for as JSON. */
  readonly json: boolean;
  /** Colours of what goes to standard output; `noteStyle` of what goes to standard error. */
  readonly style: Styles;
  readonly noteStyle: Styles;
  /** The line that is drawn now, in the way of others. */
  #progress: { clear(): void } | null = null;

  constructor(stdout: OutputStream, stderr: OutputStream, { env, json }: OutputOptions) {
    this.#stdout = stdout;
    this.#stderr = stderr;
    this.#env = env;
    this.json = json;
    this.style = styles(stdout, env);
    this.noteStyle = styles(stderr, env);
  }

  /** Of the terminal; without one lines are not cut. */
  get width(): number {
    return this.#stdout.isTTY === true ? this.#stdout.columns || DEFAULT_WIDTH : Infinity;
  }

  /** Whether someone reads the results as they come. */
  get isRead(): boolean {
    return this.#stdout.isTTY === true && !this.json;
  }

  /** Whether someone watches standard error. */
  get isWatched(): boolean {
    return this.#stderr.isTTY === true;
  }

  /** The whole result: the value as one JSON document, or the text for people. */
  result(value: unknown, text: string | (() => string)): void {
    if (this.json) {
      this.#print(JSON.stringify(value, null, this.#stdout.isTTY === true ? 2 : 0));
      return;
    }
    const shown = typeof text === "string" ? text : text();
    if (shown !== "") this.#print(shown);
  }

  /** One of many results: a line of JSON, or of text for people. */
  line(value: unknown, text: string): void {
    this.#print(this.json ? JSON.stringify(value) : text);
  }

  /** A list as the whole result: an array, or a table; `none` is said to people when it is empty. */
  list<T>(items: readonly T[], columns: readonly Column<T>[], none: string): void {
    if (!this.json && items.length === 0) this.note(none);
    else this.result(items, () => this.table(items, columns));
  }

  table<T>(items: readonly T[], columns: readonly Column<T>[]): string {
    return table(items, columns, this.width, this.style);
  }

  /** Names and values of one thing, a line each. */
  fields(fields: readonly (readonly [name: string, value: string])[]): string {
    const width = Math.max(...fields.map(([name]) => name.length));
    return fields
      .map(([name, value]) => `${this.style.dim(name.padEnd(width))}  ${visible(value)}`)
      .join("\n");
  }

  /** Octets as they are, such as an object; waits when the reader is slower. */
  async bytes(chunk: Uint8Array): Promise<void> {
    if (this.#stdout.write(chunk)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#stdout.once("drain", resolve).once("close", resolve); // Closed: the reader has gone.
    await promise;
    this.#stdout.off("drain", resolve).off("close", resolve);
  }

  /** Something worth knowing that is no result. Beside JSON it is a line of JSON, as errors are. */
  note(text: string): void {
    this.#say("note", text, text);
  }

  warn(text: string): void {
    this.#say("warning", text, `${this.noteStyle.yellow("warning:")} ${text}`);
  }

  #say(kind: string, text: string, shown: string): void {
    this.#progress?.clear();
    this.#stderr.write(this.json ? `${JSON.stringify({ [kind]: text })}\n` : `${shown}\n`);
  }

  /** A line on the terminal that shows how far something is; nothing where nobody watches. */
  progress(title: string, total: number | null = null): Progress {
    const progress = new Progress(this.#screen, title, total);
    this.#progress = progress;
    return progress;
  }

  /** Does the work; where someone watches and it takes long, a line says what it is and for how long. */
  async working<T>(what: string, work: Promise<T>): Promise<T> {
    using line = new WorkingLine(this.#screen, what);
    this.#progress = line;
    return await work;
  }

  get #screen(): OutputStream | null {
    return this.isWatched && this.#env["TERM"] !== "dumb" ? this.#stderr : null;
  }

  #print(text: string): void {
    this.#progress?.clear();
    this.#stdout.write(`${text}\n`);
  }
}
