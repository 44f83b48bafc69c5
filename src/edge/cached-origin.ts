/** Requests to origins by way of the cache, for zones that have it on. */
import type { IncomingMessage } from "node:http";
import { forBrowsers } from "./cache/browser-ttl.ts";
import type { Cache } from "./cache/cache.ts";
import type { CachedResponse, CacheRequest } from "./cache/messages.ts";
import { cacheLevelAt } from "./cache/zone-level.ts";
import type { OnInterim } from "./early-hints.ts";
import type { Onward, Passage } from "./onward.ts";
import { type OriginProxy, OriginRefused, type OriginRequest } from "./origin/origin-proxy.ts";
import type { Refusal } from "./refusals.ts";

export interface CachedOriginOptions {
  readonly origins: OriginProxy;
  readonly cache: Cache;
  readonly now: () => number;
}

/** How a request's answer gets to its client. */
export interface Ways {
  /** What comes back goes on as it comes. */
  readonly pass: (onward: Onward) => Promise<Passage>;
  /** What the cache has; null for requests that are no business of a cache. */
  readonly send:
    | ((answer: CachedResponse, also: readonly string[]) => Promise<"answered" | "left">)
    | null;
  /** What hears of news before an answer that the cache has asked for. */
  readonly hear: () => OnInterim;
}

export class CachedOrigin {
  readonly #options: CachedOriginOptions;

  constructor(options: CachedOriginOptions) {
    this.#options = options;
  }

  async take(
    request: IncomingMessage,
    asked: OriginRequest,
    { pass, send, hear }: Ways,
  ): Promise<Refusal | Passage> {
    const { origins, cache, now } = this.#options;
    const { zone } = asked;
    const level = cacheLevelAt(zone, now());
    if (level === "off" || send === null) return origins.pass(asked, pass);
    const { scheme, hostname, target, requestId, answerHeaders } = asked;
    const { method = "", headers } = request;
    const call: CacheRequest = {
      method,
      zoneId: zone.id,
      level,
      scheme,
      hostname,
      target,
      headers,
    };
    const passes = cache.passes(call);
    if (passes !== null) {
      cache.counts.answered(passes);
      const passage = await origins.pass(asked, pass);
      if ("kind" in passage && passage.kind === "answered") {
        cache.noteChange(call, passage.status, []);
      }
      return passage;
    }
    try {
      const found = cache.handle(call, (conditions) =>
        origins.ask(asked, method, conditions, hear()),
      );
      const answer = found instanceof Promise ? await found : found;
      cache.counts.answered(answer.cacheStatus);
      const shown = forBrowsers(answer, zone.browserTtlSeconds);
      const also = ["X-Request-Id", requestId, ...answerHeaders];
      const end = await send(shown, also);
      return end === "left" ? { kind: "left" } : { kind: "answered", status: answer.status };
    } catch (cause) {
      if (cause instanceof OriginRefused) return cause.refusal;
      throw cause;
    }
  }
}
