/**
 * What one thread of the edge has taken of the octets that the store lends, on the main thread. Threads share the files
 * that the process has open: a piece that lies in one is told by its place there, and read by the thread itself.
 */
import type { Outlet } from "#kit/outlet.ts";
import type { LentPiece, Questions } from "./messages.ts";

/** What the store has lent to a script, for whoever takes it: to be read, or returned. */
export interface LentBody {
  readonly length: number;
  readonly body: AsyncIterable<Uint8Array>;
}

export type TakeLent = (name: string, owner: string | null) => LentBody | null;

type Octets = AsyncIterator<Uint8Array, void, Outlet>;

export class LentFiles implements Disposable {
  readonly #take: TakeLent;
  readonly #taken = new Map<string, Octets>();
  #isOver = false;

  constructor(take: TakeLent) {
    this.#take = take;
  }

  async take(name: string, owner: string | null): Promise<Questions["lent"]> {
    const lent = this.#take(name, owner);
    if (lent === null) return null;
    this.#taken.set(name, lent.body[Symbol.asyncIterator]() as Octets);
    if (this.#isOver) this.leave(name);
    const first = await this.next(name);
    if (first !== null) return { length: lent.length, first };
    this.leave(name);
    return null;
  }

  /** A file is open until the next is asked for. */
  async next(name: string): Promise<LentPiece | null> {
    let piece: LentPiece | null = null;
    const place: Outlet = {
      room: () => NOTHING,
      move: (fd, offset, length) => {
        piece = { fd, offset, length };
        return length;
      },
    };
    try {
      const step = await this.#taken.get(name)?.next(place);
      // A message takes the whole buffer along that octets lie in.
      return piece ?? (step?.done === false ? new Uint8Array(step.value) : null);
    } catch (cause) {
      this.leave(name);
      throw cause;
    }
  }

  /** The thread needs it no more. */
  leave(name: string): void {
    const octets = this.#taken.get(name);
    this.#taken.delete(name);
    void octets?.return?.();
  }

  /** The thread has ended. */
  [Symbol.dispose](): void {
    this.#isOver = true;
    for (const name of this.#taken.keys()) this.leave(name);
  }
}

const NOTHING = new Uint8Array(0);
