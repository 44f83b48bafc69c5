/** Delivers events from now on: one node at a time, all rules side by side. */
import { setTimeout } from "node:timers/promises";
import type { Database } from "#db";
import { unseal } from "#kit/secrets.ts";
import { Turn } from "../turn.ts";
import { defaultBounds, type EventBounds, trim } from "./bounds.ts";
import type { WebhookPolicy } from "./checks.ts";
import * as eventRows from "./event-rows.ts";
import { type Outcome, type Rule, walkLane } from "./lane.ts";
import { messageId, type QueueMessage, queueMessage, webhookMessage } from "./messages.ts";
import type { Occurrence } from "./model.ts";
import { notificationsWaiting } from "./notification-rows.ts";
import { sealLabel, signedHeaders } from "./signature.ts";
import { Webhooks } from "./webhook.ts";

export interface DeliveryOptions {
  readonly db: Database;
  /** Of the secrets of webhooks. */
  readonly sealKey: Uint8Array;
  readonly policy: WebhookPolicy;
  readonly now: () => number;
  readonly random: () => number;
  /** Hands a message to a script of the account; throws when it was not taken. */
  readonly toScript: (
    accountId: string,
    script: string,
    message: QueueMessage,
    signal: AbortSignal,
  ) => Promise<void>;
  readonly onError: (error: unknown) => void;
  readonly onOutcome?: (outcome: Outcome | "dropped", events: number) => void;
  readonly bounds?: EventBounds;
  readonly webhookTimeoutMs?: number;
}

/** Rules that are seen to at once; each holds a page of events. */
const MAX_LANES = 32;
/** From something new to the look for it: much comes together. */
const GATHER_MS = 10;
/** Between looks while another node has its turn, and there is something to deliver. */
const OTHERS_TURN_MS = 1_000;
/** Between looks for what another node left, or what was missed. */
const SHARED_POLL_MS = 5_000;
const POLL_MS = 60_000;
/** After a walk past many events that wait, and none that could be told. */
const REST_MS = 1_000;
const TRIM_EVERY_MS = 60_000;
const SWEEP_EVERY_MS = 3_600_000;
/** By which the node whose turn it is hears of others' events. */
const TOPIC = "bucket_events";

export class EventDelivery implements AsyncDisposable {
  readonly #options: DeliveryOptions;
  readonly #webhooks: Webhooks;
  readonly #turn: Turn;
  #hasTurn = false;
  readonly #stop = new AbortController();
  /** Rules that are being seen to. */
  readonly #walking = new Map<string, Promise<void>>();
  /** Rules of which nothing could be told any more; `until` counts while nothing is new. */
  readonly #resting = new Map<string, { readonly atLeast: number; readonly until: number }>();
  /** Counts the times when there was something new. */
  #newsHeard = 0;
  #newsSeen = 0;
  #trimAt = 0;
  #sweepAt = 0;
  #news = Promise.withResolvers<void>();
  #over: Promise<void> | null = null;

  constructor(options: DeliveryOptions) {
    this.#options = options;
    this.#webhooks = new Webhooks(options.policy, options.webhookTimeoutMs);
    this.#turn = new Turn({ ...options, name: TOPIC });
  }

  start(): void {
    this.#over = this.#repeat();
  }

  /** There may be something to deliver. */
  wake(): void {
    this.#newsHeard++;
    this.#news.resolve();
  }

  /** Begins with all that may be delivered now, and tells when to look again. */
  async begin(): Promise<number> {
    const { db, now } = this.#options;
    const at = now();
    const poll = at + (db.shared ? SHARED_POLL_MS : POLL_MS);
    this.#seeNews();
    const waiting = await db.all(notificationsWaiting({}));
    const idle = waiting.filter(({ id }) => !this.#walking.has(id));
    const timeOf = ({ id, dueAt }: { id: string; dueAt: number }) =>
      Math.max(dueAt, this.#resting.get(id)?.until ?? 0);
    const due = idle.filter((rule) => timeOf(rule) <= at);
    if (due.length > 0 || at >= this.#sweepAt) {
      if (!(await this.#turn.mayGoOn())) {
        db.signal(TOPIC, "");
        return at + OTHERS_TURN_MS;
      }
      this.#hasTurn = true;
      await this.#keepBounds(waiting.map(({ id }) => id));
    }
    const room = MAX_LANES - this.#walking.size;
    for (const { id } of due.slice(0, room)) this.#walk(id);
    if (this.#walking.size === 0) await this.#endTurn();
    return Math.min(poll, ...idle.map(timeOf).filter((time) => time > at));
  }

  /** Resolves when what was begun has come to its end. */
  async settled(): Promise<void> {
    while (this.#walking.size > 0) await Promise.all(this.#walking.values());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#turn.stop();
    this.#stop.abort();
    this.wake();
    await this.#over;
    await this.settled();
    this.#webhooks[Symbol.dispose]();
    await this.#endTurn();
  }

  async #repeat(): Promise<void> {
    const { db, now, onError } = this.#options;
    using heard = new DisposableStack();
    // Only who has the turn can do something about it: others would signal again, and so for ever.
    heard.use(db.onSignal(TOPIC, () => this.#hasTurn && this.wake()));
    while (!this.#stop.signal.aborted) {
      this.#news = Promise.withResolvers<void>();
      let next = now() + SHARED_POLL_MS;
      try {
        next = await this.begin();
      } catch (error) {
        onError(error);
      }
      const pause = new AbortController();
      const ms = Math.max(0, next - now());
      const paused = setTimeout(ms, undefined, { signal: pause.signal, ref: false });
      await Promise.race([paused.catch(() => {}), this.#news.promise]);
      pause.abort();
      await setTimeout(GATHER_MS, undefined, { ref: false });
    }
  }

  /** Of no rule is known any more that it has nothing to tell. */
  #seeNews(): void {
    if (this.#newsSeen === this.#newsHeard) return;
    this.#newsSeen = this.#newsHeard;
    for (const [id, { atLeast }] of this.#resting) {
      this.#resting.set(id, { atLeast, until: atLeast });
    }
  }

  #walk(id: string): void {
    const { db, now, random, onError, onOutcome = () => {} } = this.#options;
    const walk = async () => {
      const heard = this.#newsHeard;
      try {
        const { next, pages, delivered } = await walkLane(id, {
          db,
          now,
          random,
          send: (rule, event) => this.#send(rule, event),
          mayGoOn: () => this.#turn.mayGoOn(),
          onOutcome: (outcome) => onOutcome(outcome, 1),
        });
        const atLeast = pages > 1 && delivered === 0 ? now() + REST_MS : 0;
        const until = this.#newsHeard === heard ? Math.max(next, atLeast) : atLeast;
        if (next === Infinity) this.#resting.delete(id);
        else this.#resting.set(id, { atLeast, until });
      } catch (error) {
        const until = now() + SHARED_POLL_MS;
        this.#resting.set(id, { atLeast: until, until });
        onError(error);
      } finally {
        this.#walking.delete(id);
        this.#news.resolve();
      }
    };
    this.#walking.set(id, walk());
  }

  /** Lets another node have it. */
  async #endTurn(): Promise<void> {
    if (!this.#hasTurn) return;
    this.#hasTurn = false;
    await this.#turn.end();
  }

  async #keepBounds(ids: readonly string[]): Promise<void> {
    const { db, now, bounds = defaultBounds, onOutcome = () => {} } = this.#options;
    const at = now();
    if (at >= this.#trimAt) {
      this.#trimAt = at + TRIM_EVERY_MS;
      for (const id of ids) {
        const { failed, dropped } = await trim(db, id, bounds);
        if (failed > 0) onOutcome("failed", failed);
        if (dropped > 0) onOutcome("dropped", dropped);
      }
    }
    if (at < this.#sweepAt) return;
    this.#sweepAt = at + SWEEP_EVERY_MS;
    await db.write(eventRows.sweepEvents({}));
  }

  async #send({ id, target, secret: sealed, accountId }: Rule, event: Occurrence): Promise<void> {
    const { sealKey, now, toScript } = this.#options;
    const { signal } = this.#stop;
    if (target.kind === "script") {
      return toScript(accountId, target.script, queueMessage(event), signal);
    }
    const secret = unseal(sealKey, sealLabel(id), sealed!);
    if (secret === null) throw new Error("The webhook's secret cannot be opened: set another");
    const body = JSON.stringify(webhookMessage(event));
    const headers = signedHeaders(secret, messageId(event), now(), body);
    await this.#webhooks.send({ url: target.url, headers, body, signal });
  }
}
