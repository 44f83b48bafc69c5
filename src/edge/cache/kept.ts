/** A stored response at hand, with what its next hits need. */
import { ageSeconds } from "./freshness.ts";
import type { RawHeaders } from "./headers.ts";
import { lastFields } from "./answer.ts";
import { isInFile, type Stored, type StoredHead } from "./stored.ts";

export class Kept implements Stored {
  readonly head: StoredHead;
  readonly body: Stored["body"];
  /** The last purge that it was held against. */
  purge: number;
  #age = -1;
  #headers: RawHeaders = [];

  constructor({ head, body }: Stored) {
    this.head = head;
    this.body = body;
    this.purge = head.purge;
  }

  /** The head of a hit: one list for all within a second, for only the age changes. */
  headersAt(now: number): RawHeaders {
    const age = ageSeconds(this.head.freshness, now);
    if (age !== this.#age) {
      this.#age = age;
      this.#headers = [...this.head.headers, ...lastFields(this.head, "HIT", now)];
    }
    return this.#headers;
  }

  /** What it takes of memory: twice the head's text, for the list of a hit holds it again. */
  get octets(): number {
    const { head, body } = this;
    const text = head.headers.reduce((sum, field) => sum + field.length, head.variant.length);
    return 2 * text + (isInFile(body) ? 8 * body.sums.length : body.length);
  }
}
