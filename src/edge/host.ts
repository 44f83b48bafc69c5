/** For whom a request is, as its head says. RFC 9112 §3.2. */
import type { IncomingMessage } from "node:http";
import { remember } from "#kit/remember.ts";

export interface RequestTarget {
  /** As it was sent, with its port. */
  readonly host: string;
  /** Lower case, without port and without a dot at its end. */
  readonly hostname: string;
  /** Path and query. */
  readonly target: string;
}

/** Names of hosts, and addresses in numbers; what else a Host header may hold is no name that has a zone. */
const HOST = /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\])\.?(?::\d{1,5})?$/i;
const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/i;

/** Null when the head names no host, or two. */
export function requestTarget({
  headers,
  rawHeaders,
  url = "",
}: IncomingMessage): RequestTarget | null {
  // HTTP/2 has a field of its own for it, which must not contradict a Host beside it. RFC 9113 §8.3.1.
  const authority = headers[":authority"];
  const host = typeof authority === "string" ? authority : headers.host;
  if (host === undefined || (headers.host ?? host) !== host) return null;
  const hostname = hostnameIn(host);
  if (hostname === null || countOf(rawHeaders, "host") > 1) return null;
  if (url.startsWith("/")) return { host, hostname, target: url };
  const absolute = ABSOLUTE.exec(url);
  if (absolute === null || hostnameOf(absolute[1]!) !== hostname) return null;
  const rest = absolute[2]!;
  return { host, hostname, target: rest.startsWith("/") ? rest : `/${rest}` };
}

/** Null where it can be none. */
const hostnameIn = remember((host) => (HOST.test(host) ? hostnameOf(host) : null));

function hostnameOf(host: string): string {
  return host.replace(/:\d*$/, "").replace(/\.$/, "").toLowerCase();
}

/** Node shows the first of several; the next reader might see the last. */
function countOf(rawHeaders: readonly string[], name: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]!.length === name.length && rawHeaders[i]!.toLowerCase() === name) count++;
  }
  return count;
}
