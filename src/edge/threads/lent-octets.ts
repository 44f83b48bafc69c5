/** Octets that the store lends, as a thread of the edge sends them: from files that the main thread has open. */
import type { StreamedBody } from "#http";
import { octetsOfOpen } from "#objects/on-threads";
import type { MainThread } from "./main-thread.ts";
import type { LentPiece } from "./messages.ts";

/** Null when there is nothing of that name. */
export async function takeLent(
  main: MainThread,
  name: string,
  owner: string | null,
): Promise<StreamedBody | null> {
  const lent = await main.ask("lent", owner === null ? name : `${name} ${owner}`);
  if (lent === null) return null;
  const { length, first } = lent;
  return { length, first: NOTHING, rest: new TakenOctets(main, name, length, first) };
}

type Offered = [] | [unknown];

class TakenOctets implements AsyncIterableIterator<Uint8Array> {
  readonly #main: MainThread;
  readonly #name: string;
  #piece: AsyncIterator<Uint8Array>;
  /** Of which no piece is known yet. */
  #left: number;
  #isOver = false;

  constructor(main: MainThread, name: string, length: number, first: LentPiece) {
    this.#main = main;
    this.#name = name;
    this.#left = length - first.length;
    this.#piece = octetsOf(first);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(...offer: Offered): Promise<IteratorResult<Uint8Array>> {
    for (;;) {
      const step = await this.#piece.next(...offer);
      if (step.done !== true) return step;
      if (this.#left === 0 || this.#isOver) return this.#end();
      await this.#ask();
    }
  }

  async return(): Promise<IteratorResult<Uint8Array>> {
    await this.#piece.return?.(); // What is being read needs its file.
    return this.#end();
  }

  async #ask(): Promise<void> {
    const piece = await this.#main.ask("more of lent", this.#name);
    if (piece === null || this.#isOver) throw new Error("The octets end too early");
    this.#left -= piece.length;
    this.#piece = octetsOf(piece);
  }

  #end(): IteratorResult<Uint8Array> {
    if (!this.#isOver) this.#main.say({ kind: "left", lent: this.#name });
    this.#isOver = true;
    return { done: true, value: undefined };
  }
}

function octetsOf(piece: LentPiece): AsyncIterator<Uint8Array> {
  return piece instanceof Uint8Array ? once(piece) : octetsOfOpen(piece.fd, piece);
}

async function* once(octets: Uint8Array): AsyncGenerator<Uint8Array> {
  yield octets;
}

const NOTHING = new Uint8Array(0);
