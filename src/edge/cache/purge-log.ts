/**
 * Purges in the database: numbered in the order they were made, so that all nodes, also those that were away
 * with a cache on their disk, hold what they have stored against the same ones.
 */
import {
  ChangeFeed,
  changeLogTables,
  type Database,
  integer,
  type Migration,
  statement,
  text,
  word,
} from "#db";
import type { Log } from "#kit/log.ts";
import { type NumberedPurge, type Purge, PurgeRules } from "./purge-rules.ts";

export const cacheMigrations: readonly Migration[] = [
  {
    part: "cache",
    number: 1,
    sql: (types) => [
      `CREATE TABLE IF NOT EXISTS cache_purges (
        number ${types.integer} PRIMARY KEY,
        zone_id ${types.text} NOT NULL,
        kind ${types.text} NOT NULL,
        value ${types.text} NOT NULL
      )`,
      `CREATE TABLE IF NOT EXISTS cache_purge_end (id ${types.integer} PRIMARY KEY, last ${types.integer} NOT NULL)`,
      `INSERT INTO cache_purge_end (id, last) VALUES (1, 0) ON CONFLICT (id) DO NOTHING`,
      ...changeLogTables("cache", types),
    ],
  },
];

const last = "(SELECT last FROM cache_purge_end WHERE id = 1)";
const moveEnd = statement({ sql: "UPDATE cache_purge_end SET last = last + 1 WHERE id = 1" });
const addPurge = statement({
  sql: `INSERT INTO cache_purges (number, zone_id, kind, value) VALUES (${last}, :zoneId, :kind, :value)`,
  takes: { zoneId: text, kind: text, value: text },
});
const forgetPurges = statement({
  sql: `DELETE FROM cache_purges WHERE number <= ${last} - :kept`,
  takes: { kept: integer },
});
const purgesAfter = statement({
  sql: "SELECT number, zone_id, kind, value FROM cache_purges WHERE number > :after ORDER BY number LIMIT :limit",
  takes: { after: integer, limit: integer },
  gives: { number: integer, zoneId: text, kind: word<Purge["kind"]>(), value: text },
});
const endOfPurges = statement({
  sql: "SELECT last FROM cache_purge_end WHERE id = 1",
  gives: { last: integer },
});

/** What was stored before the oldest of them is not served again: who purges so often fills anew anyway. */
const KEPT = 10_000;
const STRETCH = 1_000;

/** Takes purges in; a thread has taken them when the promise resolves. */
export type TakePurges = (purges: readonly NumberedPurge[]) => Promise<void>;

export class PurgeLog {
  /** For the cache of this thread. */
  readonly rules: PurgeRules;
  readonly #db: Database;
  readonly #feed: ChangeFeed<"purge">;
  readonly #floor: number;
  readonly #takers = new Set<TakePurges>();

  private constructor(db: Database, feed: ChangeFeed<"purge">, floor: number) {
    this.#db = db;
    this.#feed = feed;
    this.#floor = floor;
    this.rules = new PurgeRules(floor);
    feed.hear("purge", () => this.#catchUp());
  }

  static async open(db: Database): Promise<PurgeLog> {
    const feed = await ChangeFeed.open<"purge">(db, "cache");
    const end = (await db.first(endOfPurges({})))!.last;
    const log = new PurgeLog(db, feed, Math.max(0, end - KEPT));
    await log.#catchUp();
    return log;
  }

  /** Resolves when nothing that is meant will be served here any more; other nodes follow at once. */
  async purge(purges: readonly Purge[]): Promise<void> {
    const steps = purges.flatMap((purge) => [moveEnd({}), addPurge(purge)]);
    await this.#db.write(...steps, forgetPurges({ kept: KEPT }), ...this.#feed.steps("purge", ""));
    await this.#catchUp();
    this.#feed.signal();
  }

  /** What the rules of another thread begin with. */
  get floor(): number {
    return this.#floor;
  }

  /** Tells another thread of all purges since the floor, and of those to come. */
  async tell(take: TakePurges): Promise<Disposable> {
    const first = await this.#after(this.#floor);
    await take(first);
    this.#takers.add(take);
    await take(await this.#after(first.at(-1)?.number ?? this.#floor));
    return { [Symbol.dispose]: () => this.#takers.delete(take) };
  }

  /** Follows the other nodes until it is disposed of; null where there are none. */
  follow(log: Log): Promise<AsyncDisposable | null> {
    return this.#feed.follow(log);
  }

  async #catchUp(): Promise<void> {
    const purges = await this.#after(this.rules.last);
    this.rules.add(purges);
    await Promise.all([...this.#takers].map((take) => take(purges)));
  }

  async #after(number: number): Promise<NumberedPurge[]> {
    const all: NumberedPurge[] = [];
    for (let after = number; ;) {
      const some = await this.#db.all(purgesAfter({ after, limit: STRETCH }));
      all.push(...some);
      if (some.length < STRETCH) return all;
      after = some.at(-1)!.number;
    }
  }
}
