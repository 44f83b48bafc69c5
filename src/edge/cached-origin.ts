/** Requests to origins by way of the cache, for zones that have it on. */
import type { IncomingMessage } from "node:http";
import { forBrowsers } from "./cache/browser-ttl.ts";
import type { Cache } from "./cache/cache.ts";
import type { CachedResponse, CacheRequest } from "./cache/messages.ts";
import type { Sent } from "./cache/send-cached.ts";
import { cacheLevelAt } from "./cache/zone-level.ts";
import type { OnInterim } from "./early-hints.ts";
import type { Passage } from "./onward.ts";
import {
  type Carrier,
  type OriginProxy,
  OriginRefused,
  type OriginRequest,
} from "./origin/origin-proxy.ts";
import type { Refusal } from "./refusals.ts";

export interface CachedOriginOptions {
  readonly origins: OriginProxy;
  readonly cache: Cache;
  readonly now: () => number;
}

/** How a request's answer gets to its client. */
export interface Ways extends Carrier {
  /** What the cache has; null for requests that are no business of a cache. */
  readonly send: ((answer: CachedResponse, also: readonly string[]) => Sent | Promise<Sent>) | null;
  /** What hears of news before an answer that the cache has asked for. */
  hear(): OnInterim;
}

type Outcome = Refusal | Passage;

export class CachedOrigin {
  readonly #options: CachedOriginOptions;

  constructor(options: CachedOriginOptions) {
    this.#options = options;
  }

  /** What is at hand is answered at once, and what is not goes on at once where nothing has to be waited for. */
  take(
    { method = "", headers }: IncomingMessage,
    asked: OriginRequest,
    ways: Ways,
  ): Outcome | Promise<Outcome> {
    const { origins, cache, now } = this.#options;
    const { zone, scheme, hostname, target } = asked;
    const level = cacheLevelAt(zone, now());
    if (level === "off" || ways.send === null) return origins.pass(asked, ways);
    const zoneId = zone.id;
    const call: CacheRequest = { method, zoneId, level, scheme, hostname, target, headers };
    const passes = cache.passes(call);
    if (passes !== null) {
      cache.counts.answered(passes);
      return this.#pass(call, asked, ways);
    }
    const found = cache.handle(call, (conditions) =>
      origins.ask(asked, method, conditions, ways.hear()),
    );
    return found instanceof Promise
      ? this.#sendLater(found, asked, ways)
      : this.#send(found, asked, ways);
  }

  /** Around the cache, which hears of it where it may have changed something. */
  async #pass(call: CacheRequest, asked: OriginRequest, ways: Ways): Promise<Outcome> {
    const { origins, cache } = this.#options;
    const passage = await origins.pass(asked, ways);
    if ("kind" in passage && passage.kind === "answered") {
      cache.noteChange(call, passage.status, []);
    }
    return passage;
  }

  async #sendLater(
    found: Promise<CachedResponse>,
    asked: OriginRequest,
    ways: Ways,
  ): Promise<Outcome> {
    try {
      return await this.#send(await found, asked, ways);
    } catch (cause) {
      if (cause instanceof OriginRefused) return cause.refusal;
      throw cause;
    }
  }

  #send(answer: CachedResponse, asked: OriginRequest, ways: Ways): Outcome | Promise<Outcome> {
    const { zone, requestId, answerHeaders } = asked;
    this.#options.cache.counts.answered(answer.cacheStatus);
    const shown = forBrowsers(answer, zone.browserTtlSeconds);
    const sent = ways.send!(shown, ["X-Request-Id", requestId, ...answerHeaders]);
    return sent instanceof Promise
      ? sent.then((end) => passageOf(end, answer))
      : passageOf(sent, answer);
  }
}

function passageOf(sent: Sent, { status }: CachedResponse): Passage {
  return sent === "left" ? { kind: "left" } : { kind: "answered", status };
}
