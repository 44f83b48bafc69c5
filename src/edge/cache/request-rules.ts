/** What a request lets a cache do for it. RFC 9111 §4, §5.2.1. */
import { type Directives, NO_DIRECTIVES, parseCacheControl } from "./cache-control.ts";
import { type RequestHeaders, requestField } from "./headers.ts";
import type { CacheRequest } from "./messages.ts";
import type { StoredHead } from "./stored.ts";
import { variantOf } from "./vary.ts";

/** Methods that change nothing. RFC 9110 §9.2.1. */
export const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/**
 * What is told of a request that is none for the cache; null when it is one. `If-Match` and
 * `If-Unmodified-Since` are for the origin to judge (RFC 9111 §4.3.2).
 */
export function passStatus(request: CacheRequest): "DYNAMIC" | "BYPASS" | null {
  const { method, level, target, headers } = request;
  if (level === "bypass") return "BYPASS";
  const isForCache =
    (method === "GET" || method === "HEAD") &&
    level !== "off" &&
    !(level === "basic" && target.includes("?")) &&
    headers["if-match"] === undefined &&
    headers["if-unmodified-since"] === undefined;
  return isForCache ? null : "DYNAMIC";
}

/** RFC 9111 §5.4: Pragma counts where Cache-Control is silent. */
export function directivesAsked(headers: RequestHeaders): Directives {
  if (headers["cache-control"] !== undefined) {
    return parseCacheControl(requestField(headers, "cache-control"));
  }
  return headers["pragma"] === undefined
    ? NO_DIRECTIVES
    : parseCacheControl(requestField(headers, "pragma"));
}

export function mayHave({ headers }: CacheRequest, { forAuthorized }: StoredHead): boolean {
  return forAuthorized || headers["authorization"] === undefined;
}

/** Whether a response that another request has brought is for this one too. */
export function isFor(request: CacheRequest, head: StoredHead): boolean {
  return mayHave(request, head) && variantOf(head.vary, request.headers) === head.variant;
}
