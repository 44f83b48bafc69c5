/**
 * Ends processes that take more than they may. CPU time counts only while the process does not answer the
 * platform's own question, so many short requests harm nobody, and neither does a machine that is busy with
 * something else: a process that gets no CPU time uses none.
 */
import { ScriptFault } from "../fault.ts";
import type { RuntimeLimits } from "./types.ts";
import { type Usage, usageOf } from "./usage.ts";
import type { WorkerdProcess } from "./workerd-process.ts";

/** More than a request takes that is not stuck; a question costs CPU time as well. */
const QUESTION_AFTER_SECONDS = 0.2;
/** A process that has requests is asked so often, whatever it uses. */
const QUESTION_EVERY_MS = 5_000;
/** Sleeping for so long without an answer, a process waits for what never comes: it can take no connection. */
const STUCK_MS = 30_000;

/**
 * What a process has beside what the script holds: its own share, buffers that nothing holds any more and V8
 * has not collected yet (up to 64 MiB by its own rule), and what the allocator keeps for later.
 */
export const OVERHEAD_MIB = 128;

export class Watchdog {
  readonly #process: WorkerdProcess;
  readonly #limits: RuntimeLimits;
  readonly #now: () => number;
  #cpuAtAnswer = 0;
  #answeredAt: number;
  /** Since when an answer is due. */
  #askedAt: number | null = null;
  #isAsking = false;
  #wasRunnable = false;

  constructor(process: WorkerdProcess, limits: RuntimeLimits, now: () => number) {
    this.#process = process;
    this.#limits = limits;
    this.#now = now;
    this.#answeredAt = now();
    this.#cpuAtAnswer = usageOf(process.pid!)?.cpuSeconds ?? 0;
  }

  /** Called again and again. */
  look(): void {
    if (this.#process.isEnded) return;
    const usage = usageOf(this.#process.pid!) ?? this.#guess();
    const fault = this.#overMemory(usage) ?? this.#overCpu(usage) ?? this.#stuck(usage);
    if (fault !== null) this.#process.kill(fault);
    else this.#ask(usage);
  }

  /** Where the system tells nothing, time goes for CPU time while an answer is due. */
  #guess(): Usage {
    const seconds = this.#askedAt === null ? 0 : (this.#now() - this.#askedAt) / 1000;
    return { cpuSeconds: this.#cpuAtAnswer + seconds, memoryMib: 0, isRunnable: true };
  }

  #overMemory({ memoryMib }: Usage): ScriptFault | null {
    const most = this.#limits.memoryMib;
    if (memoryMib <= most + OVERHEAD_MIB) return null;
    return new ScriptFault("over-memory", `The script took more than ${most} MiB of memory`);
  }

  #overCpu({ cpuSeconds }: Usage): ScriptFault | null {
    const most = this.#limits.cpuSeconds;
    if (this.#askedAt === null || cpuSeconds - this.#cpuAtAnswer <= most) return null;
    return new ScriptFault("over-cpu", `The script used ${most} s of CPU time without a pause`);
  }

  #stuck({ isRunnable }: Usage): ScriptFault | null {
    this.#wasRunnable ||= isRunnable;
    if (this.#askedAt === null || this.#now() - this.#askedAt < STUCK_MS) return null;
    if (!this.#wasRunnable)
      return new ScriptFault("crashed", "The script's process does not answer");
    [this.#askedAt, this.#wasRunnable] = [this.#now(), false];
    return null;
  }

  #ask({ cpuSeconds }: Usage): void {
    if (this.#isAsking) return;
    const used = cpuSeconds - this.#cpuAtAnswer;
    const isDue = this.#process.leases > 0 && this.#now() - this.#answeredAt > QUESTION_EVERY_MS;
    if (this.#askedAt === null) {
      if (used < QUESTION_AFTER_SECONDS && !isDue) return;
      [this.#askedAt, this.#wasRunnable] = [this.#now(), false];
    }
    this.#isAsking = true;
    this.#process
      .control(null)
      .then(
        () => {
          this.#askedAt = null;
          this.#answeredAt = this.#now();
          this.#cpuAtAnswer = usageOf(this.#process.pid!)?.cpuSeconds ?? this.#cpuAtAnswer;
        },
        () => {}, // No connection: it is asked again at the next look, and the answer stays due.
      )
      .finally(() => (this.#isAsking = false));
  }
}
