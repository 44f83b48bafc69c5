/** Asks an origin for what the cache does not have, or has stale, and finds out what may be kept. RFC 9111 §4.3. */
import type { Directives } from "./cache-control.ts";
import { type Fill, fillOf } from "./fill.ts";
import { type Exchange, mayServeOnError } from "./freshness.ts";
import { fieldOf } from "./headers.ts";
import type { Kept } from "./kept.ts";
import type { CacheRequest, FetchOrigin, OriginResponse } from "./messages.ts";
import type { Passing } from "./passing.ts";
import type { PurgeRules } from "./purge-rules.ts";
import type { Shelf } from "./shelf.ts";
import { headFor, renewedHead, type StoredHead } from "./stored.ts";
import { confirms, originConditions } from "./validators.ts";

/** A request on its way through the cache. */
export interface Call {
  readonly request: CacheRequest;
  readonly key: string;
  /** The directives of the request. */
  readonly asked: Directives;
  readonly fetchOrigin: FetchOrigin;
}

/** What came of it, for the request that asked and for those that waited. */
export type Outcome =
  /** It was on disk. */
  | { readonly kind: "found"; readonly kept: Kept }
  /** The origin confirmed it, or fails and it stands in. */
  | { readonly kind: "kept"; readonly kept: Kept; readonly status: "REVALIDATED" | "STALE" }
  /** It comes; the one who asked starts it. */
  | {
      readonly kind: "fill";
      readonly fill: Fill;
      readonly response: OriginResponse;
      readonly status: "MISS" | "EXPIRED";
    }
  /** It is for the one who asked alone. */
  | { readonly kind: "unkept"; readonly response: OriginResponse };

export interface OriginExchangeOptions {
  readonly shelf: Shelf;
  readonly passing: Passing;
  readonly purges: PurgeRules;
  /** The most of one body in memory, and at all. */
  readonly memoryObjectOctets: number;
  readonly objectOctets: number;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

/** RFC 5861 §4: what counts as an error that a stale response may stand in for. */
const FAILURES: ReadonlySet<number> = new Set([500, 502, 503, 504]);

export class OriginExchange {
  readonly #options: OriginExchangeOptions;

  constructor(options: OriginExchangeOptions) {
    this.#options = options;
  }

  /** `stale` is what there is, to be validated. */
  async ask(call: Call, stale: Kept | null): Promise<Outcome> {
    const { shelf, purges, now } = this.#options;
    const since = { purge: purges.last, moment: shelf.moment, requestedAt: now() };
    const conditions = stale === null ? [] : originConditions(stale.head.headers);
    const response = await call.fetchOrigin(conditions).catch((error: unknown) => {
      if (stale === null || !this.#standsIn(stale, call)) throw error;
      return null;
    });
    if (response === null) return { kind: "kept", kept: stale!, status: "STALE" };
    if (stale !== null && FAILURES.has(response.status) && this.#standsIn(stale, call)) {
      response.abandon();
      return { kind: "kept", kept: stale, status: "STALE" };
    }
    const exchange = { requestedAt: since.requestedAt, receivedAt: now() };
    if (stale !== null && response.status === 304) {
      return this.#confirmed(call, stale, response, exchange, since.purge);
    }
    const { request, asked, key } = call;
    const head = headFor(key, request, asked, response, exchange, since.purge);
    if (head === null || this.#isTooLarge(response)) {
      // What the origin no longer lets be kept must not stand in for it later.
      if (stale !== null && response.status < 500) shelf.forget(key);
      // What is for those with credentials alone says nothing about others.
      if (request.headers["authorization"] === undefined) this.#options.passing.add(key, now());
      return { kind: "unkept", response };
    }
    const fill = this.fill(head, response, since.moment);
    return { kind: "fill", fill, response, status: stale === null ? "MISS" : "EXPIRED" };
  }

  /** Lets a response be kept while it is read; whoever has made the first reader starts it. */
  fill(head: StoredHead, response: OriginResponse, moment: number): Fill {
    const { shelf, passing } = this.#options;
    passing.delete(head.key);
    return fillOf(shelf, head, response, moment, this.#options);
  }

  /** The response that a request got by itself is kept too, if it may be. */
  headOfPassed(call: Call, response: OriginResponse, exchange: Exchange, purge: number) {
    if (this.#isTooLarge(response)) return null;
    const { request, asked, key } = call;
    return headFor(key, request, asked, response, exchange, purge);
  }

  async #confirmed(
    call: Call,
    stale: Kept,
    response: OriginResponse,
    exchange: Exchange,
    purge: number,
  ): Promise<Outcome> {
    for await (const _ of response.body); // There is none; its connection is free when that is seen.
    // A 304 about another response than ours: what the origin has now must be fetched.
    if (!confirms(stale.head.headers, response.headers)) return this.ask(call, null);
    const { shelf } = this.#options;
    const head = renewedHead(stale.head, call.request.headers, response.headers, exchange, purge);
    if (head === null) {
      shelf.forget(call.key);
      return { kind: "kept", kept: stale, status: "REVALIDATED" };
    }
    return {
      kind: "kept",
      kept: shelf.renew(shelf.prepare(head), head, stale),
      status: "REVALIDATED",
    };
  }

  #standsIn({ head }: Kept, { asked }: Call): boolean {
    return mayServeOnError(head.freshness, asked, this.#options.now());
  }

  #isTooLarge({ headers }: OriginResponse): boolean {
    return Number(fieldOf(headers, "content-length") ?? 0) > this.#options.objectOctets;
  }
}
