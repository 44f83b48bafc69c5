/** Hostnames that buckets are public under: kept as rows, and all of them in memory for who leads requests. */
import { type Bound, ChangeFeed, type Database, isDatabaseFault, mustChangeOne } from "#db";
import type { Log } from "#kit/log.ts";
import { ObjectFault } from "../fault.ts";
import type { Bucket } from "../model.ts";
import * as rows from "./domain-rows.ts";
import { DOMAIN_LOG } from "./schema.ts";

export interface BucketDomain {
  /** Lower case, in ASCII. */
  readonly hostname: string;
  /** Name of the bucket. */
  readonly bucket: string;
  readonly zoneId: string;
  /** Whether the bucket answers there. */
  readonly enabled: boolean;
}

/** Ten times what the original gives; each takes some hundred bytes of memory on every node. */
const MAX_DOMAINS = 500;

/** Hears that domains are others. */
export type DomainListener = () => void;

export class BucketDomains {
  readonly #db: Database;
  readonly #feed: ChangeFeed<"domains">;
  /** By hostname. */
  #live: ReadonlyMap<string, BucketDomain> = new Map();
  readonly #listeners: DomainListener[] = [];
  /** The last read that was begun, and the last whose outcome counts. */
  #begun = 0;
  #taken = 0;

  private constructor(db: Database, feed: ChangeFeed<"domains">) {
    this.#db = db;
    this.#feed = feed;
    feed.hear("domains", () => this.reload());
  }

  static async open(db: Database): Promise<BucketDomains> {
    const domains = new BucketDomains(db, await ChangeFeed.open(db, DOMAIN_LOG));
    await domains.reload();
    return domains;
  }

  /** Follows the other nodes until it is disposed of. */
  followOthers(log: Log): Promise<AsyncDisposable | null> {
    return this.#feed.follow(log);
  }

  /** Whoever follows hears of each change before the one who asked for it does. */
  follow(listener: DomainListener): void {
    this.#listeners.push(listener);
  }

  /** Those at which a bucket answers, of all zones. Pure memory. */
  enabled(): BucketDomain[] {
    return [...this.#live.values()].filter(({ enabled }) => enabled);
  }

  /** The bucket that answers at a hostname. Pure memory. */
  at(hostname: string): BucketDomain | null {
    const domain = this.#live.get(hostname);
    return domain?.enabled === true ? domain : null;
  }

  /** By hostname. */
  list({ number }: Bucket): Promise<BucketDomain[]> {
    return this.#db.all(rows.domainsOfBucket({ bucket: number }));
  }

  async get(bucket: Bucket, hostname: string): Promise<BucketDomain> {
    const found = (await this.list(bucket)).find((domain) => domain.hostname === hostname);
    if (found === undefined) throw noSuchDomain(bucket, hostname);
    return found;
  }

  /** The hostname lies in the zone: who calls has seen to that. */
  async attach(
    bucket: Bucket,
    { hostname, zoneId, enabled }: Omit<BucketDomain, "bucket">,
  ): Promise<BucketDomain> {
    if ((await this.list(bucket)).length >= MAX_DOMAINS) {
      throw new ObjectFault("bad-domain", `A bucket has at most ${MAX_DOMAINS} domains`);
    }
    try {
      await this.#write(rows.addDomain({ bucket: bucket.number, hostname, zoneId, enabled }));
    } catch (error) {
      if (isDatabaseFault(error, "unique")) {
        throw new ObjectFault("domain-taken", `${hostname} is the domain of a bucket already`);
      }
      if (!isDatabaseFault(error, "reference")) throw error;
      throw new ObjectFault("no-such-bucket", "The bucket or the zone has gone meanwhile");
    }
    return { hostname, bucket: bucket.name, zoneId, enabled };
  }

  async setEnabled(bucket: Bucket, hostname: string, enabled: boolean): Promise<void> {
    await this.#change(
      bucket,
      hostname,
      rows.setEnabled({ bucket: bucket.number, hostname, enabled }),
    );
  }

  async remove(bucket: Bucket, hostname: string): Promise<void> {
    await this.#change(bucket, hostname, rows.removeDomain({ bucket: bucket.number, hostname }));
  }

  /** A bucket or a zone is gone, and the rows of its domains with it. */
  async removed(): Promise<void> {
    const before = this.#live;
    await this.reload();
    if (this.#live.size < before.size) await this.#tellOthers();
  }

  /** Reads all anew: they are few, and change seldom. */
  async reload(): Promise<void> {
    const number = ++this.#begun;
    const all = await this.#db.all(rows.everyDomain({}));
    if (number < this.#taken) return; // What was read later came sooner.
    this.#taken = number;
    this.#live = new Map(all.map((domain) => [domain.hostname, domain]));
    for (const listener of this.#listeners) listener();
  }

  async #change(bucket: Bucket, hostname: string, step: Bound): Promise<void> {
    try {
      await this.#write(mustChangeOne(step));
    } catch (error) {
      throw isDatabaseFault(error, "guard") ? noSuchDomain(bucket, hostname) : error;
    }
  }

  async #write(step: Bound): Promise<void> {
    await this.#db.write(step, ...this.#feed.steps("domains", "all"));
    this.#feed.signal();
    await this.reload();
  }

  async #tellOthers(): Promise<void> {
    const steps = this.#feed.steps("domains", "all");
    if (steps.length > 0) await this.#db.write(...steps);
    this.#feed.signal();
  }
}

function noSuchDomain({ name }: Bucket, hostname: string): ObjectFault {
  const shown = JSON.stringify(hostname.slice(0, 80));
  return new ObjectFault("no-such-domain", `The bucket ${name} has no domain ${shown}`);
}
