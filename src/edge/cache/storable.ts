/** Which responses may be kept, and what of their heads. RFC 9111 §3. */
import { type Directives, secondsOf } from "./cache-control.ts";
import type { Freshness } from "./freshness.ts";
import { fieldOf, membersOf, type RawHeaders, type RequestHeaders } from "./headers.ts";

/** Those whose meaning this cache knows, for `must-understand`. RFC 9111 §5.2.2.3. */
const UNDERSTOOD: ReadonlySet<number> = new Set([
  200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 405, 410, 414, 451, 501,
]);

/** They answer one request's condition or range, not the resource. */
const NEVER: ReadonlySet<number> = new Set([206, 304, 412, 416]);

/** Made anew for each answer, or ours. */
const OURS = ["age", "cf-cache-status"];

/** Whether the response to a whole GET may be kept for others. */
export function mayStore(
  asked: Directives,
  request: RequestHeaders,
  status: number,
  headers: RawHeaders,
  directives: Directives,
  freshness: Freshness,
): boolean {
  if (status < 200 || status > 599 || NEVER.has(status)) return false;
  if (asked.has("no-store")) return false;
  const mustUnderstand = directives.has("must-understand");
  if (mustUnderstand && !UNDERSTOOD.has(status)) return false;
  if (directives.has("no-store") && !mustUnderstand) return false;
  if (directives.get("private") === null || directives.get("no-cache") === null) return false;
  if (request["authorization"] !== undefined && !allowsAuthorized(directives)) return false;
  if (fieldOf(headers, "vary")?.includes("*") === true) return false;
  if (setsCookie(headers, directives)) return false;
  // What is stale at once would have to be fetched again for each request.
  return freshness.lifetimeMs > 0 || freshness.whileRevalidateMs > 0 || freshness.ifErrorMs > 0;
}

/** RFC 9111 §3.5: what was fetched with credentials is for others only when the origin says so. */
export function allowsAuthorized(directives: Directives): boolean {
  return (
    directives.has("public") ||
    directives.has("must-revalidate") ||
    secondsOf(directives, "s-maxage") !== null
  );
}

/**
 * RFC 9111 §7.3 leaves cookies to the origin's word. One that forgot it would hand one visitor's session
 * to all others, so that a response with a cookie is kept only when a directive names the field.
 */
function setsCookie(headers: RawHeaders, directives: Directives): boolean {
  return fieldOf(headers, "set-cookie") !== null && !unkeptFields(directives).has("set-cookie");
}

/** The fields that must not be kept: ours, and those that `private` and `no-cache` name. RFC 9111 §3.1. */
export function unkeptFields(directives: Directives): ReadonlySet<string> {
  const named = [directives.get("private"), directives.get("no-cache")].flatMap((list) =>
    typeof list === "string" ? membersOf(list.toLowerCase()) : [],
  );
  return new Set([...OURS, ...named]);
}
