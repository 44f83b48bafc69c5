/**
 * Keeps one query thread alive: starts it, listens for its beat, and starts it anew when it ends
 * or hangs. Its counters outlive it, and on Linux its socket too.
 */
import { Worker } from "node:worker_threads";
import type { Log } from "#kit/log.ts";
import type { ResponderSettings } from "../responder.ts";
import type { ReaderHandle } from "../snapshot/handle.ts";
import { CONTROL_BYTES, type FromThread, type ThreadData, type ToThread, WORD } from "./control.ts";
import { COUNTER_BYTES } from "./counters.ts";
import type { Endpoint } from "./endpoint.ts";
import type { LateAnswers } from "./late-answers.ts";

export interface SupervisorOptions {
  readonly endpoint: Endpoint;
  readonly thread: number;
  readonly late: LateAnswers;
  readonly connectReader: () => ReaderHandle;
  readonly disconnectReader: (slot: number) => void;
  readonly settings: ResponderSettings;
  readonly responderModule: string | null;
  readonly beatMs: number;
  readonly log: Log;
  readonly onRestart: () => void;
}

/** A thread is given up after so many beats that it missed: far more than any pause of a well one. */
const MISSED_BEATS = 5;
/** Loading the code takes a second on a slow machine; so much more means that it never ends. */
const START_MS = 30_000;
/** How long a stop waits for the thread to finish what it has received. */
const STOP_MS = 2_000;
/** The wait before a new start, doubled each time up to the longest. */
const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 5_000;
/** A thread that ran this long before it ended starts anew without the longer waits. */
const STEADY_MS = 60_000;

/** One run of the thread. */
interface Life {
  readonly worker: Worker;
  readonly control: Int32Array;
  readonly since: number;
  readonly ready: PromiseWithResolvers<void>;
  readonly ended: PromiseWithResolvers<void>;
  isReady: boolean;
  isGivenUp: boolean;
  lastBeat: number;
  missedBeats: number;
  cause: unknown;
}

export class Supervisor {
  readonly counters: Float64Array = new Float64Array(new SharedArrayBuffer(COUNTER_BYTES));
  restarts = 0;
  readonly #options: SupervisorOptions;
  #settings: ResponderSettings;
  #life: Life | null = null;
  #delayMs = FIRST_DELAY_MS;
  #watch: NodeJS.Timeout | null = null;
  #again: NodeJS.Timeout | null = null;
  #isStarted = false;
  #isStopping = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#settings = options.settings;
  }

  /** Resolves when the thread answers queries; the first start must succeed. */
  async start(): Promise<void> {
    this.#watch = setInterval(() => this.#listenForBeat(), this.#options.beatMs);
    await this.#begin().ready.promise;
    this.#isStarted = true;
  }

  configure(settings: ResponderSettings): void {
    this.#settings = settings;
    this.#post({ kind: "settings", settings });
  }

  /** Lets the thread answer what it has received, and ends it. */
  async stop(): Promise<void> {
    clearInterval(this.#watch ?? undefined);
    clearTimeout(this.#again ?? undefined);
    this.release();
    const life = this.#life;
    if (life === null) return;
    const late = setTimeout(() => this.#giveUp(life, "did not stop"), STOP_MS);
    await life.ended.promise;
    clearTimeout(late);
  }

  /** Lets the thread end, without waiting for it. */
  release(): void {
    this.#isStopping = true;
    this.#post({ kind: "stop" });
  }

  #begin(): Life {
    const { endpoint, thread, connectReader, responderModule, beatMs } = this.#options;
    const reader = connectReader();
    const control = new SharedArrayBuffer(CONTROL_BYTES);
    const threadData: ThreadData = {
      control,
      counters: this.counters.buffer as SharedArrayBuffer,
      reader,
      settings: this.#settings,
      responderModule,
      beatMs,
    };
    const worker = new Worker(endpoint.entry, {
      name: `dns-${thread}`,
      workerData: { ...threadData, ...endpoint.threadData(thread) },
      transferList: [reader.port],
    });
    const life: Life = {
      worker,
      control: new Int32Array(control),
      since: performance.now(),
      ready: Promise.withResolvers(),
      ended: Promise.withResolvers(),
      isReady: false,
      isGivenUp: false,
      lastBeat: 0,
      missedBeats: 0,
      cause: null,
    };
    this.#life = life;
    worker.on("message", (message: FromThread) => this.#hear(life, message));
    worker.on("error", (cause) => (life.cause ??= cause));
    worker.once("exit", (code) => {
      this.#options.disconnectReader(reader.slot);
      this.#end(life, code);
    });
    return life;
  }

  /** Says something to the thread; false when none runs now. */
  #post(message: ToThread): boolean {
    if (this.#life === null) return false;
    this.#life.worker.postMessage(message);
    Atomics.add(this.#life.control, WORD.commands, 1);
    this.#options.endpoint.wake(this.#options.thread);
    return true;
  }

  #hear(life: Life, message: FromThread): void {
    const { log, late, endpoint, thread } = this.#options;
    if (message.kind === "ready") {
      life.isReady = true;
      life.ready.resolve();
    } else if (message.kind === "fault") {
      log.error("query failed", { cause: message.cause });
    } else {
      const { query, client, peer } = message;
      const post = (to: ToThread) => this.#post(to);
      const send = (reply: Uint8Array) => endpoint.reply(thread, peer, reply, post);
      void late
        .answer(query, client, send)
        .then(() => Atomics.sub(life.control, WORD.outstanding, 1));
    }
  }

  #listenForBeat(): void {
    const life = this.#life;
    if (life === null) return;
    const beat = Atomics.load(life.control, WORD.beat);
    // Counted in beats and not in time: after a pause of the whole process all clocks look late.
    life.missedBeats = beat === life.lastBeat ? life.missedBeats + 1 : 0;
    life.lastBeat = beat;
    const most = life.isReady ? MISSED_BEATS : START_MS / this.#options.beatMs;
    if (life.missedBeats >= most) this.#giveUp(life, "hangs");
  }

  #giveUp(life: Life, why: string): void {
    if (life.isGivenUp) return;
    life.isGivenUp = true;
    life.cause ??= new Error(`The thread ${why}`);
    this.#options.endpoint.wake(this.#options.thread);
    void life.worker.terminate();
  }

  #end(life: Life, code: number): void {
    this.#life = null;
    const cause = life.cause ?? new Error(`The thread ended with code ${code}`);
    life.ended.resolve();
    if (this.#isStopping) return;
    if (!this.#isStarted) {
      life.ready.reject(cause);
      return;
    }
    if (performance.now() - life.since > STEADY_MS) this.#delayMs = FIRST_DELAY_MS;
    this.restarts++;
    this.#options.onRestart();
    this.#beginLater(cause);
  }

  #beginLater(cause: unknown): void {
    const { log, thread } = this.#options;
    const delayMs = this.#delayMs;
    this.#delayMs = Math.min(2 * delayMs, LONGEST_DELAY_MS);
    log.error("query thread ended; starting it anew", { thread, delay_ms: delayMs, cause });
    this.#again = setTimeout(() => {
      try {
        this.#begin();
      } catch (error) {
        this.#beginLater(error);
      }
    }, delayMs);
  }
}
