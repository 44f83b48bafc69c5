/** Requests for proxied names that no script answers: to the origin of their records, one after the other. */
import { Deadlines } from "#kit/deadlines.ts";
import { askOrigin } from "../cache/origin-answer.ts";
import type { OriginResponse } from "../cache/messages.ts";
import type { Asked, ServedZone } from "../destination.ts";
import type { OnInterim } from "../early-hints.ts";
import type { OriginFacts } from "../facts/facts.ts";
import type { Onward, Passage } from "../onward.ts";
import { type Refusal, refusals } from "../refusals.ts";
import type { Origin, OriginPool } from "./origin-pool.ts";
import { UsableOrigins, type UsableOriginsOptions } from "./usable-origins.ts";

export interface OriginProxyOptions extends UsableOriginsOptions {
  /** Addresses of a name that lies outside. */
  readonly outside: (name: string) => Promise<readonly string[]> | readonly string[];
  readonly pool: OriginPool;
  /** From the request's last octet to the end of its answer's head. */
  readonly answerMs: number;
  /** Marks requests that have passed here. RFC 8586. */
  readonly loopMark: string;
}

export interface OriginRequest extends Omit<Asked, "tlsVersion"> {
  readonly host: string;
  readonly zone: ServedZone;
  readonly origin: OriginFacts;
  /** Whom the request has passed: its `CDN-Loop`. */
  readonly passed: string | null;
  /** What goes on, made anew each time: answers of the cache need none. */
  readonly headers: () => string[];
  readonly answerHeaders: readonly string[];
  readonly requestId: string;
}

interface Plan {
  readonly origins: readonly Origin[];
  readonly headers: readonly string[];
}

/** Carries a request to an upstream, and its answer to the client. */
export interface Carrier {
  /** What comes back goes on as it comes. */
  pass(onward: Onward): Promise<Passage>;
}

type Outcome = Refusal | Passage;

/** No origin gives an answer. */
export class OriginRefused extends Error {
  readonly refusal: Refusal;
  constructor(refusal: Refusal, options?: ErrorOptions) {
    super(refusal.message, options);
    this.refusal = refusal;
  }
}

/** Origins tried for one request. */
const MAX_TRIES = 3;

export class OriginProxy {
  readonly #options: OriginProxyOptions;
  readonly #usable: UsableOrigins;
  readonly #answerWithin: Deadlines;

  constructor(options: OriginProxyOptions) {
    this.#options = options;
    this.#usable = new UsableOrigins(options);
    this.#answerWithin = new Deadlines(options.answerMs);
  }

  /** Sends a request to its origin as it is: at once, where the origin's addresses are known. */
  pass(asked: OriginRequest, carrier: Carrier): Outcome | Promise<Outcome> {
    const plan = this.#plan(asked);
    return plan instanceof Promise
      ? plan.then((made) => this.#passBy(made, asked, carrier))
      : this.#passBy(plan, asked, carrier);
  }

  #passBy(
    plan: Plan | Refusal,
    asked: OriginRequest,
    carrier: Carrier,
  ): Refusal | Promise<Outcome> {
    return "origins" in plan ? this.#passTo(0, plan, asked, carrier) : plan;
  }

  #passTo(at: number, plan: Plan, asked: OriginRequest, carrier: Carrier): Promise<Outcome> {
    const origin = plan.origins[at]!;
    return carrier.pass(this.#onward(asked, plan, origin)).then((passage) => {
      if (passage.kind !== "failed") return passage;
      const { answerBegan, mayGoElsewhere, cause } = passage;
      if (!answerBegan) this.#options.pool.noteFailure(origin);
      if (mayGoElsewhere && at + 1 < plan.origins.length) {
        return this.#passTo(at + 1, plan, asked, carrier);
      }
      return answerBegan ? passage : originRefusal(cause);
    });
  }

  /** Asks an origin on behalf of the cache. Throws `OriginRefused` when none answers. */
  async ask(
    asked: OriginRequest,
    method: string,
    conditions: readonly string[] | null,
    onInterim: OnInterim,
  ): Promise<OriginResponse> {
    const plan = await this.#plan(asked);
    if (!("origins" in plan)) throw new OriginRefused(plan);
    let last: Error | null = null;
    for (const origin of plan.origins) {
      try {
        const onward = this.#onward(asked, plan, origin);
        return await askOrigin(onward, method, conditions, onInterim);
      } catch (cause) {
        this.#options.pool.noteFailure(origin);
        last = cause as Error;
      }
    }
    throw new OriginRefused(originRefusal(last!), { cause: last });
  }

  #onward(asked: OriginRequest, { headers }: Plan, origin: Origin): Onward {
    const { target, requestId, answerHeaders } = asked;
    return {
      upstream: this.#options.pool.upstream(origin),
      target,
      headers,
      requestId,
      answerHeaders,
      answerWithin: this.#answerWithin,
      sendsTrailers: true,
    };
  }

  /** Which origins are tried, in which order; or why none is. */
  #plan(asked: OriginRequest): Plan | Refusal | Promise<Plan | Refusal> {
    const { outside, loopMark } = this.#options;
    const { passed, hostname, origin } = asked;
    if (passed?.includes(loopMark) === true) return refusals.loop(hostname);
    const addresses = "addresses" in origin ? origin.addresses : outside(origin.outside);
    return addresses instanceof Promise
      ? addresses.then((found) => this.#planFor(asked, found))
      : this.#planFor(asked, addresses);
  }

  #planFor(asked: OriginRequest, addresses: readonly string[]): Plan | Refusal {
    const { pool, loopMark } = this.#options;
    const usable = this.#usable.of(asked, addresses);
    if ("code" in usable) return usable;
    const headers = asked.headers();
    headers.push("CDN-Loop", asked.passed === null ? loopMark : `${asked.passed}, ${loopMark}`);
    return { headers, origins: pool.inOrder(usable).slice(0, MAX_TRIES) };
  }
}

/** Why an origin gave no answer, in words for whoever visits. */
function originRefusal(cause: NodeJS.ErrnoException): Refusal {
  const { code = "", message } = cause;
  if (code === "ETIMEDOUT" || /^No (?:connection|answer) within/.test(message)) {
    return refusals.originTimeout();
  }
  if (/^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO)/.test(code)) {
    return refusals.originTls();
  }
  return refusals.originDown();
}
