/** Requests for proxied names that no script answers: to the origin of their records, one after the other. */
import { askOrigin } from "../cache/origin-answer.ts";
import type { OriginResponse } from "../cache/messages.ts";
import type { Asked, ServedZone } from "../destination.ts";
import type { OnInterim } from "../early-hints.ts";
import type { OriginFacts } from "../facts/facts.ts";
import type { Onward, Passage } from "../onward.ts";
import { type Refusal, refusals } from "../refusals.ts";
import { mayConnect, type OriginPolicy, originPort, originScheme } from "./origin-policy.ts";
import type { Origin, OriginPool } from "./origin-pool.ts";

export interface OriginProxyOptions extends OriginPolicy {
  /** Addresses of a name that lies outside. */
  readonly outside: (name: string) => Promise<readonly string[]> | readonly string[];
  readonly pool: OriginPool;
  /** From the request's last octet to the end of its answer's head. */
  readonly answerMs: number;
  /** Marks requests that have passed here. RFC 8586. */
  readonly loopMark: string;
  /** Where the edge itself listens: an origin there would be a loop. */
  readonly isEdge: (address: string, port: number) => boolean;
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

type Pass = (onward: Onward) => Promise<Passage>;

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

  constructor(options: OriginProxyOptions) {
    this.#options = options;
  }

  /** Sends a request to its origin as it is. */
  async pass(asked: OriginRequest, pass: Pass): Promise<Refusal | Passage> {
    const plan = await this.#plan(asked);
    if (!("origins" in plan)) return plan;
    const { requestId, answerHeaders } = asked;
    let last: Passage | null = null;
    for (const origin of plan.origins) {
      last = await pass({
        ...this.#onward(asked, plan, origin),
        requestId,
        answerHeaders,
        sendsTrailers: true,
      });
      if (last.kind !== "failed") return last;
      if (!last.answerBegan) this.#options.pool.noteFailure(origin);
      if (!last.mayGoElsewhere) break;
    }
    return last?.kind === "failed" && !last.answerBegan ? originRefusal(last.cause) : last!;
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

  #onward({ target }: OriginRequest, { headers }: Plan, origin: Origin) {
    const { pool, answerMs } = this.#options;
    return { upstream: pool.upstream(origin), target, headers, answerMs };
  }

  /** Which origins are tried, in which order; or why none is. */
  async #plan(asked: OriginRequest): Promise<Plan | Refusal> {
    const { pool, loopMark } = this.#options;
    const { passed, hostname, zone } = asked;
    if (passed?.includes(loopMark) === true) return refusals.loop(hostname);
    const { scheme, verifies } = originScheme(zone.ssl, asked.scheme);
    const port = originPort(scheme, asked.scheme, asked.host);
    const usable = await this.#usable(asked, port);
    if ("code" in usable) return usable;
    const tried = pool.inOrder(usable, port).slice(0, MAX_TRIES);
    const mark = passed === null ? loopMark : `${passed}, ${loopMark}`;
    const headers = asked.headers();
    headers.push("CDN-Loop", mark);
    return {
      headers,
      origins: tried.map((address) => ({ scheme, address, port, serverName: hostname, verifies })),
    };
  }

  async #usable(asked: OriginRequest, port: number): Promise<readonly string[] | Refusal> {
    const { isEdge, outside } = this.#options;
    const { origin } = asked;
    const addresses = "addresses" in origin ? origin.addresses : await outside(origin.outside);
    if (addresses.length === 0) return refusals.noOriginAddress(asked.hostname);
    const elsewhere = addresses.filter((address) => !isEdge(address, port));
    if (elsewhere.length === 0) return refusals.loop(asked.hostname);
    const allowed = elsewhere.filter((address) => mayConnect(address, this.#options));
    return allowed.length === 0 ? refusals.internalOrigin(asked.hostname) : allowed;
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
