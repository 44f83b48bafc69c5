/**
 * Delivers what one rule has to tell, the oldest first: of a key one after the other, of several keys side by side.
 * An event that fails holds back those of its key alone; that its target fails is found out with one at a time.
 */
import type { Database, RowOf } from "#db";
import { atMost } from "#kit/at-once.ts";
import { backOffMs, isGivenUp } from "./back-off.ts";
import * as eventRows from "./event-rows.ts";
import type { EventRow } from "./event-rows.ts";
import type { Occurrence } from "./model.ts";
import * as rows from "./notification-rows.ts";

export type Outcome = "delivered" | "retried" | "failed";
export type Rule = RowOf<typeof rows.notificationToDeliver>;

export interface LaneOptions {
  readonly db: Database;
  readonly now: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Throws when it was not taken. */
  readonly send: (rule: Rule, event: Occurrence) => Promise<void>;
  /** False when this node is to stop, or another has its turn. */
  readonly mayGoOn: () => Promise<boolean>;
  readonly onOutcome: (outcome: Outcome) => void;
}

/** Events read at a time. */
const PAGE_SIZE = 500;
/** Of different keys, on their way to one target. */
const AT_ONCE = 16;
const MAX_ERROR_CHARACTERS = 500;

export interface Walked {
  /** When the next event that failed may be tried again. */
  readonly next: number;
  readonly pages: number;
  readonly delivered: number;
}

export async function walkLane(notificationId: string, options: LaneOptions): Promise<Walked> {
  return new Walk(notificationId, options).run();
}

class Walk {
  readonly #id: string;
  readonly #options: LaneOptions;
  /** Keys of which an event waits for its time. */
  readonly #blocked = new Set<string>();
  /** Whether the target has failed; when it may be tried again. */
  #troubledUntil: number | null = null;
  #next = Infinity;
  #delivered = 0;

  constructor(id: string, options: LaneOptions) {
    this.#id = id;
    this.#options = options;
  }

  async run(): Promise<Walked> {
    const { db } = this.#options;
    let pages = 0;
    for (let after = 0; ;) {
      const rule = await db.first(rows.notificationToDeliver({ id: this.#id }));
      if (rule === null) break;
      if (rule.failures > 0) {
        if (await this.#probe(rule)) continue;
        break;
      }
      const page = await this.#page(after);
      pages++;
      const lines = this.#linesOf(page);
      await atMost(AT_ONCE, lines, (line) => this.#deliverLine(rule, line, after > 0));
      if (page.length < PAGE_SIZE || !(await this.#mayGoOn())) break;
      after = page.at(-1)!.number;
    }
    return { next: this.#troubledUntil ?? this.#next, pages, delivered: this.#delivered };
  }

  #page(after: number): Promise<EventRow[]> {
    const { db } = this.#options;
    const place = { notification: this.#id, isFailed: false, after, limit: PAGE_SIZE };
    return db.all(eventRows.eventsBehind(place));
  }

  /**
   * Whether a target that failed takes something now. It is tried with what failed least: the rest may be what it
   * cannot take.
   */
  async #probe(rule: Rule): Promise<boolean> {
    const now = this.#options.now();
    const seen = new Set<string>();
    let best: EventRow | null = null;
    for (let after = 0; best?.attempts !== 0;) {
      const page = await this.#page(after);
      for (const event of page) {
        if (seen.has(event.key)) continue;
        seen.add(event.key);
        if (event.dueAt > now) this.#next = Math.min(this.#next, event.dueAt);
        else if (event.attempts < (best?.attempts ?? Infinity)) best = event;
      }
      if (page.length < PAGE_SIZE) break;
      after = page.at(-1)!.number;
    }
    if (best === null || !(await this.#mayGoOn()) || !(await this.#isFirst(best))) return false;
    return this.#attempt(rule, best);
  }

  /** The events of each key that may be told now. */
  #linesOf(page: readonly EventRow[]): EventRow[][] {
    const now = this.#options.now();
    const lines = new Map<string, EventRow[]>();
    for (const event of page) {
      if (this.#blocked.has(event.key)) continue;
      const line = lines.get(event.key);
      if (line !== undefined) line.push(event);
      else if (event.dueAt <= now) lines.set(event.key, [event]);
      else this.#block(event, event.dueAt);
    }
    return [...lines.values()];
  }

  async #deliverLine(rule: Rule, line: readonly EventRow[], isLater: boolean): Promise<void> {
    // What was committed since the pages before were read may be of the same key, and older.
    if (isLater && !(await this.#isFirst(line[0]!))) return;
    for (const event of line) {
      if (!(await this.#mayGoOn()) || !(await this.#attempt(rule, event))) return;
    }
  }

  async #isFirst({ key, number }: EventRow): Promise<boolean> {
    const first = await this.#options.db.first(
      eventRows.firstOfKey({ notification: this.#id, key }),
    );
    return first?.number === number;
  }

  async #mayGoOn(): Promise<boolean> {
    return this.#troubledUntil === null && (await this.#options.mayGoOn());
  }

  async #attempt(rule: Rule, event: EventRow): Promise<boolean> {
    const { db, send, mayGoOn, onOutcome } = this.#options;
    const { bucket, bucketId, accountId } = rule;
    try {
      await send(rule, { ...event, notificationId: this.#id, bucket, bucketId, accountId });
    } catch (error) {
      // What was cut short by the end of this node's turn has not failed.
      if (await mayGoOn()) await this.#noteFailure(rule, event, error);
      return false;
    }
    const steps = [eventRows.removeEvent(event)];
    if (rule.failures > 0) steps.push(rows.noteSuccess({ id: this.#id }));
    await db.write(...steps);
    this.#delivered++;
    onOutcome("delivered");
    return true;
  }

  async #noteFailure(rule: Rule, event: EventRow, error: unknown): Promise<void> {
    const { db, now, random, onOutcome } = this.#options;
    const at = now();
    const attempts = event.attempts + 1;
    const isFailed = isGivenUp(attempts, at - event.happenedAt);
    const dueAt = at + backOffMs(attempts, random());
    const lastError = messageOf(error);
    const { number } = event;
    const steps = [eventRows.noteAttempt({ number, attempts, dueAt, lastError, isFailed })];
    if (this.#troubledUntil === null) {
      const failures = rule.failures + 1;
      this.#troubledUntil = at + backOffMs(failures, random());
      const trouble = { id: this.#id, failures, dueAt: this.#troubledUntil, lastError };
      steps.push(rows.noteFailure(trouble));
    }
    await db.write(...steps);
    if (!isFailed) this.#block(event, dueAt);
    onOutcome(isFailed ? "failed" : "retried");
  }

  #block({ key }: EventRow, until: number): void {
    this.#blocked.add(key);
    this.#next = Math.min(this.#next, until);
  }
}

function messageOf(error: unknown): string {
  const { message, code } = error as NodeJS.ErrnoException;
  return (message || code || "unknown").slice(0, MAX_ERROR_CHARACTERS);
}
