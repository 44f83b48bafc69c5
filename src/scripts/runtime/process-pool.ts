/** All processes of the runtime: how many there may be, which of them go, and who looks after them. */
import { availableParallelism } from "node:os";
import type { Counter } from "#kit/metrics.ts";
import { ScriptFault } from "../fault.ts";
import { Turnstile } from "../turnstile.ts";
import type { Cast, Launcher, Running } from "./launcher.ts";
import type { RuntimeOptions } from "./types.ts";

/** How often processes are looked at; what one can take in between, the system bounds. */
const LOOK_EVERY_MS = 500;
/** Those that nobody has used for a while are looked at less often. */
const QUIET_AFTER_MS = 5_000;
const QUIET_LOOKS = 10;
/** A checked version is deployed at once, or later and then started again. */
const WARM_MS = 30_000;
/** A start is nothing but CPU time: more of them at once only make each slower. */
const STARTS_AT_ONCE = Math.max(2, availableParallelism());
/** Many times what a start takes; a script that loops at its start must not hold up others. */
const START_HOLD_MS = 1_000;
/** One account leaves places to others, however many scripts it keeps busy. */
const ACCOUNT_SHARE = 0.75;
/** Processes that end may take a while, and memory: beyond so many times the limit nothing is started. */
const WITH_ENDING = 2;

export class ProcessPool implements AsyncDisposable {
  readonly #launcher: Launcher;
  readonly #options: RuntimeOptions;
  readonly #all = new Set<Running>();
  readonly #warm = new Map<string, { readonly running: Running; readonly timer: NodeJS.Timeout }>();
  readonly #starts: Counter;
  readonly #ends: Counter;
  readonly #timer: NodeJS.Timeout;
  readonly #launching = new Set<Promise<unknown>>();
  /** The account of each process that is being started. */
  readonly #coming = new Set<{ readonly accountId: string }>();
  /** What serves does not wait for what is only tried. */
  readonly #startLine = new Turnstile(STARTS_AT_ONCE, START_HOLD_MS);
  readonly #checkLine = new Turnstile(STARTS_AT_ONCE, START_HOLD_MS);
  #looks = 0;
  #isClosed = false;

  constructor(launcher: Launcher, options: RuntimeOptions) {
    const { metrics } = options;
    this.#launcher = launcher;
    this.#options = options;
    this.#starts = metrics.counter("selvedge_script_starts_total", "Script processes started.");
    this.#ends = metrics.counter(
      "selvedge_script_ends_total",
      "Script processes that ended, by what ended them.",
      ["reason"],
    );
    metrics.gauge("selvedge_script_processes", "Script processes.", () => this.#all.size);
    this.#timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  /** Starts what is to serve. */
  launch(cast: Cast): Promise<Running> {
    return this.#follow(this.#launch(cast, this.#startLine));
  }

  /** Starts what is tried. */
  check(cast: Cast): Promise<Running> {
    return this.#follow(this.#launch(cast, this.#checkLine));
  }

  #follow(launch: Promise<Running>): Promise<Running> {
    const launching = launch.finally(() => this.#launching.delete(launching));
    this.#launching.add(launching);
    return launching;
  }

  async #launch(cast: Cast, line: Turnstile): Promise<Running> {
    using held = new DisposableStack();
    held.use(await line.enter());
    const { accountId, name } = cast.scripts[0];
    this.#makeRoom(accountId);
    const coming = { accountId };
    this.#coming.add(coming);
    held.defer(() => this.#coming.delete(coming));
    const running = await this.#launcher.launch(cast);
    this.#add(running, name);
    return running;
  }

  /** Holds a process for the deploy that follows. */
  keepWarm(scriptId: string, running: Running): void {
    this.cool(scriptId);
    const timer = setTimeout(() => this.cool(scriptId), WARM_MS).unref();
    this.#warm.set(scriptId, { running, timer });
  }

  /** The process that waits for this, if there is one. */
  takeWarm(scriptId: string, key: string): Running | null {
    const warm = this.#warm.get(scriptId);
    if (warm?.running.key !== key || !warm.running.process.isOpen) return null;
    clearTimeout(warm.timer);
    this.#warm.delete(scriptId);
    return warm.running;
  }

  /** Nobody came for it. */
  cool(scriptId: string): void {
    const warm = this.#warm.get(scriptId);
    if (warm === undefined) return;
    clearTimeout(warm.timer);
    this.#warm.delete(scriptId);
    warm.running.process.retire();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const { timer } of this.#warm.values()) clearTimeout(timer);
    await Promise.allSettled(this.#launching);
    for (const { process } of this.#all) process.retire();
    await Promise.all([...this.#all].map(({ process }) => process.ended));
  }

  /** For one more of the account, and in all. */
  #makeRoom(accountId: string): void {
    if (this.#isClosed) throw new ScriptFault("unavailable", "The platform is stopping");
    const { processes } = this.#options.limits;
    const isOwn = (one: { readonly accountId: string }) => one.accountId === accountId;
    const share = Math.ceil(processes * ACCOUNT_SHARE);
    const coming = [...this.#coming];
    this.#keepWithin(share, [...this.#all].filter(isOwn), coming.filter(isOwn).length);
    this.#keepWithin(processes, [...this.#all], coming.length);
  }

  /** The process that was used longest ago goes, of those that have nothing to do. */
  #keepWithin(most: number, all: readonly Running[], coming: number): void {
    // One that finishes what it was asked takes a place as well.
    const used = all.filter(({ process }) => process.isOpen || process.leases > 0);
    if (used.length + coming < most && all.length + coming < most * WITH_ENDING) return;
    const idle = used
      .filter(({ process }) => process.leases === 0)
      .reduce<Running | null>(
        (oldest, one) =>
          oldest === null || one.process.lastUsedAt < oldest.process.lastUsedAt ? one : oldest,
        null,
      );
    if (idle === null || all.length + coming >= most * WITH_ENDING) {
      throw new ScriptFault("unavailable", "Too many scripts run at this moment");
    }
    idle.process.retire();
  }

  #add(running: Running, script: string): void {
    this.#starts.count();
    this.#all.add(running);
    void running.process.ended.then(() => {
      this.#all.delete(running);
      const { fault } = running.process;
      this.#ends.count(fault?.kind ?? "stopped");
      if (fault === null) return;
      this.#options.log.warn("script ended", { script, why: fault.kind, said: fault.message });
    });
  }

  #look(): void {
    const now = this.#options.now();
    const isFullLook = ++this.#looks % QUIET_LOOKS === 0;
    for (const { process, watchdog } of this.#all) {
      const quietMs = process.leases > 0 ? 0 : now - process.lastUsedAt;
      if (quietMs > this.#options.limits.idleSeconds * 1000) process.retire();
      else if (isFullLook || quietMs < QUIET_AFTER_MS) watchdog.look();
    }
  }
}
