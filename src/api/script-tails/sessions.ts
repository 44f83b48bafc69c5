/** Tails that were asked for: who may listen to which script, for how long, and with which filters. */
import { randomId, randomUrlSafe } from "#kit/random.ts";
import { ScriptFault } from "#scripts";
import type { TailFilter } from "./filters.ts";

/** As the original grants. */
const LIFETIME_MS = 6 * 3_600_000;
const MAX_PER_SCRIPT = 10;
/** One that nobody has connected to by then is forgotten. */
const CONNECT_WITHIN_MS = 60_000;
/** Of `[A-Za-z0-9_-]`: 192 bits, since who knows it may listen. */
const TOKEN_LENGTH = 32;

export interface TailSession {
  readonly id: string;
  /** The secret part of the address to listen at. */
  readonly token: string;
  readonly scriptId: string;
  readonly filters: readonly TailFilter[];
  /** Address of whoever asked for it. */
  readonly client: string;
  readonly expiresAt: number;
  /** Ends it; null until someone listens. */
  close: (() => void) | null;
}

export class TailSessions {
  readonly #now: () => number;
  readonly #byToken = new Map<string, TailSession>();

  constructor(now: () => number) {
    this.#now = now;
  }

  create(scriptId: string, filters: readonly TailFilter[], client: string): TailSession {
    if (this.list(scriptId).length >= MAX_PER_SCRIPT) {
      throw new ScriptFault("too-large", `A script has at most ${MAX_PER_SCRIPT} tails at a time`);
    }
    const expiresAt = this.#now() + LIFETIME_MS;
    const names = { id: randomId(), token: randomUrlSafe(TOKEN_LENGTH) };
    const session = { ...names, scriptId, filters, client, expiresAt, close: null };
    this.#byToken.set(session.token, session);
    return session;
  }

  list(scriptId: string): TailSession[] {
    this.#forgetStale();
    return [...this.#byToken.values()].filter((session) => session.scriptId === scriptId);
  }

  /** The session that this token opens, as long as nobody listens; null for any other. */
  find(token: string): TailSession | null {
    this.#forgetStale();
    const session = this.#byToken.get(token);
    return session?.close === null ? session : null;
  }

  /** Nothing happens where there is none: it may have ended by itself. */
  remove(scriptId: string, id: string): void {
    const session = this.list(scriptId).find((one) => one.id === id);
    if (session === undefined) return;
    this.#byToken.delete(session.token);
    session.close?.();
  }

  #forgetStale(): void {
    const now = this.#now();
    for (const [token, { close, expiresAt }] of this.#byToken) {
      const madeAt = expiresAt - LIFETIME_MS;
      if (now < (close === null ? madeAt + CONNECT_WITHIN_MS : expiresAt)) continue;
      this.#byToken.delete(token);
      close?.();
    }
  }
}
