/** Under which host names a request may have been signed: what its client saw, not what a proxy made of it. */
import type { IncomingMessage } from "node:http";
import type { Ranges } from "#kit/cidr.ts";
import { bucketOfHost } from "./target.ts";

/**
 * The likeliest first, which also names the bucket. A proxy that is trusted may tell the host that it was
 * asked for; ports are what proxies lose most often, so each host is tried with and without. Proxies hand on
 * what clients tell them: a signature for one bucket must not hold for another.
 */
export function hostsOf(
  request: IncomingMessage,
  trusted: Ranges | null,
  domains: readonly string[],
): readonly string[] {
  const { headers, socket } = request;
  const host = headers.host ?? "";
  if (trusted === null || !trusted.has(socket.remoteAddress ?? "")) {
    return DEFAULT_PORT.test(host) ? [host, host.replace(DEFAULT_PORT, "")] : [host];
  }
  const forwarded = first(headers["x-forwarded-host"]);
  const port = first(headers["x-forwarded-port"]);
  const hosts = new Set<string>();
  for (const one of forwarded === "" ? [host] : [forwarded, host]) {
    const bare = one.replace(PORT, "");
    hosts.add(one);
    if (/^\d{1,5}$/.test(port)) hosts.add(`${bare}:${port}`);
    hosts.add(bare);
  }
  const [likeliest = "", ...others] = hosts;
  const bucket = bucketOfHost(likeliest, domains);
  return [likeliest, ...others.filter((one) => bucketOfHost(one, domains) === bucket)];
}

const PORT = /:\d*$/;
/** Clients leave these out of what they sign, though some send them. */
const DEFAULT_PORT = /:(?:80|443)$/;

/** Each proxy on the way may have added its own behind. */
function first(header: string | string[] | undefined): string {
  return String(header ?? "")
    .split(",", 1)[0]!
    .trim();
}
