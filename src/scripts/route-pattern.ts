/**
 * The patterns of routes: `https://*.example.com/images/*`. Rules of the original:
 * https://developers.cloudflare.com/workers/configuration/routing/routes/
 */
import { domainToASCII } from "node:url";
import { invalid, quoted } from "./fault.ts";

export interface RoutePattern {
  /** Null matches both. */
  readonly scheme: Scheme | null;
  /** The hostname, or what it must end with. */
  readonly host: string;
  readonly anyHostBefore: boolean;
  /** The path with its query, or what these must begin with. */
  readonly path: string;
  readonly anyPathAfter: boolean;
}

export type Scheme = "http" | "https";

/** Longer ones would match no request that a listener takes, and fit no index of a database. */
const MAX_LENGTH = 1_024;

/** Reads a pattern for a zone whose name is lower case, without a dot at its end. */
export function parseRoutePattern(text: string, zoneName: string): RoutePattern {
  const wrong = (why: string) => invalid(`pattern: ${quoted(text)} ${why}`);
  if (text.length > MAX_LENGTH) throw wrong(`has more than ${MAX_LENGTH} characters`);
  if (/[\s\p{Cc}]/u.test(text)) throw wrong("has white space or control characters");
  if (/[?#]/.test(text)) throw wrong("has a query or a fragment, which no pattern may have");
  const { scheme, host: given, path, ...wildcards } = splitRoutePattern(text);
  if (given.includes(":")) {
    throw wrong(
      "has a port, or another scheme than http:// or https://, which no pattern may have",
    );
  }
  if (given.includes("*") || path.includes("*")) {
    throw wrong("has a * elsewhere than at the start of the hostname and the end of the path");
  }
  // After a `*`, the rest of the hostname may begin with a dot.
  const dot = wildcards.anyHostBefore && given.startsWith(".") ? "." : "";
  const rest = asciiHost(given.slice(dot.length));
  if (rest === null) throw wrong("has no valid hostname");
  const host = `${dot}${rest}`;
  if (!isWithin(host, zoneName)) throw wrong(`is not for a name in the zone ${zoneName}`);
  // What is not ASCII travels escaped.
  return { scheme, host, path: path.replaceAll(/[^\0-\x7F]+/g, escaped), ...wildcards };
}

/** The parts of a pattern as they are written. */
export function splitRoutePattern(text: string): RoutePattern {
  const [, scheme, host = "", path = ""] = /^(?:(https?):\/\/)?([^/]*)(.*)$/is.exec(text)!;
  const anyHostBefore = host.startsWith("*");
  const anyPathAfter = path.endsWith("*");
  return {
    scheme: (scheme?.toLowerCase() as Scheme | undefined) ?? null,
    host: host.slice(anyHostBefore ? 1 : 0),
    anyHostBefore,
    // As with a URL, no path means the root's.
    path: path === "" ? "/" : path.slice(0, anyPathAfter ? -1 : undefined),
    anyPathAfter,
  };
}

/** The one form that all spellings of a pattern have. */
export function printRoutePattern(pattern: RoutePattern): string {
  const { scheme, host, anyHostBefore, path, anyPathAfter } = pattern;
  const before = scheme === null ? "" : `${scheme}://`;
  return `${before}${anyHostBefore ? "*" : ""}${host}${path}${anyPathAfter ? "*" : ""}`;
}

/** RFC 1123 §2.1, with the underscore that names in use have. */
const HOSTNAME = /^(?=.{1,253}$)[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;

/** A hostname in lower case and punycode; null when it is none. */
export function asciiHost(host: string): string | null {
  const ascii = domainToASCII(host);
  return HOSTNAME.test(ascii) ? ascii : null;
}

/** Of what hostnames end with, the zone's whole name must be part: `*ample.com` is no pattern. */
export function isWithin(host: string, zoneName: string): boolean {
  return host === zoneName || host.endsWith(`.${zoneName}`);
}

function escaped(text: string): string {
  // Half a character has no UTF-8.
  return encodeURIComponent(text.toWellFormed());
}
