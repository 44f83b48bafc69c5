/** Looks after a thread that serves: started again when it dies, given time for what is under way at the end. */
import type { Worker } from "node:worker_threads";
import type { Log } from "./log.ts";
import { closeAtEnd } from "./thread-descriptors.ts";

export interface RunningThread<Address> {
  /** Where it listens. */
  readonly address: Address;
  /** Resolves when the thread has ended, with what it died of, if of anything. */
  readonly ended: Promise<unknown>;
  /** Has it finish and end. */
  stop(): void;
  terminate(): void;
}

export interface SupervisorOptions<Address, Thread extends RunningThread<Address>> {
  /** What it is, for the log: `a thread of the edge`. */
  readonly what: string;
  readonly thread: number;
  /** Resolves when the thread listens. */
  readonly launch: (address: Address) => Promise<Thread>;
  /** The thread has ended: what it has left may be put away. */
  readonly onEnded: () => void;
  /** What it has under way gets so long to finish. */
  readonly drainSeconds: number;
  readonly log: Log;
}

/** A dead thread is replaced after this, and after twice as long each time it dies young. */
const RESTART_MS = 50;
const MAX_RESTART_MS = 5_000;
/** A thread that has lived this long did not die of its start. */
const GROWN_UP_MS = 60_000;
/** On top of what its requests have to finish, a thread has this long to end. */
const STOP_MS = 1_000;

export class Supervisor<Address, Thread extends RunningThread<Address> = RunningThread<Address>> {
  restarts = 0;
  readonly #options: SupervisorOptions<Address, Thread>;
  #thread: Thread | null = null;
  #diedYoung = 0;
  #timer: NodeJS.Timeout | null = null;
  #starting: Promise<unknown> = Promise.resolve();
  #isStopping = false;

  constructor(options: SupervisorOptions<Address, Thread>) {
    this.#options = options;
  }

  /** Null while it is dead. */
  get thread(): Thread | null {
    return this.#thread;
  }

  /** Returns where the thread listens. */
  async start(address: Address): Promise<Address> {
    const starting = this.#options.launch(address);
    this.#starting = starting.catch(() => {});
    const thread = await starting;
    this.#thread = thread;
    const began = performance.now();
    void thread.ended.then((cause) => {
      this.#thread = null;
      this.#options.onEnded();
      if (performance.now() - began > GROWN_UP_MS) this.#diedYoung = 0;
      this.#startLater(thread.address, cause);
    });
    return thread.address;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#starting;
    const thread = this.#thread;
    if (thread === null) return;
    thread.stop();
    const late = setTimeout(() => thread.terminate(), this.#options.drainSeconds * 1000 + STOP_MS);
    await thread.ended;
    clearTimeout(late);
  }

  #startLater(address: Address, cause: unknown): void {
    if (this.#isStopping) return;
    const { log, what, thread } = this.#options;
    log.error(`${what} ended; it is started again`, { thread, cause });
    const wait = Math.min(MAX_RESTART_MS, RESTART_MS * 2 ** this.#diedYoung);
    this.restarts++;
    this.#diedYoung++;
    this.#timer = setTimeout(() => {
      this.start(address).then(
        () => log.info(`${what} is back`, { thread }),
        (error: unknown) => this.#startLater(address, error),
      );
    }, wait);
  }
}

/** Starts all, where the first finds out the address that they share. */
export async function startAll<Address, Thread extends RunningThread<Address>>(
  supervisors: readonly Supervisor<Address, Thread>[],
  address: Address,
): Promise<{ readonly address: Address } & AsyncDisposable> {
  await using started = new AsyncDisposableStack();
  started.defer(async () => void (await Promise.all(supervisors.map((one) => one.stop()))));
  const [first, ...others] = supervisors;
  const found = await first!.start(address); // Where it picks a port, the others follow.
  await Promise.all(others.map((one) => one.start(found)));
  const all = started.move();
  return { address: found, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Resolves when a thread has ended and what it had open is closed, with what it died of, if of anything. */
export function endOf(worker: Worker): Promise<unknown> {
  closeAtEnd(worker);
  return new Promise((resolve) => {
    let cause: unknown = null;
    worker.once("error", (error) => (cause = error));
    worker.once("exit", () => resolve(cause));
  });
}
