/**
 * Keeps the listeners of a node in step with the changes that all nodes make. The log of changes is looked
 * through several times a second; a signal only makes it faster, and a sweep over all zones finds
 * what both have missed.
 */
import { setTimeout } from "node:timers/promises";
import { type Database, DatabaseFault } from "#db";
import { Groups } from "#kit/groups.ts";
import type { Log } from "#kit/log.ts";
import type { ChangedNames, ZoneListener } from "./listener.ts";
import { Told } from "./told.ts";
import type { Zone } from "./zone.ts";
import {
  changedSince,
  newestInLog,
  onChangeSignal,
  REMOVED,
  signalChange,
  trimLog,
  zoneSerials,
} from "./zone-log.ts";
import { readNews } from "./zone-news.ts";

export interface FollowOptions {
  readonly log: Log;
  /** How often the log is looked through: without signals, that is how late a change comes. */
  readonly pollMs?: number;
  /** How often all zones are. */
  readonly sweepMs?: number;
}

/** A quarter of what a node may lag behind. */
const POLL_MS = 250;
const SWEEP_MS = 60_000;
/** Between looks while the database does not answer. */
const MAX_PAUSE_MS = 2_000;
/** Changes are committed in another order than that of their times, which are no further apart than this. */
const OVERLAP_MS = 10_000;
/** Zones read at once: some of the connections are left to others. */
const READERS = 4;
/** Who makes a change waits this long for those of other nodes before it; then only the disk has it. */
const REACH_MS = 2_000;
const RETRY_MS = 50;
/** A stop does not wait longer for a database that is silent. */
const STOP_MS = 1_000;

export class ZoneFeed {
  readonly #db: Database;
  readonly #told: Told;
  /** Reads zones, each once at a time, up to the serials that are asked for. */
  readonly #reads = new Groups<number, void>(async (id, serials) => {
    if (!serials.every((serial) => this.#told.knows(id, serial))) await this.#readZone(id);
    return serials.map(() => ({ value: undefined }));
  });
  /** Zones that could not be taken in; they are tried again at the next sweep. */
  readonly #faulty = new Set<string>();
  #hasListeners = false;
  #log: Log | null = null;
  /** The time of the newest entry of the log that is done with. */
  #newest = 0;
  #isOut = false;

  constructor(db: Database, listener: ZoneListener) {
    this.#db = db;
    this.#told = new Told(listener);
  }

  /** The listeners have these zones by themselves; they are told what changes from there on. */
  begin(zones: readonly Zone[]): void {
    this.#hasListeners = true;
    this.#told.begin(zones);
  }

  /**
   * Tells of a change that this node has made to the zone as it was at the serial `from`. When changes of
   * other nodes lie before it, all are read and told together.
   */
  async made(zone: Zone, names: ChangedNames, from: number): Promise<void> {
    signalChange(this.#db, zone.id, zone.serial);
    if (!this.#hasListeners || this.#told.changed(zone, names, from)) return;
    const deadline = performance.now() + REACH_MS;
    while (this.#isNews(zone.id, zone.serial) && performance.now() < deadline) {
      await this.#reads.add(zone.id, zone.serial).catch(() => setTimeout(RETRY_MS));
    }
  }

  removed(zone: Zone): void {
    signalChange(this.#db, zone.id, REMOVED);
    this.#told.removed(zone.id);
  }

  /** Follows the other nodes until it is disposed of. It begins with all that they have changed so far. */
  async follow({
    log,
    pollMs = POLL_MS,
    sweepMs = SWEEP_MS,
  }: FollowOptions): Promise<AsyncDisposable | null> {
    if (!this.#hasListeners) return null;
    this.#log = log;
    const stop = new AbortController();
    const signals = onChangeSignal(this.#db, (id, serial) => {
      // The log has it too, should this fail.
      if (this.#isNews(id, serial)) this.#reads.add(id, serial).catch(() => {});
    });
    await this.#attempt(() => this.#sweep());
    const ends = Promise.all([
      this.#repeat(() => this.#look(), pollMs, stop.signal),
      // Beside the looks: where zones are many, it takes longer than these may wait.
      this.#repeat(() => this.#sweep(), sweepMs, stop.signal),
    ]);
    return {
      async [Symbol.asyncDispose]() {
        stop.abort();
        signals[Symbol.dispose]();
        await Promise.race([ends, setTimeout(STOP_MS, undefined, { ref: false })]);
      },
    };
  }

  async #repeat(work: () => Promise<void>, ms: number, signal: AbortSignal): Promise<void> {
    for (let pauseMs = ms; await pause(pauseMs, signal);) {
      const isDone = await this.#attempt(work, signal);
      pauseMs = isDone ? ms : Math.min(2 * pauseMs, MAX_PAUSE_MS);
    }
  }

  /** False while the database does not answer, which is logged once. */
  async #attempt(work: () => Promise<void>, signal?: AbortSignal): Promise<boolean> {
    try {
      await work();
      if (this.#isOut) this.#log?.info("changes of other nodes are followed again");
      this.#isOut = false;
    } catch (cause) {
      if (signal?.aborted === true) return false;
      if (!this.#isOut) this.#log?.warn("changes of other nodes cannot be followed", { cause });
      this.#isOut = true;
    }
    return !this.#isOut;
  }

  async #look(): Promise<void> {
    const changed = await this.#db.all(changedSince({ since: this.#newest - OVERLAP_MS }));
    await this.#read(changed);
    for (const { at } of changed) this.#newest = Math.max(this.#newest, at);
  }

  /** Compares all zones with what has been told of them. */
  async #sweep(): Promise<void> {
    await trimLog(this.#db);
    const { at } = (await this.#db.first(newestInLog({})))!;
    this.#faulty.clear();
    this.#told.forgetGone();
    const missing = new Set(this.#told.ids());
    const news: Reached[] = [];
    for await (const stretch of this.#db.scan(zoneSerials({}))) {
      for (const [id, serial] of stretch) {
        missing.delete(id);
        if (this.#isNews(id, serial)) news.push({ id, serial });
      }
    }
    // Those that this node has made since the scan began are found when they are read.
    for (const id of missing) news.push({ id, serial: REMOVED });
    await this.#read(news);
    this.#newest = Math.max(this.#newest, at);
  }

  async #read(zones: readonly Reached[]): Promise<void> {
    const left = zones.values();
    const readOn = async () => {
      for (const { id, serial } of left) {
        if (this.#isNews(id, serial)) await this.#reads.add(id, serial);
      }
    };
    await Promise.all(Array.from({ length: READERS }, readOn));
  }

  async #readZone(id: string): Promise<void> {
    const from = this.#told.serialOf(id);
    try {
      const news = await readNews(this.#db, id, from);
      if (news === null) this.#told.removed(id);
      else this.#told.changed(news.zone, news.names, from);
    } catch (cause) {
      if (cause instanceof DatabaseFault) throw cause;
      this.#faulty.add(id); // What is wrong with one zone must not hold up the others.
      this.#log?.error("changes of a zone could not be taken in", { zone: id, cause });
    }
  }

  #isNews(id: string, serial: number): boolean {
    return !this.#told.knows(id, serial) && !this.#faulty.has(id);
  }
}

/** How far a zone has come. */
interface Reached {
  readonly id: string;
  readonly serial: number;
}

/** False when it was cut short. */
function pause(ms: number, signal: AbortSignal): Promise<boolean> {
  return setTimeout(ms, true, { signal }).catch(() => false);
}
