/** What goes into the cache and what comes out of it. */
import type { RawHeaders, RequestHeaders } from "./headers.ts";

/** How a zone's responses are kept; `bypass` while its development mode lasts. */
export type CacheLevel = "off" | "bypass" | "basic" | "simplified" | "aggressive";

export interface CacheRequest {
  readonly method: string;
  readonly zoneId: string;
  readonly level: CacheLevel;
  readonly scheme: "http" | "https";
  /** Lower case, without port and without a dot at its end. */
  readonly hostname: string;
  /** Path and query, as the client sent them. */
  readonly target: string;
  readonly headers: RequestHeaders;
}

export interface OriginResponse {
  readonly status: number;
  /** Without those of the connection. */
  readonly headers: RawHeaders;
  /** Throws when it is cut short. It is read to its end, or abandoned. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Nobody wants the rest: ends the exchange, also while it waits for octets. */
  readonly abandon: () => void;
}

/**
 * Asks the origin. With null the request goes as the client sent it. With a list it asks for the whole
 * resource: the client's Range and If-… fields stay behind and those of the list go instead, the method is
 * GET, and it must not end when the client leaves.
 */
export type FetchOrigin = (conditions: readonly string[] | null) => Promise<OriginResponse>;

/** What the cache did, as the original's `CF-Cache-Status` has it. */
export type CacheStatus =
  | "HIT"
  /** It was not there; it may be by now. */
  | "MISS"
  /** It was stale, and the origin sent another. */
  | "EXPIRED"
  /** It was stale, and the origin says that it still holds. */
  | "REVALIDATED"
  /** Used although stale: the origin fails, or the client does not mind. */
  | "STALE"
  /** Used although stale, while a newer one is fetched. */
  | "UPDATING"
  /** The response may not be kept, or the zone is in development mode. */
  | "BYPASS"
  /** The request is none for a cache. */
  | "DYNAMIC";

export interface CachedResponse {
  readonly status: number;
  /** Ready to be sent. Hits share the list: it must not be changed. */
  readonly headers: RawHeaders;
  /** Null when none is to be sent. What is iterable is read to its end, or returned. */
  readonly body: Uint8Array | AsyncIterable<Uint8Array> | null;
  readonly cacheStatus: CacheStatus;
}

export const STATUS_FIELD = "CF-Cache-Status";
