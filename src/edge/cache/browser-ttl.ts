/** A zone's `browser_cache_ttl`: browsers keep what the cache has for at least so long. */
import { parseCacheControl, secondsOf } from "./cache-control.ts";
import { fieldOf, type RawHeaders, withoutFields } from "./headers.ts";
import { parseHttpDate } from "./http-date.ts";
import type { CachedResponse, CacheStatus } from "./messages.ts";

/** They have nothing to do with what the cache keeps. */
const UNKEPT: ReadonlySet<CacheStatus> = new Set(["BYPASS", "DYNAMIC"]);
/** What the origin wants to be asked for each time, or for one client alone. */
const NOT_LONGER = ["no-store", "no-cache", "private"];
const REPLACED: ReadonlySet<string> = new Set(["cache-control", "expires"]);

/** With 0 what the origin says holds, and where it allows more than the zone. */
export function forBrowsers(answer: CachedResponse, seconds: number): CachedResponse {
  const { status, headers, cacheStatus } = answer;
  if (seconds === 0 || status >= 400 || UNKEPT.has(cacheStatus)) return answer;
  const directives = parseCacheControl(fieldOf(headers, "cache-control"));
  const isBarred = NOT_LONGER.some((name) => directives.has(name));
  if (isBarred || fieldOf(headers, "set-cookie") !== null) return answer;
  const said = secondsOf(directives, "max-age") ?? untilExpiry(headers);
  if (said >= seconds) return answer;
  const others = [...directives].filter(([name]) => name !== "max-age");
  const texts = others.map(([name, value]) => (value === null ? name : `${name}=${quoted(value)}`));
  const value = [...texts, `max-age=${seconds}`].join(", ");
  return { ...answer, headers: [...withoutFields(headers, REPLACED), "Cache-Control", value] };
}

function untilExpiry(headers: RawHeaders): number {
  const timeOf = (name: string) => parseHttpDate(fieldOf(headers, name) ?? "", 0);
  const [expires, date] = [timeOf("expires"), timeOf("date")];
  return expires === null || date === null ? 0 : (expires - date) / 1000;
}

/** RFC 9110 §5.6.2: what is no token stands in quotes. */
function quoted(value: string): string {
  return /^[\w!#$%&'*+\-.^`|~]+$/.test(value) ? value : `"${value.replaceAll(/["\\]/g, "\\$&")}"`;
}
