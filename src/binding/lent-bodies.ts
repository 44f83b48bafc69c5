/**
 * Octets of files on their way to a client that need not pass through whoever has asked for them: scripts mostly pass them on
 * as they are, and public buckets do nothing else. They are kept open under a name. Whoever serves the client takes them
 * by it; or a script does, once it wants to read them.
 */
import { randomUrlSafe } from "#kit/random.ts";
import { type Body, type Bucket, type FoundObject, leave, type ObjectStore } from "#objects";

/** Octets that are the taker's, who reads or returns them. */
export interface LentBody {
  readonly length: number;
  readonly body: Body;
}

/** Of 132 bits. */
const NAME_CHARACTERS = 22;
/** Each holds a file open; of older ones it is opened again when it is asked for. */
const MOST_OPEN = 256;
const OPEN_MS = 10_000;
/** What a script may still come back to. */
const MOST_LENT = 10_000;
const LENT_MS = 10 * 60_000;

/** Fewer octets are sent sooner than they are asked for. */
const LEAST_LENT_BYTES = 64 * 1024;

interface Lent {
  readonly bucket: Bucket;
  readonly found: Pick<FoundObject, "object" | "range">;
  readonly since: number;
  opened: Body | null;
}

export class LentBodies implements Disposable {
  readonly #store: ObjectStore;
  readonly #now: () => number;
  /** By name, the oldest first. */
  readonly #lent = new Map<string, Lent>();
  /** Those with open files, the oldest first. */
  readonly #open = new Set<Lent>();
  #sweeps: NodeJS.Timeout | null = null;

  constructor(store: ObjectStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** Keeps what was found, under the name that it returns; null for what is better sent as it is. */
  lend(bucket: Bucket, found: FoundObject): string | null {
    const { object, range } = found;
    const opened = range.length < LEAST_LENT_BYTES ? null : lendable(found);
    if (opened === null) return null;
    const name = randomUrlSafe(NAME_CHARACTERS);
    const lent = { bucket, found: { object, range }, since: this.#now(), opened };
    this.#lent.set(name, lent);
    this.#open.add(lent);
    if (this.#open.size > MOST_OPEN) this.#close(first(this.#open));
    if (this.#lent.size > MOST_LENT) this.#forget(first(this.#lent.keys()));
    this.#sweeps ??= setInterval(() => this.#sweep(), OPEN_MS).unref();
    return name;
  }

  /** Null for a name that nobody has, and for an object that was replaced after its file had been closed. */
  async take(name: string, bucket: Bucket | null = null): Promise<LentBody | null> {
    const lent = this.#lent.get(name);
    if (lent === undefined || (bucket !== null && bucket.id !== lent.bucket.id)) return null;
    this.#lent.delete(name);
    this.#open.delete(lent);
    const body = lent.opened ?? (await this.#openAgain(lent));
    return body && { body, length: lent.found.range.length };
  }

  [Symbol.dispose](): void {
    if (this.#sweeps !== null) clearInterval(this.#sweeps);
    for (const name of this.#lent.keys()) this.#forget(name);
  }

  async #openAgain({ bucket, found: { object, range } }: Lent): Promise<Body | null> {
    const found = await this.#store.get(bucket, object.key, { range });
    if (found.kind !== "found") return null;
    const opened = lendable(found);
    if (opened !== null && found.object.version === object.version) return opened;
    await leave(found.body);
    return null;
  }

  #sweep(): void {
    const now = this.#now();
    for (const lent of this.#open) {
      if (lent.since > now - OPEN_MS) break;
      this.#close(lent);
    }
    for (const [name, { since }] of this.#lent) {
      if (since > now - LENT_MS) break;
      this.#forget(name);
    }
    if (this.#lent.size > 0 || this.#sweeps === null) return;
    clearInterval(this.#sweeps);
    this.#sweeps = null;
  }

  #forget(name: string): void {
    const lent = this.#lent.get(name)!;
    this.#lent.delete(name);
    this.#close(lent);
  }

  #close(lent: Lent): void {
    this.#open.delete(lent);
    if (lent.opened !== null) void leave(lent.opened);
    lent.opened = null;
  }
}

/** Octets that can be lent; null for those that do not lie in files. */
function lendable({ isInFiles, body }: FoundObject): Body | null {
  return isInFiles && !(body instanceof Uint8Array) ? body : null;
}

function first<T>(some: Iterable<T>): T {
  for (const one of some) return one;
  throw new Error("There is none");
}
