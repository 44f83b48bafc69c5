/**
 * Writes as messages to the writer's thread. Those asked for together go in one, flat and without the SQL that
 * the thread knows already: a message each, with an object for every value, took ten times as long.
 */
import type { NewStatement, WriteMessage } from "./write-messages.ts";
import type { Bound, SqlValue, StatementText } from "./statement.ts";

/** Values of a part: some milliseconds' work, so that the writer begins while the next is made. */
const PART_VALUES = 16_384;

export class WriteRequests {
  readonly #numbers = new Map<StatementText, number>();
  /** What the next message must tell; it stays here when making the steps of one fails. */
  #news: NewStatement[] = [];
  #ids: number[] = [];
  #ends: number[] = [];
  #steps: SqlValue[] = [];

  /** How many writes wait for the next message. */
  get size(): number {
    return this.#ids.length;
  }

  /** Adds a write to the next message, whose reply tells what came of each step. */
  add(id: number, steps: readonly Bound[]): void {
    for (const step of steps) this.#push(this.#steps, step);
    this.#close(id);
  }

  /**
   * The same for any number of steps. Very many go in several messages of their own, which are given, behind
   * those that wait; then only the last one's reply tells how it went.
   */
  *addAll(id: number, steps: Iterable<Bound>): Generator<WriteMessage, void> {
    let flat: SqlValue[] = [];
    let isLong = false;
    for (const step of steps) {
      if (flat.length >= PART_VALUES) {
        if (!isLong && this.size > 0) yield this.take();
        yield this.#message("more follow", [id], [flat.length], flat);
        [flat, isLong] = [[], true];
      }
      this.#push(flat, step);
    }
    if (isLong) {
      yield this.#message("last", [id], [flat.length], flat);
    } else {
      for (const value of flat) this.#steps.push(value);
      this.#close(id);
    }
  }

  /** The message with all writes that wait. */
  take(): WriteMessage {
    const message = this.#message("all", this.#ids, this.#ends, this.#steps);
    [this.#ids, this.#ends, this.#steps] = [[], [], []];
    return message;
  }

  /** Ends a long write of which some messages were given, and no more can be made. */
  giveUp(id: number): WriteMessage {
    return this.#message("never mind", [id], [0], []);
  }

  #close(id: number): void {
    this.#ids.push(id);
    this.#ends.push(this.#steps.length);
  }

  #push(flat: SqlValue[], { text, values, mustChange }: Bound): void {
    flat.push(this.#numbers.get(text) ?? this.#number(text, values.length), mustChange);
    for (const value of values) flat.push(value);
  }

  #number(text: StatementText, takes: number): number {
    const number = this.#numbers.size;
    this.#numbers.set(text, number);
    this.#news.push({ sql: text.sqlite, takes, returnsRows: text.returnsRows });
    return number;
  }

  #message(part: WriteMessage["part"], ids: number[], ends: number[], steps: SqlValue[]) {
    const news = this.#news;
    this.#news = [];
    return { part, news, ids, ends, steps, ...gatherBytes(steps) };
  }
}

/**
 * Takes bytes out of the values into one buffer, which the message hands over instead of copying. Each view of
 * its own would cost more than all other values of its write.
 */
function gatherBytes(values: SqlValue[]): Pick<WriteMessage, "bytes" | "views"> {
  const views: number[] = [];
  let size = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    // Most values are text or numbers, and told from bytes by their kind alone.
    if (typeof value === "object" && value !== null) views.push(i, (size += value.length));
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (let i = 0; i < views.length; i += 2) {
    const index = views[i]!;
    bytes.set(values[index] as Uint8Array, at);
    values[index] = null;
    at = views[i + 1]!;
  }
  return { bytes, views };
}

/** Puts the bytes back where they were. */
export function placeBytes(values: SqlValue[], { bytes, views }: ReturnType<typeof gatherBytes>) {
  let at = 0;
  for (let i = 0; i < views.length; i += 2) {
    values[views[i]!] = bytes.subarray(at, (at = views[i + 1]!));
  }
}
