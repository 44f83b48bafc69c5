/** Cron triggers: when a script is to run by itself. Each time is taken by one node. */
import { type Database, integer, isDatabaseFault, statement, text, time } from "#db";
import type { Log } from "#kit/log.ts";
import { type CronTimes, parseCron } from "./cron.ts";
import { ScriptFault } from "./fault.ts";
import type { Scripts } from "./scripts.ts";
import { Turns } from "./turns.ts";
import { Turnstile } from "./turnstile.ts";

export interface Schedule {
  readonly cron: string;
  readonly createdAt: number;
  readonly modifiedAt: number;
}

export interface SchedulesOptions {
  readonly db: Database;
  readonly scripts: Scripts;
  readonly now: () => number;
  /** Gives up what takes too long. */
  readonly run: (
    scriptId: string,
    event: { readonly cron: string; readonly scheduledTime: number },
  ) => Promise<unknown>;
  readonly log: Log;
}

const schedule = { cron: text, createdAt: time, modifiedAt: time };
const SCHEDULE = "cron, created_at, modified_at";

const schedulesOfScript = statement({
  sql: `SELECT ${SCHEDULE} FROM script_schedules WHERE script_id = :scriptId ORDER BY created_at, cron`,
  takes: { scriptId: text },
  gives: schedule,
});
const scheduledScripts = statement({
  sql: "SELECT DISTINCT script_id FROM script_schedules",
  gives: { scriptId: text },
});
const addSchedule = statement({
  sql: `INSERT INTO script_schedules (script_id, ${SCHEDULE})
        VALUES (:scriptId, :cron, :at, :at)
        ON CONFLICT (script_id, cron) DO UPDATE SET modified_at = excluded.modified_at`,
  takes: { scriptId: text, cron: text, at: time },
});
const removeSchedule = statement({
  sql: "DELETE FROM script_schedules WHERE script_id = :scriptId AND cron = :cron",
  takes: { scriptId: text, cron: text },
});
const takeMinute = statement({
  sql: `INSERT INTO script_runs (script_id, cron, minute)
        SELECT script_id, cron, CAST(:minute AS BIGINT) FROM script_schedules
        WHERE script_id = :scriptId AND cron = :cron
        ON CONFLICT (script_id, cron, minute) DO NOTHING`,
  takes: { scriptId: text, cron: text, minute: integer },
});
const forgetMinutes = statement({
  sql: "DELETE FROM script_runs WHERE script_id = :scriptId AND cron = :cron AND minute < :before",
  takes: { scriptId: text, cron: text, before: integer },
});

const MINUTE_MS = 60_000;
/** What was due while the machine slept is not made up for, but a busy minute is. */
const LATEST_MS = 5 * MINUTE_MS;
/** Longer than the clocks of two nodes are apart and one of them is late. */
const MINUTES_KEPT = 60;
/** The original gives an account 250 of those who pay; a script needs few. */
const MAX_CRONS = 100;
/** Each may start a process; one that takes long has its process by then. */
const RUNS_AT_ONCE = 16;
const RUN_HOLD_MS = 10_000;
/** Runs of one script at a time: more are left out. A run that hangs holds its own script up, and no other. */
const RUNS_OF_SCRIPT = 10;

/** A time that a script waits for. */
interface Waiting {
  readonly scriptId: string;
  readonly cron: string;
  readonly times: CronTimes;
  due: number | null;
}

export class Schedules implements AsyncDisposable {
  readonly #options: SchedulesOptions;
  readonly #turns = new Turns();
  /** By script. */
  readonly #waiting = new Map<string, readonly Waiting[]>();
  /** All minutes up to this time have been seen to. */
  #seenTo: number;
  #timer: NodeJS.Timeout | null = null;
  #isStopped = false;
  readonly #line = new Turnstile(RUNS_AT_ONCE, RUN_HOLD_MS);
  /** A cron does not run beside itself. */
  readonly #runTurns = new Turns();
  /** How many of each script run. */
  readonly #running = new Map<string, number>();
  /** Writes under way. */
  readonly #taking = new Set<Promise<unknown>>();

  private constructor(options: SchedulesOptions) {
    this.#options = options;
    this.#seenTo = options.now();
  }

  static async open(options: SchedulesOptions): Promise<Schedules> {
    const schedules = new Schedules(options);
    const { scripts } = options;
    scripts.follow({
      changed: () => {},
      removed: ({ id }) => void schedules.#waiting.delete(id),
    });
    scripts.feed.hear("schedules", (id) => schedules.#read(id));
    await schedules.#read(null);
    return schedules;
  }

  async list(accountId: string, name: string): Promise<Schedule[]> {
    const { id: scriptId } = await this.#options.scripts.get(accountId, name);
    return this.#options.db.all(schedulesOfScript({ scriptId }));
  }

  /** Makes these all that the script has. */
  async set(accountId: string, name: string, crons: readonly string[]): Promise<Schedule[]> {
    for (const cron of crons) parseCron(cron);
    const wanted = new Set(crons);
    if (wanted.size > MAX_CRONS) {
      throw new ScriptFault("too-large", `A script has at most ${MAX_CRONS} schedules`);
    }
    const { db, scripts, now } = this.#options;
    const { id: scriptId } = await scripts.get(accountId, name);
    return this.#turns.take(scriptId, async () => {
      const there = await db.all(schedulesOfScript({ scriptId }));
      const at = now();
      const known = new Set(there.map(({ cron }) => cron));
      const steps = [
        ...[...known.difference(wanted)].map((cron) => removeSchedule({ scriptId, cron })),
        ...[...wanted.difference(known)].map((cron) => addSchedule({ scriptId, cron, at })),
      ];
      try {
        await db.write(...steps, ...scripts.feed.steps("schedules", scriptId));
      } catch (error) {
        if (!isDatabaseFault(error, "reference")) throw error;
        throw new ScriptFault("not-found", `The script ${name} has gone meanwhile`);
      }
      scripts.feed.signal();
      this.#set(scriptId, crons);
      return db.all(schedulesOfScript({ scriptId }));
    });
  }

  /** Runs what is due at each minute from now on, until disposed. */
  start(): void {
    const wait = MINUTE_MS - (this.#options.now() % MINUTE_MS);
    this.#timer = setTimeout(() => {
      this.tick();
      this.start();
    }, wait).unref();
  }

  /** Runs what has been due since the last time. */
  tick(): void {
    const now = this.#options.now();
    const earliest = Math.max(this.#seenTo, now - LATEST_MS);
    this.#seenTo = now;
    const due: { waiting: Waiting; at: number }[] = [];
    for (const waiting of [...this.#waiting.values()].flat()) {
      while (waiting.due !== null && waiting.due <= now) {
        if (waiting.due > earliest) due.push({ waiting, at: waiting.due });
        waiting.due = waiting.times.next(Math.max(waiting.due, earliest));
      }
    }
    for (const { waiting, at } of due) {
      const { scriptId, cron } = waiting;
      void this.#runTurns.take(`${scriptId} ${cron}`, () => this.#run(waiting, at));
    }
  }

  /** Stops. What runs is the runtime's to end. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#isStopped = true;
    await Promise.all(this.#taking);
  }

  async #run({ scriptId, cron }: Waiting, scheduledTime: number): Promise<void> {
    const { run, now, log } = this.#options;
    const running = this.#running.get(scriptId) ?? 0;
    if (running >= RUNS_OF_SCRIPT || now() - scheduledTime > LATEST_MS) {
      log.warn("a scheduled run was left out", { script: scriptId, cron, running });
      return;
    }
    this.#running.set(scriptId, running + 1);
    using held = new DisposableStack();
    try {
      held.use(await this.#line.enter());
      if (!(await this.#take(scriptId, cron, scheduledTime))) return;
      await run(scriptId, { cron, scheduledTime });
    } catch (cause) {
      log.warn("a scheduled run failed", { script: scriptId, cron, cause });
    } finally {
      const left = this.#running.get(scriptId)! - 1;
      if (left > 0) this.#running.set(scriptId, left);
      else this.#running.delete(scriptId);
    }
  }

  /** False when another node has it, or the schedule is gone. */
  async #take(scriptId: string, cron: string, scheduledTime: number): Promise<boolean> {
    if (this.#isStopped) return false;
    const minute = scheduledTime / MINUTE_MS;
    const writing = this.#options.db.write(
      takeMinute({ scriptId, cron, minute }),
      forgetMinutes({ scriptId, cron, before: minute - MINUTES_KEPT }),
    );
    const settled = writing.catch(() => {}).finally(() => this.#taking.delete(settled));
    this.#taking.add(settled);
    const [{ changes }] = await writing;
    return changes === 1 && !this.#isStopped;
  }

  #set(scriptId: string, crons: Iterable<string>): void {
    const waiting = [...new Set(crons)].map((cron): Waiting => {
      const times = parseCron(cron);
      return { scriptId, cron, times, due: times.next(this.#seenTo) };
    });
    if (waiting.length > 0) this.#waiting.set(scriptId, waiting);
    else this.#waiting.delete(scriptId);
  }

  /** Reads what a script has, in turn with this node's own changes; null is for all scripts. */
  async #read(id: string | null): Promise<void> {
    const { db } = this.#options;
    if (id === null) {
      const ids = (await db.all(scheduledScripts({}))).map(({ scriptId }) => scriptId);
      for (const scriptId of new Set([...ids, ...this.#waiting.keys()])) await this.#read(scriptId);
      return;
    }
    await this.#turns.take(id, async () => {
      const there = await db.all(schedulesOfScript({ scriptId: id }));
      this.#set(
        id,
        there.map(({ cron }) => cron),
      );
    });
  }
}
