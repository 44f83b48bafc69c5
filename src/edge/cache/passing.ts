/** URLs whose last response could not be kept: requests for them do not wait for each other. */

/** After so long one request is let ahead again; the first response that can be kept ends it sooner. */
const PASS_MS = 10_000;
/** Each takes a hundred octets and its URL. */
const MAX_URLS = 10_000;

export class Passing {
  /** By key, until when; the oldest first. */
  readonly #until = new Map<string, number>();

  has(key: string, now: number): boolean {
    const until = this.#until.get(key);
    return until !== undefined && now < until;
  }

  add(key: string, now: number): void {
    this.#until.delete(key);
    this.#until.set(key, now + PASS_MS);
    if (this.#until.size > MAX_URLS) this.#until.delete(this.#until.keys().next().value!);
  }

  delete(key: string): void {
    this.#until.delete(key);
  }
}
