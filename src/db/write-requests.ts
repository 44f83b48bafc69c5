/** Writes as messages to the writer's thread: flat, and without the SQL that it knows already. */
import type { NewStatement, WriteRequest } from "./sqlite-writer.ts";
import type { Bound, SqlValue, StatementText } from "./statement.ts";

/** Values of a part: some milliseconds' work, so that the writer begins while the next is made. */
const PART_VALUES = 16_384;

export class WriteRequests {
  readonly #numbers = new Map<StatementText, number>();
  /** What the next message must tell; it stays here when making the steps of one fails. */
  #news: NewStatement[] = [];

  /** In one message, whose reply tells what came of each step. */
  whole(id: number, steps: Iterable<Bound>): WriteRequest {
    const flat: SqlValue[] = [];
    for (const step of steps) this.#add(flat, step);
    return this.#request(id, "all", flat);
  }

  /** In one message or several; only the last one's reply tells how it went. */
  *parts(id: number, steps: Iterable<Bound>): Generator<WriteRequest, void> {
    let flat: SqlValue[] = [];
    let part: WriteRequest["part"] = "all";
    for (const step of steps) {
      if (flat.length >= PART_VALUES) {
        yield this.#request(id, "more follow", flat);
        [flat, part] = [[], "last"];
      }
      this.#add(flat, step);
    }
    yield this.#request(id, part, flat);
  }

  #add(flat: SqlValue[], { text, values, mustChange }: Bound): void {
    flat.push(this.#numbers.get(text) ?? this.#number(text, values.length), mustChange);
    for (const value of values) flat.push(value);
  }

  #number(text: StatementText, takes: number): number {
    const number = this.#numbers.size;
    this.#numbers.set(text, number);
    this.#news.push({ number, sql: text.sqlite, takes, returnsRows: text.returnsRows });
    return number;
  }

  #request(id: number, part: WriteRequest["part"], steps: SqlValue[]): WriteRequest {
    gatherViews(steps);
    const news = this.#news;
    this.#news = [];
    return { id, part, news, steps };
  }
}

/**
 * Brings bytes that lie in larger buffers into one of their own. Node takes small ones from a pool, and a
 * message carries the whole buffer of each view.
 */
function gatherViews(values: SqlValue[]): void {
  let size = 0;
  for (const value of values) if (isView(value)) size += value.length;
  if (size === 0) return;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (let i = 0; i < values.length; i++) {
    const value = values[i]!;
    if (!isView(value)) continue;
    bytes.set(value, at);
    values[i] = bytes.subarray(at, (at += value.length));
  }
}

function isView(value: SqlValue): value is Uint8Array {
  // Most values are text or numbers, and told from bytes by their kind alone.
  return typeof value === "object" && value !== null && value.length < value.buffer.byteLength;
}
