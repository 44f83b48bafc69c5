/** Asks an origin on behalf of the cache: the answer's octets come when they are wanted. */
import type { AnswerSink, Exchange, ResponseHead } from "#http";
import type { Awaited, Deadlines, Wait } from "#kit/deadlines.ts";
import { endToEnd } from "../forwarded.ts";
import type { OnInterim } from "../early-hints.ts";
import type { Onward } from "../onward.ts";
import { withoutFields } from "./headers.ts";
import type { OriginResponse } from "./messages.ts";

/** The octets that wait for a reader before the origin is made to wait. */
const HELD_OCTETS = 256 * 1024;

/** They ask for less than the whole. */
const OF_PARTS: ReadonlySet<string> = new Set([
  "range",
  "if-range",
  "if-match",
  "if-none-match",
  "if-modified-since",
  "if-unmodified-since",
]);

/**
 * Sends a request without a body; conditions are those of `FetchOrigin`. Throws when no answer comes. A
 * connection that waited may have been closed by the other side: then a new one is tried.
 */
export async function askOrigin(
  onward: Pick<Onward, "upstream" | "target" | "headers" | "answerWithin">,
  method: string,
  conditions: readonly string[] | null,
  onInterim: OnInterim,
): Promise<OriginResponse> {
  const isWhole = conditions !== null;
  const fields = isWhole
    ? [...withoutFields(onward.headers, OF_PARTS), ...conditions]
    : onward.headers;
  let head = `${isWhole ? "GET" : method} ${onward.target} HTTP/1.1\r\n`;
  for (let i = 0; i < fields.length; i += 2) head += `${fields[i]}: ${fields[i + 1]}\r\n`;
  const send = (fresh: boolean) => {
    const answer = new OriginAnswer(onward.answerWithin ?? null, onInterim);
    const exchange = onward.upstream.send(isWhole ? "GET" : method, `${head}\r\n`, answer, fresh);
    answer.attach(exchange);
    exchange.finish();
    return { answer, exchange };
  };
  const first = send(false);
  try {
    return await first.answer.response;
  } catch (error) {
    const isLate = error instanceof LateAnswer;
    if (isLate || !first.exchange.isReused || !onward.upstream.isOpen) throw error;
    return send(true).answer.response;
  }
}

class LateAnswer extends Error {}

class OriginAnswer implements AnswerSink, Awaited, AsyncIterableIterator<Uint8Array> {
  readonly interim: OnInterim;
  readonly #head = Promise.withResolvers<OriginResponse>();
  readonly #within: Deadlines | null;
  readonly #wait: Wait | null;
  #exchange: Exchange | null = null;
  #chunks: Buffer[] = [];
  #held = 0;
  #end: "open" | "whole" | Error = "open";
  #change = Promise.withResolvers<void>();

  constructor(within: Deadlines | null, onInterim: OnInterim) {
    this.interim = onInterim;
    this.#within = within;
    this.#wait = within?.add(this) ?? null;
  }

  late(): void {
    this.#exchange?.abort();
    this.fail(new LateAnswer(`No answer within ${this.#within!.ms} ms`));
  }

  get response(): Promise<OriginResponse> {
    return this.#head.promise;
  }

  attach(exchange: Exchange): void {
    this.#exchange = exchange;
  }

  head({ status, headers }: ResponseHead): void {
    this.#answered();
    const abandon = () => this.#abandon();
    this.#head.resolve({ status, headers: endToEnd(headers), body: this, abandon });
  }

  #abandon(): void {
    if (this.#end !== "open") return;
    this.#exchange?.abort();
    this.fail(new Error("The answer was given up"));
  }

  /** They wait for a reader, and few must not hold all of a large room that they were read into. */
  data(octets: Buffer, free: () => void): void {
    const isSmall = octets.length < octets.buffer.byteLength / 2;
    this.#chunks.push(isSmall ? Buffer.from(octets) : octets);
    if (isSmall) free();
    this.#held += octets.length;
    if (this.#held > HELD_OCTETS) this.#exchange?.pause();
    this.#tell();
  }

  end(): void {
    if (this.#end === "open") this.#end = "whole";
    this.#exchange = null;
    this.#tell();
  }

  fail(cause: Error): void {
    if (this.#end !== "open") return;
    this.#end = cause;
    this.#exchange = null;
    this.#answered();
    this.#head.reject(cause);
    this.#tell();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<Uint8Array>> {
    for (;;) {
      const value = this.#chunks.shift();
      if (value !== undefined) {
        const wasFull = this.#held > HELD_OCTETS;
        this.#held -= value.length;
        if (wasFull && this.#held <= HELD_OCTETS) this.#exchange?.resume();
        return { done: false, value };
      }
      if (this.#end === "whole") return { done: true, value: undefined };
      if (this.#end !== "open") throw this.#end;
      await this.#change.promise;
    }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    this.#abandon();
    return { done: true, value: undefined };
  }

  #answered(): void {
    if (this.#wait !== null) this.#within!.end(this.#wait);
  }

  #tell(): void {
    const { resolve } = this.#change;
    this.#change = Promise.withResolvers();
    resolve();
  }
}
