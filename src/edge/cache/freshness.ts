/** How old a response is and how long it may be used. RFC 9111 §4.2, RFC 5861. */
import { type Directives, parseCacheControl, secondsOf } from "./cache-control.ts";
import { fieldOf, type RawHeaders } from "./headers.ts";
import { parseHttpDate } from "./http-date.ts";

/** When a response was asked for and when its head came, in milliseconds. */
export interface Exchange {
  readonly requestedAt: number;
  readonly receivedAt: number;
}

/** Times in milliseconds. Kept with the response, so that a hit is a subtraction. */
export interface Freshness {
  /** The moment at which its age was nought. */
  readonly bornAt: number;
  readonly lifetimeMs: number;
  /** Beyond its lifetime: while a newer one is fetched, and when the origin fails. */
  readonly whileRevalidateMs: number;
  readonly ifErrorMs: number;
  /** Never to be used stale, whatever a client allows. */
  readonly mustRevalidate: boolean;
  readonly immutable: boolean;
}

/** RFC 9111 §4.2.2 suggests a tenth of the time since the last change; a day bounds what nobody promised. */
const HEURISTIC_FRACTION = 0.1;
const MAX_HEURISTIC_MS = 24 * 3600 * 1000;

/** Statuses that may be kept without a word about it. RFC 9110 §15.1; 206 is never kept here. */
const BY_DEFAULT: ReadonlySet<number> = new Set([
  200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501,
]);

/**
 * What the origin says to this cache: its `CDN-Cache-Control` when there is one, which then stands alone
 * (RFC 9213 §2.2), else `Cache-Control`.
 */
export function directivesOf(headers: RawHeaders): Directives {
  const targeted = parseCacheControl(fieldOf(headers, "cdn-cache-control"));
  return targeted.size > 0 ? targeted : parseCacheControl(fieldOf(headers, "cache-control"));
}

export function freshnessOf(
  status: number,
  headers: RawHeaders,
  directives: Directives,
  exchange: Exchange,
): Freshness {
  const milliseconds = (name: string) => (secondsOf(directives, name) ?? 0) * 1000;
  const mustRevalidate = directives.has("must-revalidate") || directives.has("proxy-revalidate");
  return {
    bornAt: exchange.receivedAt - initialAgeMs(headers, exchange),
    lifetimeMs: lifetimeMs(status, headers, directives, exchange.receivedAt),
    // Differs from RFC 9111 §5.2.2.10, by which s-maxage forbids stale use: who writes
    // stale-while-revalidate beside it means this cache, and the large ones read it so.
    whileRevalidateMs: mustRevalidate ? 0 : milliseconds("stale-while-revalidate"),
    ifErrorMs: mustRevalidate ? 0 : milliseconds("stale-if-error"),
    mustRevalidate: mustRevalidate || directives.has("s-maxage"),
    immutable: directives.has("immutable"),
  };
}

/** RFC 9111 §4.2.3: the larger of what its date and what the caches before us say. */
function initialAgeMs(headers: RawHeaders, { requestedAt, receivedAt }: Exchange): number {
  const apparent = Math.max(0, receivedAt - dateOf(headers, receivedAt));
  const told = /^\s*(\d+)/.exec(fieldOf(headers, "age") ?? "");
  const delay = receivedAt - requestedAt;
  return Math.max(apparent, told === null ? 0 : Number(told[1]) * 1000 + delay);
}

/** RFC 9111 §4.2.1, in its order. */
function lifetimeMs(
  status: number,
  headers: RawHeaders,
  directives: Directives,
  receivedAt: number,
): number {
  const seconds = secondsOf(directives, "s-maxage") ?? secondsOf(directives, "max-age");
  if (seconds !== null) return seconds * 1000;
  const date = dateOf(headers, receivedAt);
  const expires = fieldOf(headers, "expires");
  // What is no date, such as 0, lies in the past. RFC 9111 §5.3.
  if (expires !== null) return Math.max(0, (parseHttpDate(expires, receivedAt) ?? 0) - date);
  if (!BY_DEFAULT.has(status) && !directives.has("public")) return 0;
  const changed = parseHttpDate(fieldOf(headers, "last-modified") ?? "", receivedAt);
  if (changed === null) return 0;
  return Math.min(Math.max(0, date - changed) * HEURISTIC_FRACTION, MAX_HEURISTIC_MS);
}

/** When it was made: a response without a date is dated when it comes. RFC 9110 §6.6.1. */
function dateOf(headers: RawHeaders, receivedAt: number): number {
  return parseHttpDate(fieldOf(headers, "date") ?? "", receivedAt) ?? receivedAt;
}

/** What a cache may do with a stored response for a request. */
export type Verdict =
  | "fresh"
  /** Use it now and fetch a newer one beside. */
  | "updating"
  /** The client takes it stale. */
  | "stale"
  | "validate";

/** RFC 9111 §4.2, §5.2.1; RFC 5861 §3. `asked` are the request's directives. */
export function judge(freshness: Freshness, asked: Directives, now: number): Verdict {
  const { bornAt, lifetimeMs: lifetime, mustRevalidate, immutable } = freshness;
  const age = Math.max(0, now - bornAt);
  if (asked.size === 0) {
    if (age < lifetime) return "fresh";
    return age < lifetime + freshness.whileRevalidateMs ? "updating" : "validate";
  }
  if (asked.has("no-cache")) return "validate";
  const mostAge = secondsOf(asked, "max-age");
  // RFC 8246 §2: a reload need not ask for what never changes.
  const isTooOld = mostAge !== null && age > mostAge * 1000 && !(immutable && age < lifetime);
  if (isTooOld) return "validate";
  const left = lifetime - age;
  const leastLeft = (secondsOf(asked, "min-fresh") ?? 0) * 1000;
  if (left > 0 && left >= leastLeft) return "fresh";
  if (leastLeft > 0) return "validate";
  if (-left < freshness.whileRevalidateMs) return "updating";
  return !mustRevalidate && -left < mostStaleMs(asked) ? "stale" : "validate";
}

/** `max-stale` without a time takes any. RFC 9111 §5.2.1.2. */
function mostStaleMs(asked: Directives): number {
  const given = asked.get("max-stale");
  if (given === undefined) return 0;
  return given === null
    ? Number.POSITIVE_INFINITY
    : (secondsOf(asked, "max-stale") ?? 0) * 1000 + 1;
}

/** RFC 5861 §4: whether it may stand in for an origin that fails. */
export function mayServeOnError(freshness: Freshness, asked: Directives, now: number): boolean {
  if (freshness.mustRevalidate && freshness.ifErrorMs === 0) return false;
  const allowedMs = Math.max(freshness.ifErrorMs, (secondsOf(asked, "stale-if-error") ?? 0) * 1000);
  return now - freshness.bornAt < freshness.lifetimeMs + allowedMs;
}

export function ageSeconds({ bornAt }: Freshness, now: number): number {
  return now <= bornAt ? 0 : Math.floor((now - bornAt) / 1000);
}
