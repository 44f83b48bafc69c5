/**
 * A shared cache before origins. RFC 9111. A hit in memory is answered without waiting; whatever else may be
 * needed (a look on disk, a fetch, a validation) is done once for all requests that come for it meanwhile.
 */
import { answerFrom, isPlain } from "./answer.ts";
import type { CacheCounts } from "./cache-counts.ts";
import { cacheKey, doubtfulKeys } from "./cache-key.ts";
import type { Fill } from "./fill.ts";
import { Flights } from "./flights.ts";
import { judge } from "./freshness.ts";
import { fieldOf, type RawHeaders, withoutFields } from "./headers.ts";
import type { Kept } from "./kept.ts";
import {
  type CachedResponse,
  type CacheRequest,
  type CacheStatus,
  type FetchOrigin,
  STATUS_FIELD,
} from "./messages.ts";
import { type Call, OriginExchange, type Outcome } from "./origin-exchange.ts";
import { Passing } from "./passing.ts";
import { directivesAsked, isFor, mayHave, passStatus, SAFE } from "./request-rules.ts";
import { serveKept } from "./serve-kept.ts";
import { Shelf, type ShelfOptions } from "./shelf.ts";
import type { StoredHead } from "./stored.ts";
import { NOT_CACHED, passed, passOn } from "./uncached.ts";

export interface CacheOptions extends ShelfOptions {
  /** The largest body that is kept. */
  readonly objectOctets: number;
  /** The longest that a request waits for another's response. */
  readonly waitMs: number;
  readonly now: () => number;
  /** Hears of URLs that were made doubtful here, for the caches of other threads. */
  readonly onForgotten: (keys: readonly string[]) => void;
}

/** Larger bodies go to disk, where there is one: few of them would drive all else out of memory. */
const MAX_MEMORY_OBJECT = 1024 * 1024;
const MEMORY_SHARE = 16;

/** Where a variant turned out to be another's, a request looks again so often, then goes by itself. */
const MAX_LOOKS = 2;

export class Cache {
  readonly #options: CacheOptions;
  readonly #shelf: Shelf;
  readonly #passing = new Passing();
  readonly #exchange: OriginExchange;
  /** What is being fetched or looked for, by place. */
  readonly #flights = new Flights<Outcome>();

  constructor(options: CacheOptions) {
    this.#options = options;
    this.#shelf = new Shelf(options);
    const inMemory = Math.min(options.memoryOctets / MEMORY_SHARE, MAX_MEMORY_OBJECT);
    this.#exchange = new OriginExchange({
      ...options,
      shelf: this.#shelf,
      passing: this.#passing,
      memoryObjectOctets: inMemory,
      objectOctets: options.disk === null ? inMemory : options.objectOctets,
    });
  }

  get counts(): CacheCounts {
    return this.#options.counts;
  }

  /** What is held in memory. */
  get octets(): number {
    return this.#shelf.octets;
  }

  get size(): number {
    return this.#shelf.size;
  }

  /**
   * Whether the cache has no part in a request, and what is told of it then. Whoever carries such requests
   * without `handle` tells of their answers with `noteChange`.
   */
  passes(request: CacheRequest): "DYNAMIC" | "BYPASS" | null {
    return passStatus(request);
  }

  /** Takes a request to the cache and, where that has nothing for it, to the origin, whose failure it throws. */
  handle(
    request: CacheRequest,
    fetchOrigin: FetchOrigin,
  ): CachedResponse | Promise<CachedResponse> {
    const { headers } = request;
    const status = passStatus(request);
    if (status !== null) return this.#pass(request, fetchOrigin, status);
    const key = cacheKey(request);
    const call: Call = { request, key, asked: directivesAsked(headers), fetchOrigin };
    const kept = this.#shelf.atHand(key, headers);
    return kept === undefined ? this.#seek(call, 0) : this.#use(call, kept);
  }

  /** Another thread has made the URL doubtful. */
  forget(keys: readonly string[]): void {
    for (const key of keys) {
      this.#shelf.forget(key);
      this.#flights.forget(key);
    }
  }

  /** Purged while it was on its way. */
  #isPurged({ key, purge }: StoredHead): boolean {
    return this.#options.purges.isPurged(key, purge);
  }

  #use(call: Call, kept: Kept): CachedResponse | Promise<CachedResponse> {
    const { request, asked, fetchOrigin } = call;
    if (!mayHave(request, kept.head)) return passOn(fetchOrigin, "DYNAMIC");
    const now = this.#options.now();
    const verdict = judge(kept.head.freshness, asked, now);
    if (verdict === "fresh") return this.#serve(call, kept, "HIT", now);
    if (verdict === "stale") return this.#serve(call, kept, "STALE", now);
    if (verdict === "updating") {
      this.#update(call, kept);
      return this.#serve(call, kept, "UPDATING", now);
    }
    if (asked.has("only-if-cached")) return NOT_CACHED;
    if (request.method === "HEAD") return passOn(fetchOrigin, "EXPIRED");
    return this.#together(call, kept, 0);
  }

  #serve(
    call: Call,
    kept: Kept,
    status: CacheStatus,
    now: number,
  ): CachedResponse | Promise<CachedResponse> {
    const answer = serveKept(this.#shelf, kept, call.request, status, now);
    if (!(answer instanceof Promise)) return answer;
    return answer.then((found) => found ?? this.#seek(call, 0));
  }

  /** Nothing is at hand: looks on disk, then asks the origin. */
  async #seek(call: Call, looks: number): Promise<CachedResponse> {
    const { key, request, asked, fetchOrigin } = call;
    if (request.method === "HEAD" || asked.has("only-if-cached")) {
      const kept = await this.#shelf.find(key, request.headers);
      if (kept !== undefined) return this.#use(call, kept);
      return asked.has("only-if-cached") ? NOT_CACHED : passOn(fetchOrigin, "MISS");
    }
    if (asked.has("no-store")) return passOn(fetchOrigin, "BYPASS");
    if (looks > MAX_LOOKS || this.#passing.has(key, this.#options.now())) return this.#alone(call);
    return this.#together(call, null, looks);
  }

  /** Waits for the one who asks already, or is the one who asks. */
  async #together(call: Call, stale: Kept | null, looks: number): Promise<CachedResponse> {
    const place = this.#shelf.placeOf(call.key, call.request.headers);
    const flight = this.#flights.get(place);
    if (flight === undefined) return this.#finish(call, await this.#lead(call, place, stale));
    const outcome = await Flights.within(flight, this.#options.waitMs);
    if (outcome === "late" || outcome.kind === "unkept") return this.#alone(call);
    const head = outcome.kind === "fill" ? outcome.fill.head : outcome.kept.head;
    if (!isFor(call.request, head) || this.#isPurged(head)) return this.#seek(call, looks + 1);
    if (outcome.kind !== "fill") return this.#finish(call, outcome);
    if (!outcome.fill.isOpen) return this.#alone(call);
    return this.#serveFill(call, outcome.fill, outcome.fill.head, outcome.status);
  }

  #lead(call: Call, place: string, stale: Kept | null): Promise<Outcome> {
    const flight = this.#findOrAsk(call, stale);
    this.#flights.add(place, flight, untilSettled);
    // Whoever comes when its variants are known looks for it there.
    const share = (outcome: Outcome) => {
      if (outcome.kind !== "fill" || outcome.fill.place === place) return;
      this.#flights.add(outcome.fill.place, flight, untilSettled);
    };
    flight.then(share, () => {});
    return flight;
  }

  async #findOrAsk(call: Call, stale: Kept | null): Promise<Outcome> {
    const { key, request } = call;
    const kept = stale === null ? await this.#shelf.find(key, request.headers) : undefined;
    return kept === undefined ? this.#exchange.ask(call, stale) : { kind: "found", kept };
  }

  /** The answer to the one who asked. */
  async #finish(call: Call, outcome: Outcome): Promise<CachedResponse> {
    const { request, fetchOrigin } = call;
    if (outcome.kind === "found") return this.#use(call, outcome.kept);
    if (outcome.kind === "kept") {
      return this.#serve(call, outcome.kept, outcome.status, this.#options.now());
    }
    const { response } = outcome;
    if (outcome.kind === "fill") {
      // The one who asked gets also what is not kept.
      const head = { ...outcome.fill.head, headers: withoutFields(response.headers, REPLACED) };
      try {
        return this.#serveFill(call, outcome.fill, head, outcome.status);
      } finally {
        outcome.fill.start();
      }
    }
    if (isPlain(request) || response.status !== 200) return passed(response, "BYPASS");
    response.abandon(); // All of it came; the client wants a part, or may have it.
    return passOn(fetchOrigin, "BYPASS");
  }

  #serveFill({ request }: Call, fill: Fill, head: StoredHead, status: CacheStatus): CachedResponse {
    const now = this.#options.now();
    const answer = answerFrom(head, fill.length, fill.read, request, status, now);
    if (answer.body === null || answer.status === 206) fill.want();
    return answer;
  }

  /** Fetches a newer one while the stale one is in use. RFC 5861 §3. */
  #update(call: Call, stale: Kept): void {
    const place = this.#shelf.placeOf(call.key, call.request.headers);
    if (this.#flights.get(place) !== undefined) return;
    this.#lead(call, place, stale).then(
      (outcome) => {
        if (outcome.kind === "fill") outcome.fill.start();
        if (outcome.kind === "unkept") outcome.response.abandon();
      },
      () => {}, // The stale one was sent; the next request asks again, and hears what is wrong.
    );
  }

  /** Goes to the origin by itself. What may be kept is, and ends the passing. */
  async #alone(call: Call): Promise<CachedResponse> {
    const { key, request, fetchOrigin } = call;
    const { moment } = this.#shelf;
    const purge = this.#options.purges.last;
    const requestedAt = this.#options.now();
    const isPassing = this.#passing.has(key, requestedAt);
    const response = await fetchOrigin(null);
    const exchange = { requestedAt, receivedAt: this.#options.now() };
    const place = this.#shelf.placeOf(key, request.headers);
    const head =
      isPlain(request) && this.#flights.get(place) === undefined
        ? this.#exchange.headOfPassed(call, response, exchange, purge)
        : null;
    if (head === null) return passed(response, isPassing ? "BYPASS" : "MISS");
    const fill = this.#exchange.fill(head, response, moment);
    const outcome: Outcome = { kind: "fill", fill, response, status: "MISS" };
    this.#flights.add(place, Promise.resolve(outcome), untilSettled);
    return this.#finish(call, outcome);
  }

  async #pass(
    request: CacheRequest,
    fetchOrigin: FetchOrigin,
    status: CacheStatus,
  ): Promise<CachedResponse> {
    const response = await fetchOrigin(null);
    this.noteChange(request, response.status, response.headers);
    return passed(response, status);
  }

  /** What an unsafe method has changed must be asked for again. RFC 9111 §4.4. */
  noteChange(request: CacheRequest, status: number, headers: RawHeaders): void {
    if (SAFE.has(request.method) || status < 200 || status >= 400 || request.level === "off")
      return;
    const locations = [fieldOf(headers, "location"), fieldOf(headers, "content-location")];
    const keys = doubtfulKeys(request, locations);
    this.forget(keys);
    this.#options.onForgotten(keys);
  }
}

const REPLACED: ReadonlySet<string> = new Set(["age", STATUS_FIELD.toLowerCase()]);

/** Whoever comes while it fills reads along; after that it is kept. */
function untilSettled(outcome: Outcome): Promise<void> | null {
  return outcome.kind === "fill" ? outcome.fill.settled : null;
}
