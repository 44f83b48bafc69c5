/** Signals between the nodes of one PostgreSQL: NOTIFY and LISTEN. An engine without them stays silent. */
import { setTimeout as startTimer } from "node:timers";
import { setTimeout } from "node:timers/promises";
import pg from "pg";

type Hear = (message: string) => void;

export interface SignalOptions {
  /** Signals are sent over its connections. */
  readonly pool: pg.Pool;
  /** For the connection that listens, which is ours alone. */
  readonly client: pg.ClientConfig;
  /** The connection that listens was lost; another is being made. */
  readonly onLost: (error: Error) => void;
}

/** Signals that wait while others are being sent; those past it are not worth the memory. */
const MAX_WAITING = 10_000;
/** Of many signals, those of so long go together: each NOTIFY is a commit that holds up others. */
const GATHER_MS = 5;
const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 10_000;

/**
 * feature_not_supported, syntax_error, undefined_function: this engine has no signals; and
 * insufficient_privilege: not for us.
 */
const LACKING = new Set(["0A000", "42601", "42883", "42501"]);

const SEND = {
  name: "signal",
  text: "SELECT pg_notify(topic, message) FROM unnest($1::text[], $2::text[]) AS signal (topic, message)",
};

export class PostgresSignals implements Disposable {
  readonly #options: SignalOptions;
  readonly #hearing = new Map<string, Set<Hear>>();
  #waiting: (readonly [topic: string, message: string])[] = [];
  #isSending = false;
  /** The connection that listens, or is about to. */
  #client: pg.Client | null = null;
  #retry: NodeJS.Timeout | null = null;
  #pauseMs = FIRST_PAUSE_MS;
  #isLacking = false;
  #isClosed = false;

  constructor(options: SignalOptions) {
    this.#options = options;
  }

  /** Sends at once; when others have just been sent, soon, together with all that wait by then. */
  send(topic: string, message: string): void {
    if (this.#isLacking || this.#isClosed || this.#waiting.length >= MAX_WAITING) return;
    this.#waiting.push([topic, message]);
    if (!this.#isSending) void this.#sendWaiting();
  }

  hear(topic: string, hear: Hear): Disposable {
    const there = this.#hearing.get(topic) ?? new Set();
    this.#hearing.set(topic, there.add(hear));
    if (this.#client === null && this.#retry === null) void this.#connect();
    else if (there.size === 1) this.#listen(this.#client, topic).catch(() => {});
    return { [Symbol.dispose]: () => void there.delete(hear) };
  }

  [Symbol.dispose](): void {
    this.#isClosed = true;
    if (this.#retry !== null) clearTimeout(this.#retry);
    if (this.#client !== null) hangUp(this.#client);
  }

  async #sendWaiting(): Promise<void> {
    this.#isSending = true;
    while (this.#waiting.length > 0) {
      const signals = this.#waiting;
      this.#waiting = [];
      const values = [signals.map(([topic]) => topic), signals.map(([, message]) => message)];
      // What is lost here is found by those who look for themselves.
      await this.#options.pool.query({ ...SEND, values }).catch((error: Error) => {
        this.#isLacking = isLacking(error);
      });
      await setTimeout(GATHER_MS, undefined, { ref: false });
    }
    this.#isSending = false;
  }

  async #connect(): Promise<void> {
    this.#retry = null;
    const client = new pg.Client(this.#options.client);
    this.#client = client;
    let isUp = false;
    const lose = (error: Error) => {
      if (this.#client !== client) return;
      this.#client = null;
      hangUp(client);
      if (this.#isClosed || isLacking(error)) return;
      if (isUp) this.#options.onLost(error);
      this.#retry = startTimer(() => void this.#connect(), this.#pauseMs).unref();
      this.#pauseMs = Math.min(2 * this.#pauseMs, MAX_PAUSE_MS);
    };
    client.on("error", lose);
    client.on("end", () => lose(new Error("The connection that listens was closed")));
    client.on("notification", ({ channel, payload = "" }) => {
      for (const hear of this.#hearing.get(channel) ?? []) hear(payload);
    });
    try {
      await client.connect();
      // The driver has it, its types do not: to listen is no reason for the process to go on.
      (client as pg.Client & { unref(): void }).unref();
      for (const topic of this.#hearing.keys()) await this.#listen(client, topic);
      isUp = true;
      this.#pauseMs = FIRST_PAUSE_MS;
    } catch (error) {
      lose(error as Error);
    }
    if (this.#isClosed) hangUp(client);
  }

  async #listen(client: pg.Client | null, topic: string): Promise<void> {
    await client?.query(`LISTEN ${pg.escapeIdentifier(topic)}`);
  }
}

/** Nobody waits for the end, and one that fails has come to an end too. */
function hangUp(client: pg.Client): void {
  client.end().catch(() => {});
}

function isLacking(error: Error & { code?: string }): boolean {
  return LACKING.has(error.code ?? "");
}
