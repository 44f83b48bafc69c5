/** One line on the terminal that says what is under way, once it takes long. */
import type { Writable } from "node:stream";
import { CLEAR_LINE, DEFAULT_WIDTH } from "./progress.ts";
import { cutTo } from "./table.ts";

/** What is done within this needs no word. */
const PATIENCE_MS = 1_000;

export class WorkingLine implements Disposable {
  readonly #stream: (Writable & { readonly columns?: number }) | null;
  readonly #what: string;
  readonly #timer: NodeJS.Timeout | undefined;
  #seconds = 0;

  /** Without a stream nothing is drawn. */
  constructor(stream: (Writable & { readonly columns?: number }) | null, what: string) {
    this.#stream = stream;
    this.#what = what;
    if (stream !== null) this.#timer = setInterval(() => this.#draw(stream), PATIENCE_MS);
  }

  #draw(stream: Writable & { readonly columns?: number }): void {
    this.#seconds++;
    const width = stream.columns || DEFAULT_WIDTH;
    stream.write(`${CLEAR_LINE}${cutTo(`${this.#what} … ${this.#seconds} s`, width - 1)}`);
  }

  /** Takes the line away until it is drawn again: something else is to be said. */
  clear(): void {
    if (this.#seconds > 0) this.#stream?.write(CLEAR_LINE);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.clear();
    this.#seconds = 0;
  }
}
