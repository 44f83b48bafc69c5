/** How many octets of uploads are in memory at one time: those that are read, and those that wait for their turn. */
import { ApiError } from "./errors.ts";

/** What an upload has beside its modules: bindings, and the form around all of it. */
const ROOM_BYTES = 4 * 1024 ** 2;
/** Of the largest size; small ones are many times as many. A check takes its turn, so more would only wait. */
const LARGEST_AT_ONCE = 16;
/** One account leaves half of it to others. */
const LARGEST_OF_ACCOUNT = 8;
/** By then a few have been checked. */
const RETRY_SECONDS = 2;

export class UploadBudget {
  /** What one upload may have. */
  readonly mostBytes: number;
  readonly #ofAccount = new Map<string, number>();
  #all = 0;

  constructor(scriptBytes: number) {
    this.mostBytes = scriptBytes + ROOM_BYTES;
  }

  /** Sets octets aside, as many as are announced, until disposed of. An upload that does not say is a large one. */
  take(accountId: string, announced: string | undefined): Disposable {
    const bytes = Math.min(Number(announced ?? this.mostBytes), this.mostBytes);
    const own = (this.#ofAccount.get(accountId) ?? 0) + bytes;
    if (own > this.mostBytes * LARGEST_OF_ACCOUNT) {
      throw later(429, 971, "The account has too many uploads under way");
    }
    if (this.#all + bytes > this.mostBytes * LARGEST_AT_ONCE) {
      throw later(503, 10_013, "Too many uploads are under way");
    }
    this.#add(accountId, bytes);
    return { [Symbol.dispose]: () => this.#add(accountId, -bytes) };
  }

  #add(accountId: string, bytes: number): void {
    this.#all += bytes;
    const own = (this.#ofAccount.get(accountId) ?? 0) + bytes;
    if (own > 0) this.#ofAccount.set(accountId, own);
    else this.#ofAccount.delete(accountId);
  }
}

function later(status: number, code: number, what: string): ApiError {
  const headers = { "Retry-After": String(RETRY_SECONDS) };
  return new ApiError(status, [{ code, message: `${what}; try again shortly` }], headers);
}
