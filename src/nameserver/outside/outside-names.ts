/**
 * What is known of names outside, kept fresh while it is in use. Query threads read the store; what they do
 * not find there is wanted here. RFC 8767 for what is stale, RFC 9520 for what fails.
 */
import { EDE } from "../codes.ts";
import { Alarm, systemAfter, type After } from "./alarm.ts";
import { newCounts, type OutsideCounters } from "./counters.ts";
import { Deadlines } from "./deadlines.ts";
import { Recency } from "./recency.ts";
import type { Resolution, Resolver } from "./resolver.ts";
import type { TargetStore, TargetType } from "./target-store.ts";
import {
  entryFor,
  forgetAt,
  isUsable,
  learn,
  newTarget,
  noteFailure,
  type Target,
} from "./target.ts";

/** How long a client waits; resolvers ask again after little more. RFC 8767 §5 has 1.8 s. */
const BUDGET_MS = 1000;
/** Some 60 MB, and more than the flattened records that are in use at a time. */
const MAX_ENTRIES = 100_000;
/** Each holds up to three sockets, and a process may often open no more than 4096. */
const MAX_FLIGHTS = 1000;
/** Half, so that refreshing leaves room for those that clients wait for. */
const MAX_REFRESHES = 500;
/** Above the limit: time enough for flights to land. */
const BUSY_MS = 2000;
/** How many of the least recently wanted are looked at for one that is not in use. */
const EVICTION_LOOKS = 8;
/** What is due at once is looked at in turns, so that queries are answered between them. */
const LOOKS_A_TURN = 256;

export interface OutsideNamesOptions {
  readonly store: TargetStore;
  readonly resolver: Resolver;
  readonly now: () => number;
  readonly after?: After;
  /** Told of what should not happen: a resolver that rejects, a store that is full. */
  readonly onError: (error: unknown) => void;
  readonly maxEntries?: number;
  readonly maxFlights?: number;
  readonly maxRefreshes?: number;
}

export class OutsideNames implements Disposable {
  readonly #options: Required<OutsideNamesOptions>;
  readonly #targets = { 1: new Map<string, Target>(), 28: new Map<string, Target>() } as const;
  /** By when they were last wanted or seen in use. */
  readonly #recency = new Recency<Target>();
  readonly #deadlines = new Deadlines<Target>();
  readonly #flying = new Set<Target>();
  #refreshes = 0;
  readonly #alarm: Alarm;
  #closed = false;
  readonly #counts = newCounts();

  constructor(options: OutsideNamesOptions) {
    this.#options = {
      after: systemAfter,
      maxEntries: MAX_ENTRIES,
      maxFlights: MAX_FLIGHTS,
      maxRefreshes: MAX_REFRESHES,
      ...options,
    };
    this.#alarm = new Alarm(this.#options, () => this.#lookAtDue());
  }

  /**
   * Resolves when an entry for the name stands in the store, fresh, stale or a failure, and within the time
   * that a client waits. Never rejects.
   */
  want(name: string, type: TargetType): Promise<void> {
    if (this.#closed) return Promise.resolve();
    const now = this.#options.now();
    const target = this.#find(name, type);
    if (target.entry !== null && isUsable(target.entry.expiresAt, now)) {
      return Promise.resolve(); // It came while the query was on its way here.
    }
    if (target.flight === null) {
      if (now >= target.refreshAt && this.#isFull) this.#noteBusy(target, now);
      if (now < target.refreshAt) {
        this.#publish(target, now);
        return Promise.resolve();
      }
      this.#start(target, false);
    }
    return this.#wait(target);
  }

  counters(): OutsideCounters {
    return { entries: this.#size, flights: this.#flying.size, ...this.#counts };
  }

  /** Lets go of all who wait, and publishes nothing more. The resolver is closed by whoever made it. */
  [Symbol.dispose](): void {
    this.#closed = true;
    this.#alarm.cancel();
    for (const target of this.#flying) this.#release(target);
  }

  get #size(): number {
    return this.#targets[1].size + this.#targets[28].size;
  }

  get #isFull(): boolean {
    return this.#flying.size >= this.#options.maxFlights;
  }

  get #isFullForRefreshes(): boolean {
    return this.#isFull || this.#refreshes >= this.#options.maxRefreshes;
  }

  #noteBusy(target: Target, now: number): void {
    this.#counts.busy++;
    target.refreshAt = now + BUSY_MS;
    target.ede = null; // It is nothing that the target or the network has done.
  }

  #find(name: string, type: TargetType): Target {
    let target = this.#targets[type].get(name);
    if (target === undefined) {
      if (this.#size >= this.#options.maxEntries) this.#evict();
      target = newTarget(name, type);
      this.#targets[type].set(name, target);
    }
    this.#recency.touch(target);
    return target;
  }

  /** Forgets the least recently wanted that is not in use, as far as a short look can tell. */
  #evict(): void {
    let chosen: Target | null = null;
    let next = this.#recency.oldest;
    for (let looks = 0; looks < EVICTION_LOOKS && next !== null; looks++) {
      const target = next;
      next = target.newer;
      if (target.flight !== null) continue; // So the limit can be exceeded, by as many as fly.
      if (target.entry === null || !this.#options.store.wasAsked(target.name, target.type)) {
        chosen = target;
        break;
      }
      chosen ??= target;
      target.asked = true;
      this.#recency.touch(target);
    }
    if (chosen === null) return;
    this.#counts.evicted++;
    this.#forget(chosen);
  }

  #forget(target: Target): void {
    this.#drop(target);
    this.#deadlines.clear(target);
    this.#recency.remove(target);
    this.#targets[target.type].delete(target.name);
  }

  #drop(target: Target): void {
    const { store } = this.#options;
    if (target.entry !== null) this.#attempt(() => store.drop(target.name, target.type));
    target.entry = null;
  }

  /** Whether a write to the store went well. One that does not costs an entry, and not the process. */
  #attempt(write: () => void): boolean {
    try {
      write();
      return true;
    } catch (error) {
      this.#options.onError(error);
      return false;
    }
  }

  #start(target: Target, isRefresh: boolean): void {
    target.flight = { isRefresh, waiting: null };
    this.#flying.add(target);
    if (isRefresh) this.#refreshes++;
    this.#deadlines.clear(target); // The landing sets the next.
    void this.#fly(target);
  }

  async #fly(target: Target): Promise<void> {
    const { resolver, onError } = this.#options;
    const resolution = await resolver.resolve(target.name, target.type).catch((error: unknown) => {
      onError(error);
      return { kind: "failure", ede: EDE.NETWORK_ERROR } as const;
    });
    if (!this.#closed) this.#takeIn(target, resolution);
    this.#land(target);
  }

  #takeIn(target: Target, resolution: Resolution): void {
    const now = this.#options.now();
    if (resolution.kind !== "failure") {
      this.#counts[resolution.kind]++;
      learn(target, resolution, now);
    } else {
      const isNetwork = resolution.ede === EDE.NETWORK_ERROR;
      this.#counts[isNetwork ? "networkError" : "unreachable"]++;
      noteFailure(target, resolution.ede, now);
    }
    this.#publish(target, now);
  }

  #land(target: Target): void {
    if (target.flight?.isRefresh === true) this.#refreshes--;
    this.#flying.delete(target);
    this.#release(target);
    target.flight = null;
    if (!this.#closed) this.#arm(); // A refresh may have waited for this one's place.
  }

  #wait(target: Target): Promise<void> {
    const flight = target.flight!;
    flight.waiting ??= {
      ...Promise.withResolvers<void>(),
      cancelBudget: this.#options.after(BUDGET_MS, () => this.#answerLate(target)),
    };
    return flight.waiting.promise;
  }

  /** The clients wait no longer; what the resolution brings is for those who come after. */
  #answerLate(target: Target): void {
    this.#counts.late++;
    const now = this.#options.now();
    target.ede = EDE.NETWORK_ERROR;
    this.#publish(target, now, now);
    this.#deadlines.clear(target);
    this.#release(target);
  }

  #release({ flight }: Target): void {
    flight?.waiting?.cancelBudget();
    flight?.waiting?.resolve();
    if (flight) flight.waiting = null;
  }

  /** Publishes what is to be said until the target is refreshed. */
  #publish(target: Target, now: number, until = target.refreshAt): void {
    const entry = entryFor(target, now, until);
    if (entry.stale) this.#counts.stale++;
    const { store } = this.#options;
    if (this.#attempt(() => store.publish(target.name, target.type, entry))) target.entry = entry;
    else this.#drop(target);
    this.#setDeadline(target, now);
  }

  /** When it is to be looked at next: when it should be learnt anew, when it ends, when it is worth nothing. */
  #setDeadline(target: Target, now: number): void {
    const { entry, refreshAt } = target;
    const end = entry === null ? forgetAt(target) : entry.expiresAt;
    this.#deadlines.set(target, entry !== null && refreshAt > now ? Math.min(refreshAt, end) : end);
    this.#arm();
  }

  #arm(): void {
    const first = this.#deadlines.first;
    // Otherwise the next landing arms.
    if (first !== undefined && !this.#isFullForRefreshes) this.#alarm.setFor(first.dueAt);
  }

  #lookAtDue(): void {
    const now = this.#options.now();
    for (let looks = 0; looks < LOOKS_A_TURN; looks++) {
      const first = this.#deadlines.first;
      if (first === undefined || first.dueAt > now || this.#isFullForRefreshes) break;
      this.#look(first, now);
    }
    this.#arm();
  }

  /** Refreshes a target that is in use, and lets go of what is not. */
  #look(target: Target, now: number): void {
    const { entry } = target;
    if (entry === null) return this.#forget(target);
    const isAsked = this.#options.store.wasAsked(target.name, target.type) || target.asked;
    target.asked = false;
    if (isAsked) this.#recency.touch(target);
    if (isAsked && now >= target.refreshAt) return this.#start(target, true);
    if (isAsked && now >= entry.expiresAt) return this.#publish(target, now);
    const isFresh = entry.kind !== "failure" && !entry.stale;
    if (!isFresh || now >= entry.expiresAt) this.#drop(target);
    this.#setDeadline(target, now);
  }
}
