/**
 * Bodies that a script passes on to its client as they are never come to it: the store lends them, and whoever answers
 * the client takes them there. The edge asks a script through `atEdge`, which sees what becomes of them. Runs inside
 * workerd alone, but for what a bucket needs everywhere.
 */
import { LENT_BODY } from "#kit/lent-body.ts";
import type { LentOctets } from "./protocol.ts";

/**
 * Turns of the queue of promises that a script has from the time it asks for a stream until it answers with it. One that
 * answers right away needs three, some more for each function that its answer is awaited in; each takes less than 0.1 µs.
 */
const TURNS = 128;

/** After a body that was lent and then read, so many must be passed on before one is lent again. */
const CAUTION = 8;

/** What a script does with the bodies of a bucket: with the next, likely, the same as with the last. */
export class Habit {
  #score = 0;

  /** Whether the next body should be lent. */
  get passesOn(): boolean {
    return this.#score >= 0;
  }

  notePassed(): void {
    this.#score = Math.min(this.#score + 1, 0);
  }

  noteRead(): void {
    this.#score = -CAUTION;
  }
}

/** Of streams that a script was given and has, as far as is known, not read. */
const given = new WeakMap<ReadableStream, Given>();

interface Given {
  /** The answer as it is to go on; `mayPass` tells whether its body may be named instead of sent. */
  answer(response: Response, mayPass: boolean): Response;
}

/** A stream that brings its octets along: should the script pass it on, the next could be lent. */
export function noteGiven(stream: ReadableStream, habit: Habit): void {
  given.set(stream, {
    answer(response) {
      habit.notePassed();
      return response;
    },
  });
}

/** A stream whose octets are asked for when the script does not answer with it at once. */
export function lentStream(octets: LentOctets, habit: Habit): ReadableStream<Uint8Array> {
  const loan = new Loan(octets, habit);
  given.set(octets.stream, loan);
  void loan.beginLater();
  return octets.stream;
}

class Loan implements Given {
  readonly #octets: LentOctets;
  readonly #habit: Habit;
  /** It was neither begun nor passed on. */
  #isOpen = true;

  constructor(octets: LentOctets, habit: Habit) {
    this.#octets = octets;
    this.#habit = habit;
  }

  async beginLater(): Promise<void> {
    for (let i = 0; i < TURNS && this.#isOpen; i++) await Promise.resolve();
    if (this.#isOpen) this.#begin();
  }

  answer(response: Response, mayPass: boolean): Response {
    if (!this.#isOpen) return response;
    // The runtime may have to encode it, which it does not tell.
    if (!mayPass || response.headers.has("content-encoding")) {
      this.#begin();
      return response;
    }
    this.#isOpen = false;
    this.#habit.notePassed();
    response.body!.getReader(); // It is the client's: whoever else wants to read it finds it locked.
    const answer = new Response(null, response);
    answer.headers.set(LENT_BODY, this.#octets.lent);
    return answer;
  }

  #begin(): void {
    this.#isOpen = false;
    this.#habit.noteRead();
    this.#octets.begin();
  }
}

/** Only where the edge asks: others would have to ask once more for nothing. */
class EdgeLending {
  #waitUntil: WaitUntil | null = null;

  get isOn(): boolean {
    return this.#waitUntil !== null;
  }

  goOn(asked: Promise<unknown>): void {
    this.#waitUntil?.(asked);
  }

  start(waitUntil: WaitUntil): void {
    this.#waitUntil = waitUntil;
  }
}
export const lending = new EdgeLending();

type WaitUntil = (promise: Promise<unknown>) => void;
type Fetch = (...args: unknown[]) => unknown;
type Entrypoint = new (...args: unknown[]) => { fetch(...args: unknown[]): unknown };

/** A script's default export as the edge asks it. What is no handler of requests stays as it is. */
export function atEdge(script: unknown, waitUntil: WaitUntil): unknown {
  lending.start(waitUntil);
  if (typeof script === "function" && typeof script.prototype?.fetch === "function") {
    const Entry = class extends (script as Entrypoint) {
      override async fetch(...args: unknown[]): Promise<unknown> {
        return passedOn(args[0], await super.fetch(...args));
      }
    };
    Object.defineProperty(Entry, "name", { value: script.name });
    Object.defineProperty(Entry.prototype, "constructor", { value: script });
    return Entry;
  }
  const { fetch } = (script ?? {}) as { fetch?: unknown };
  if (typeof script !== "object" || typeof fetch !== "function") return script;
  return {
    async fetch(...args: unknown[]): Promise<unknown> {
      return passedOn(args[0], await (script as { fetch: Fetch }).fetch(...args));
    },
  };
}

function passedOn(request: unknown, answer: unknown): unknown {
  if (!(answer instanceof Response)) return answer; // The runtime says what it thinks of it.
  const { body } = answer;
  const loan = body instanceof ReadableStream ? given.get(body) : undefined;
  if (loan === undefined || answer.bodyUsed || body!.locked) return answer;
  // Who would rather speak another protocol gets the octets as they come.
  return loan.answer(answer, !(request as Request).headers.has("upgrade"));
}
