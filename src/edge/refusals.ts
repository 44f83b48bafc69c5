/** What the edge answers by itself, for people and for programs: a page, or JSON when that is asked for. */
import type { Reply } from "#http";
import { STATUS_CODES } from "#kit/node-http.ts";
import type { ScriptFaultKind } from "#scripts";

export interface Refusal {
  readonly status: number;
  /** Tells refusals of one status apart, for programs. */
  readonly code: string;
  /** What could not be done, and what would help. */
  readonly message: string;
  /** Where to ask instead. */
  readonly location?: string;
}

export const refusals = {
  badHost: (): Refusal => ({
    status: 400,
    code: "bad_host",
    message: "The request names no host that could be one. Send one Host header with a name.",
  }),
  unknownHost: (host: string): Refusal => ({
    status: 421,
    code: "unknown_host",
    message: `${host} lies in no zone that is served here.`,
  }),
  notProxied: (host: string): Refusal => ({
    status: 404,
    code: "not_proxied",
    message: `${host} has no proxied record. Make one for it, or set "proxied" on the one it has.`,
  }),
  moved: (location: string): Refusal => ({
    status: 301,
    code: "use_https",
    message: "This name is served over HTTPS only.",
    location,
  }),
  oldTls: (): Refusal => ({
    status: 403,
    code: "old_tls",
    message: "This name is served over newer versions of TLS only.",
  }),
  loop: (host: string): Refusal => ({
    status: 508,
    code: "loop",
    message: `The record of ${host} leads back here. Give it the address of its origin.`,
  }),
  noOriginAddress: (host: string): Refusal => ({
    status: 502,
    code: "origin_unknown",
    message: `The record of ${host} leads to no address.`,
  }),
  internalOrigin: (host: string): Refusal => ({
    status: 502,
    code: "origin_internal",
    message: `The origin of ${host} lies in a network that this server does not ask. Its operator can allow it with edge.origins.`,
  }),
  originDown: (): Refusal => ({
    status: 502,
    code: "origin_down",
    message: "The origin could not be reached, or broke off before it answered.",
  }),
  originTls: (): Refusal => ({
    status: 502,
    code: "origin_tls",
    message: "The origin's certificate is not good for this name, or it speaks no TLS there.",
  }),
  originTimeout: (): Refusal => ({
    status: 504,
    code: "origin_timeout",
    message: "The origin did not answer in time.",
  }),
  /** A bug or a broken disk; the log has it under the request's id. */
  internal: (): Refusal => ({
    status: 500,
    code: "internal_error",
    message: "Something went wrong at the edge. The log has it under this request's id.",
  }),
  brokenScript: (): Refusal => ({
    status: 502,
    code: "script_broke_off",
    message: "The script's answer was no HTTP, or broke off.",
  }),
};

/** What the client hears when a script cannot answer. Details are for the script's owner, in its log. */
const scriptFaults = {
  "not-found": { status: 404, code: "no_script", message: "The script of this route is gone." },
  "does-not-start": { status: 500, code: "script_start", message: "The script does not start." },
  crashed: { status: 502, code: "script_crashed", message: "The script's process ended." },
  "over-cpu": {
    status: 503,
    code: "script_over_cpu",
    message: "The script took more CPU time than it may.",
  },
  "over-memory": {
    status: 503,
    code: "script_over_memory",
    message: "The script took more memory than it may.",
  },
  unavailable: {
    status: 503,
    code: "script_unavailable",
    message: "The script is not available now. Try again in a moment.",
  },
} as const satisfies Partial<Record<ScriptFaultKind, Refusal>>;

/** Null for a fault that serving a request cannot have. */
export function scriptRefusal(kind: ScriptFaultKind): Refusal | null {
  return kind in scriptFaults ? scriptFaults[kind as keyof typeof scriptFaults] : null;
}

export function refusalReply(
  { status, code, message, location }: Refusal,
  accept: string | undefined,
  requestId: string,
): Reply {
  const headers = {
    "Cache-Control": "no-store",
    ...(location !== undefined && { Location: location }),
  };
  if (!/\btext\/html\b/.test(accept ?? "")) {
    const error = { code, message, request_id: requestId };
    const body = `${JSON.stringify({ error })}\n`;
    return { status, type: "application/json", body, headers };
  }
  return {
    status,
    type: "text/html; charset=utf-8",
    body: page(status, message, requestId),
    headers,
  };
}

function page(status: number, message: string, requestId: string): string {
  const title = `${status} ${STATUS_CODES[status] ?? ""}`.trim();
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 15vh auto; padding: 0 1.5rem; color: #222; background: #fff }
  h1 { font-size: 1.5rem; font-weight: 600 }
  small { color: #666 }
  @media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } small { color: #999 } }
</style>
<h1>${title}</h1>
<p>${escaped(message)}</p>
<p><small>Request ${requestId}</small></p>
</html>
`;
}

/** The message may hold the Host that a client sent. */
function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}
