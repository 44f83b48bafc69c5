/** Answers, on the main thread, the queries that need an outside name; the threads go on meanwhile. */
import type { Log } from "#kit/log.ts";
import type { Client } from "../client.ts";
import { LATE_MS } from "./control.ts";
import { COUNTER, COUNTER_BYTES } from "./counters.ts";

export type AnswerLater = (query: Uint8Array, client: Client) => Promise<Uint8Array | null>;

export class LateAnswers {
  readonly counters = new Float64Array(COUNTER_BYTES / Float64Array.BYTES_PER_ELEMENT);
  readonly #answerLater: AnswerLater;
  readonly #log: Log;
  readonly #waiting = new Set<Promise<void>>();

  constructor(answerLater: AnswerLater, log: Log) {
    this.#answerLater = answerLater;
    this.#log = log;
  }

  answer(query: Uint8Array, client: Client, send: (reply: Uint8Array) => boolean): Promise<void> {
    const done = this.#answer(query, client, send).finally(() => this.#waiting.delete(done));
    this.#waiting.add(done);
    return done;
  }

  async #answer(
    query: Uint8Array,
    client: Client,
    send: (reply: Uint8Array) => boolean,
  ): Promise<void> {
    const count = (place: number) => this.counters[place]!++;
    try {
      const reply = await this.#answerLater(query, client);
      if (reply === null) count(COUNTER.noResponse);
      else count(send(reply) ? COUNTER.answered : COUNTER.sendFailed);
    } catch (cause) {
      count(COUNTER.fault);
      this.#log.error("late answer failed", { cause });
    }
  }

  /** Waits for those under way, within reason. */
  async settle(): Promise<void> {
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, LATE_MS);
    await Promise.race([Promise.all(this.#waiting), timeout.promise]);
    clearTimeout(timer);
  }
}
