/** Addresses of names that lie outside: asked for once, kept as long as they say, and a while longer when nobody answers. */
import { Resolver } from "node:dns/promises";

export interface OriginNamesOptions {
  /** Servers to ask; the system's when empty. */
  readonly resolvers: readonly string[];
  readonly now: () => number;
}

interface Kept {
  readonly addresses: readonly string[];
  readonly until: number;
}

/** Seconds that an answer counts for, whatever it says: zero would ask for each request. */
const LEAST_SECONDS = 5;
const MOST_SECONDS = 300;
/** How long old addresses are used when the name cannot be asked for. RFC 8767. */
const STALE_MS = 60 * 60 * 1000;
/** A name that cannot be had is not asked for again at once. */
const FAILED_SECONDS = 5;
const MAX_KEPT = 10_000;

export class OriginNames {
  readonly #now: () => number;
  readonly #resolver = new Resolver({ timeout: 2_000, tries: 2 });
  readonly #kept = new Map<string, Kept>();
  readonly #asking = new Map<string, Promise<readonly string[]>>();

  constructor({ resolvers, now }: OriginNamesOptions) {
    this.#now = now;
    if (resolvers.length > 0) this.#resolver.setServers(resolvers);
  }

  /** Empty when the name has no address. */
  addresses(name: string): Promise<readonly string[]> | readonly string[] {
    const kept = this.#kept.get(name);
    if (kept !== undefined && this.#now() < kept.until) return kept.addresses;
    let asking = this.#asking.get(name);
    if (asking === undefined) {
      asking = this.#ask(name, kept ?? null).finally(() => this.#asking.delete(name));
      this.#asking.set(name, asking);
    }
    return asking;
  }

  async #ask(name: string, old: Kept | null): Promise<readonly string[]> {
    const [four, six] = await Promise.allSettled([
      this.#resolver.resolve4(name, { ttl: true }),
      this.#resolver.resolve6(name, { ttl: true }),
    ]);
    const found = [four, six].flatMap((result) =>
      result.status === "fulfilled" ? result.value : [],
    );
    const now = this.#now();
    if (found.length === 0 && old !== null && now < old.until + STALE_MS && !isNone(four, six)) {
      return old.addresses;
    }
    const least = Math.min(...found.map(({ ttl }) => ttl), MOST_SECONDS);
    const seconds = found.length === 0 ? FAILED_SECONDS : Math.max(LEAST_SECONDS, least);
    const addresses = found.map(({ address }) => address);
    if (this.#kept.size >= MAX_KEPT) this.#kept.clear();
    this.#kept.set(name, { addresses, until: now + seconds * 1000 });
    return addresses;
  }
}

/** Whether the answer is that there are none, and not that nobody answered. */
function isNone(...results: readonly PromiseSettledResult<unknown>[]): boolean {
  return results.every(
    (result) =>
      result.status === "rejected" &&
      ["ENOTFOUND", "ENODATA"].includes((result.reason as NodeJS.ErrnoException).code ?? ""),
  );
}
