/**
 * Octets of files on their way to a client that need not pass through whoever has asked for them: scripts mostly pass
 * them on as they are, and public buckets do nothing else. They are kept open under a name, by which whoever serves the
 * client takes them.
 */
import { randomUrlSafe } from "#kit/random.ts";
import { type Body, type Bucket, type FoundObject, leave } from "#objects";

/** Octets that are the taker's, who reads or returns them. */
export interface LentBody {
  readonly length: number;
  readonly body: Body;
}

/** Of 132 bits. */
const NAME_CHARACTERS = 22;
/** Fewer octets are sent sooner than they are asked for. */
const LEAST_LENT_BYTES = 64 * 1024;
/**
 * Whoever serves the client hears of a name as its answer ends, when whoever was lent the octets may be gone: they wait for
 * him so long, many times what it takes.
 */
const LINGER_MS = 2_000;
/** Of one owner: each holds a file open. He is lent nothing more then. */
const MOST_LINGERING = 512;

export class LentBodies implements Disposable {
  readonly #loans = new Map<string, Loan>();
  /** How many of an owner's wait for whoever serves his client. */
  readonly #lingering = new Map<string | null, number>();

  /** Null for what is better sent as it is. The owner is a script, or nobody in particular. */
  lend(bucket: Bucket, found: FoundObject, owner: string | null): Loan | null {
    const { isInFiles, body, range } = found;
    if (!isInFiles || body instanceof Uint8Array || range.length < LEAST_LENT_BYTES) return null;
    if ((this.#lingering.get(owner) ?? 0) >= MOST_LINGERING) return null;
    const lent = { body, length: range.length };
    const loan = new Loan(bucket, owner, lent, {
      lingers: (by) => this.#count(owner, by),
      ended: () => void this.#loans.delete(loan.name),
    });
    this.#loans.set(loan.name, loan);
    return loan;
  }

  /** For the owner's client. Null for a name that the owner does not have. */
  take(name: string, owner: string | null): LentBody | null {
    const loan = this.#loans.get(name);
    if (loan === undefined || loan.owner !== owner) return null;
    loan.end(false);
    return loan.lent;
  }

  /** The octets go to whoever was lent them, after all. */
  begin(name: string, bucket: Bucket): void {
    const loan = this.#loans.get(name);
    if (loan?.bucket.id === bucket.id) loan.end(true);
  }

  [Symbol.dispose](): void {
    for (const loan of this.#loans.values()) loan.drop();
  }

  #count(owner: string | null, by: number): void {
    const count = (this.#lingering.get(owner) ?? 0) + by;
    if (count === 0) this.#lingering.delete(owner);
    else this.#lingering.set(owner, count);
  }
}

interface Registry {
  lingers(by: 1 | -1): void;
  ended(): void;
}

/** Octets that wait for who wants them. */
export class Loan {
  readonly name = randomUrlSafe(NAME_CHARACTERS);
  readonly bucket: Bucket;
  readonly owner: string | null;
  readonly lent: LentBody;
  /** Whether they go to whoever was lent them; others have them otherwise, or nobody. */
  readonly isSent: Promise<boolean>;
  readonly #registry: Registry;
  #decide!: (isSent: boolean) => void;
  #timer: NodeJS.Timeout | null = null;
  #isOver = false;

  constructor(bucket: Bucket, owner: string | null, lent: LentBody, registry: Registry) {
    this.bucket = bucket;
    this.owner = owner;
    this.lent = lent;
    this.#registry = registry;
    this.isSent = new Promise((resolve) => (this.#decide = resolve));
  }

  /** Whoever was lent them is gone, or never meant to read them. */
  linger(): void {
    if (this.#isOver || this.#timer !== null) return;
    this.#registry.lingers(1);
    this.#timer = setTimeout(() => this.drop(), LINGER_MS).unref();
  }

  /** They are somebody's: of whoever was lent them, or of whoever has taken them. */
  end(isSent: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    if (this.#timer !== null) {
      clearTimeout(this.#timer);
      this.#registry.lingers(-1);
    }
    this.#registry.ended();
    this.#decide(isSent);
  }

  /** Nobody wants them. */
  drop(): void {
    this.end(false);
    void leave(this.lent.body);
  }
}
