/** DNS over TCP and TLS as the main thread sees it: a thread that serves, started again if it dies. */
import type { HostPort } from "#kit/address.ts";
import type { ResponderSettings } from "../responder.ts";
import { COUNT, readCounters, sharedCounters, type StreamCounters } from "./counters.ts";
import { launchThread, type RunningThread, type ThreadOptions } from "./launch-thread.ts";
import type { Certificate } from "./messages.ts";

export type StreamOptions = Omit<ThreadOptions, "counters">;

export interface Streams extends AsyncDisposable {
  readonly address: HostPort | null;
  readonly tlsAddress: HostPort | null;
  /** Uses it for the handshakes from now on; connections keep theirs. */
  setCertificate(certificate: Certificate): void;
  configure(settings: ResponderSettings): void;
  counters(): StreamCounters & { readonly restarts: number };
}

/** A dead thread is replaced after this, and after twice as long each time it dies young. */
const RESTART_MS = 50;
const MAX_RESTART_MS = 5_000;
/** A thread that has lived this long did not die of its start. */
const GROWN_UP_MS = 60_000;
/** On top of what its connections have to finish, the thread has this long to end. */
const STOP_MS = 1_000;

/** Listens on the addresses; throws a sentence that names the flag when one cannot be had. */
export async function startStreams(options: StreamOptions): Promise<Streams> {
  const supervisor = new Supervisor(options);
  await supervisor.launch();
  return supervisor;
}

class Supervisor implements Streams {
  readonly #counters = sharedCounters();
  /** What a next thread starts from: the ports that were picked, the newest certificate. */
  #options: ThreadOptions;
  #thread: RunningThread | null = null;
  #restarts = 0;
  #diedYoung = 0;
  #timer: NodeJS.Timeout | null = null;
  #relaunching: Promise<void> = Promise.resolve();
  #isStopping = false;

  constructor(options: StreamOptions) {
    this.#options = { ...options, counters: this.#counters };
  }

  get address(): HostPort | null {
    return this.#options.address;
  }

  get tlsAddress(): HostPort | null {
    return this.#options.tlsAddress;
  }

  async launch(): Promise<void> {
    const thread = await launchThread(this.#options);
    const { address, tlsAddress } = thread;
    this.#options = { ...this.#options, address, tlsAddress };
    this.#thread = thread;
    const began = performance.now();
    void thread.ended.then((cause) => {
      this.#thread = null;
      new Float64Array(this.#counters)[COUNT.connections] = 0;
      if (performance.now() - began > GROWN_UP_MS) this.#diedYoung = 0;
      this.#relaunchLater(cause);
    });
  }

  setCertificate(certificate: Certificate): void {
    this.#options = { ...this.#options, certificate };
    this.#thread?.say({ kind: "certificate", certificate });
  }

  configure(settings: ResponderSettings): void {
    this.#options = { ...this.#options, settings };
    this.#thread?.say({ kind: "settings", settings });
  }

  counters(): StreamCounters & { readonly restarts: number } {
    return { ...readCounters(this.#counters), restarts: this.#restarts };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopping = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#relaunching;
    const thread = this.#thread;
    if (thread === null) return;
    thread.say({ kind: "stop" });
    const late = setTimeout(() => thread.terminate(), this.#options.limits.drainMs + STOP_MS);
    await thread.ended;
    clearTimeout(late);
  }

  #relaunchLater(cause: unknown): void {
    if (this.#isStopping) return;
    this.#options.log.error("the thread of DNS over TCP ended; it is started again", { cause });
    const wait = Math.min(MAX_RESTART_MS, RESTART_MS * 2 ** this.#diedYoung);
    this.#restarts++;
    this.#diedYoung++;
    this.#timer = setTimeout(() => {
      this.#relaunching = this.launch().catch((error: unknown) => this.#relaunchLater(error));
    }, wait);
  }
}
