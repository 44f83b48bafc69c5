/** One response on its way into the cache, and to the clients that wait for it. */
import { BodyTape, type TapeOptions } from "./body-tape.ts";
import type { BodyDraft } from "./disk-store.ts";
import { fieldOf } from "./headers.ts";
import type { OriginResponse } from "./messages.ts";
import type { Shelf } from "./shelf.ts";
import type { StoredHead } from "./stored.ts";

export interface FillOptions extends Pick<TapeOptions, "memoryOctets" | "keepOctets" | "onError"> {
  readonly head: StoredHead;
  /** Where it will be kept. */
  readonly place: string;
  readonly response: OriginResponse;
  readonly openDraft: TapeOptions["openDraft"];
  /** Keeps the whole body; tells whether the file that it is in is named by now. */
  readonly keep: (body: Uint8Array | BodyDraft) => Promise<boolean>;
  readonly discard: (draft: BodyDraft) => void;
}

export interface FillLimits {
  readonly memoryObjectOctets: number;
  readonly objectOctets: number;
  readonly onError: (error: Error) => void;
}

/** Lets a response be kept while it is read; whoever has made the first reader starts it. */
export function fillOf(
  shelf: Shelf,
  head: StoredHead,
  response: OriginResponse,
  moment: number,
  { memoryObjectOctets, objectOctets, onError }: FillLimits,
): Fill {
  const place = shelf.prepare(head);
  return new Fill({
    head,
    place,
    response,
    memoryOctets: memoryObjectOctets,
    keepOctets: objectOctets,
    openDraft: shelf.draftAt(place),
    keep: (body) => shelf.keep(place, head, body, moment),
    discard: (draft) => shelf.discard(draft),
    onError,
  });
}

/** When the last client leaves, so little that is missing is fetched all the same. */
const WORTH_FETCHING_OCTETS = 1024 * 1024;

export class Fill {
  readonly head: StoredHead;
  readonly place: string;
  /** Of the whole body; null when the origin does not tell. */
  readonly length: number | null;
  readonly #options: FillOptions;
  readonly #tape: BodyTape;
  readonly #settled = Promise.withResolvers<void>();
  /** It goes on when no client reads. */
  #isWanted = false;
  #isGivenUp = false;

  constructor(options: FillOptions) {
    this.#options = options;
    this.head = options.head;
    this.place = options.place;
    this.length = lengthOf(options.response);
    this.#tape = new BodyTape({ ...options, onLeft: () => this.#onLeft() });
  }

  /** Whether more clients may read it from its first octet. */
  get isOpen(): boolean {
    return this.#tape.isKept && !this.#isGivenUp;
  }

  read: BodyTape["read"] = (span) => this.#tape.read(span);

  /** Fetched to its end whoever reads: a client got a part, or asked for nothing. */
  want(): void {
    this.#isWanted = true;
  }

  /** Resolves when the body is kept, or will not be. */
  get settled(): Promise<void> {
    return this.#settled.promise;
  }

  /** Once, when the first reader is there. */
  start(): void {
    this.#run().then(this.#settled.resolve, (error: Error) => {
      this.#options.onError(error);
      this.#settled.resolve();
    });
  }

  async #run(): Promise<void> {
    const { keep, discard, onError } = this.#options;
    let isNamed = false;
    try {
      await this.#pump();
      const kept = this.#tape.finish();
      if (kept !== null) isNamed = await keep(kept);
    } catch (error) {
      this.#tape.cut(error as Error);
    }
    const { draft } = this.#tape;
    if (draft === null) return;
    if (!isNamed) discard(draft);
    // Those who still read from the file go on.
    void this.#tape.left().then(() => draft[Symbol.asyncDispose]().catch(onError));
  }

  async #pump(): Promise<void> {
    for await (const bytes of this.#options.response.body) {
      await this.#tape.append(bytes);
      // Nobody reads, and nothing will be kept.
      if (!this.#tape.isKept && !this.#tape.hasReaders) this.#giveUp();
      if (this.#isGivenUp) break;
    }
    if (this.#isGivenUp) throw new Error("No client waits for it");
    if (this.length !== null && this.length !== this.#tape.length) {
      throw new Error(`The origin sent ${this.#tape.length} octets of ${this.length}`);
    }
  }

  #giveUp(): void {
    this.#isGivenUp = true;
    this.#options.response.abandon();
  }

  #onLeft(): void {
    if (this.#isWanted) return;
    const got = this.#tape.length;
    const missing = this.length === null ? Number.POSITIVE_INFINITY : this.length - got;
    if (missing > Math.max(got, WORTH_FETCHING_OCTETS)) this.#giveUp();
  }
}

function lengthOf({ status, headers }: OriginResponse): number | null {
  if (status === 204) return 0;
  const length = fieldOf(headers, "content-length");
  return length !== null && /^\d+$/.test(length) ? Number(length) : null;
}
