/**
 * A log of changes by which nodes that share a database follow each other in what a part keeps in memory.
 * Where one process has the database to itself nothing is written to it.
 */
import { setTimeout } from "node:timers/promises";
import type { Log } from "#kit/log.ts";
import { randomId } from "#kit/random.ts";
import { integer, text } from "./columns.ts";
import type { ColumnTypes, Database } from "./database.ts";
import { type Bound, statement } from "./statement.ts";

/** Takes in what others have changed; `ref` null means that anything may have. */
export type Hear = (ref: string | null) => Promise<void>;

/**
 * The tables of a log. Each change takes the next number in its own transaction and so waits for the one
 * before: whoever sees a number sees all that are smaller.
 */
export function changeLogTables(name: string, { text, integer }: ColumnTypes): readonly string[] {
  return [
    `CREATE TABLE IF NOT EXISTS ${name}_log (
      number ${integer} PRIMARY KEY,
      node ${text} NOT NULL,
      topic ${text} NOT NULL,
      ref ${text} NOT NULL
    )`,
    `CREATE TABLE IF NOT EXISTS ${name}_log_end (id ${integer} PRIMARY KEY, last ${integer} NOT NULL)`,
    `INSERT INTO ${name}_log_end (id, last) VALUES (1, 0) ON CONFLICT (id) DO NOTHING`,
  ];
}

function statementsOf(name: string) {
  const last = `(SELECT last FROM ${name}_log_end WHERE id = 1)`;
  return {
    endOfLog: statement({
      sql: `SELECT last FROM ${name}_log_end WHERE id = 1`,
      gives: { last: integer },
    }),
    moveEnd: statement({ sql: `UPDATE ${name}_log_end SET last = last + 1 WHERE id = 1` }),
    addToLog: statement({
      sql: `INSERT INTO ${name}_log (number, node, topic, ref) VALUES (${last}, :node, :topic, :ref)`,
      takes: { node: text, topic: text, ref: text },
    }),
    forgetLog: statement({
      sql: `DELETE FROM ${name}_log WHERE number <= ${last} - :kept`,
      takes: { kept: integer },
    }),
    logAfter: statement({
      sql: `SELECT number, node, topic, ref FROM ${name}_log WHERE number > :after ORDER BY number LIMIT :limit`,
      takes: { after: integer, limit: integer },
      gives: { number: integer, node: text, topic: text, ref: text },
    }),
  };
}

/** A node that is further behind reads everything anew. */
const KEPT = 10_000;
const STRETCH = 500;
/** A quarter of what a node may lag behind. */
const POLL_MS = 250;
/** Between looks while the database does not answer. */
const MAX_PAUSE_MS = 2_000;
/** A stop does not wait longer for a database that is silent. */
const STOP_MS = 1_000;

export class ChangeFeed<Topic extends string> {
  readonly #db: Database;
  readonly #name: string;
  readonly #sql: ReturnType<typeof statementsOf>;
  /** Whose entries need not be taken in. */
  readonly #node = randomId();
  readonly #hearers = new Map<Topic, Hear>();
  /** The last entry that is taken in. */
  #seen = 0;
  #wake = () => {};

  private constructor(db: Database, name: string) {
    this.#db = db;
    this.#name = name;
    this.#sql = statementsOf(name);
  }

  /**
   * Opens the log of that name. What is read from the database from here on may be old only by what the
   * feed will tell.
   */
  static async open<Topic extends string>(db: Database, name: string): Promise<ChangeFeed<Topic>> {
    const feed = new ChangeFeed<Topic>(db, name);
    feed.#seen = (await db.first(feed.#sql.endOfLog({})))!.last;
    return feed;
  }

  hear(topic: Topic, hear: Hear): void {
    this.#hearers.set(topic, hear);
  }

  /** What goes into the write of a change, at its end: the next one waits for it from there on. */
  steps(topic: Topic, ...refs: readonly string[]): Bound[] {
    if (!this.#db.shared) return [];
    const entries = refs.flatMap((ref) => [
      this.#sql.moveEnd({}),
      this.#sql.addToLog({ node: this.#node, topic, ref }),
    ]);
    return [...entries, this.#sql.forgetLog({ kept: KEPT })];
  }

  /** Lets the other nodes look at once. */
  signal(): void {
    if (this.#db.shared) this.#db.signal(this.#name, this.#node);
  }

  /** Follows the other nodes until it is disposed of; null where there are none. */
  async follow(log: Log): Promise<AsyncDisposable | null> {
    if (!this.#db.shared) return null;
    const stop = new AbortController();
    const signals = this.#db.onSignal(this.#name, (node) => {
      if (node !== this.#node) this.#wake();
    });
    const end = this.#repeat(log, stop.signal);
    return {
      [Symbol.asyncDispose]: async () => {
        stop.abort();
        this.#wake();
        signals[Symbol.dispose]();
        await Promise.race([end, setTimeout(STOP_MS, undefined, { ref: false })]);
      },
    };
  }

  async #repeat(log: Log, stop: AbortSignal): Promise<void> {
    let pauseMs = POLL_MS;
    while (!stop.aborted) {
      const { promise: woken, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      try {
        await this.#look();
        if (pauseMs > POLL_MS) log.info("changes of other nodes are followed again");
        pauseMs = POLL_MS;
      } catch (cause) {
        if (stop.aborted) return;
        if (pauseMs === POLL_MS) log.warn("changes of other nodes cannot be followed", { cause });
        pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS);
      }
      const pause = new AbortController();
      const paused = setTimeout(pauseMs, undefined, { signal: pause.signal }).catch(() => {});
      await Promise.race([woken, paused]);
      pause.abort();
    }
  }

  async #look(): Promise<void> {
    for (;;) {
      const entries = await this.#db.all(this.#sql.logAfter({ after: this.#seen, limit: STRETCH }));
      const [first] = entries;
      if (first === undefined) return;
      if (first.number > this.#seen + 1) {
        const { last } = (await this.#db.first(this.#sql.endOfLog({})))!;
        for (const hear of this.#hearers.values()) await hear(null);
        this.#seen = last;
        continue;
      }
      for (const [topic, refs] of news<Topic>(entries, this.#node)) {
        for (const ref of refs) await this.#hearers.get(topic)?.(ref);
      }
      this.#seen = entries.at(-1)!.number;
    }
  }
}

/** What others changed, each once: in the order of their first entries. */
function news<Topic extends string>(
  entries: readonly { readonly node: string; readonly topic: string; readonly ref: string }[],
  own: string,
): Map<Topic, Set<string>> {
  const found = new Map<Topic, Set<string>>();
  for (const { node, topic, ref } of entries) {
    if (node === own) continue;
    const refs = found.get(topic as Topic) ?? new Set();
    found.set(topic as Topic, refs.add(ref));
  }
  return found;
}
