/** What a server refused, or why it could not be reached, in words that say what to do. */
import { shorten } from "#kit/shorten.ts";
import { CliFault, type CliFaultKind } from "./fault.ts";

/** An entry of an envelope's `errors` or `messages`. */
export interface ApiMessage {
  readonly code: number;
  readonly message: string;
  readonly error_chain?: readonly { readonly code: number; readonly message: string }[];
  readonly source?: { readonly pointer: string };
}

/** Codes that speak of who asks; some come with 400, as in the original. */
const CREDENTIALS = new Set([6003, 9103, 9106, 9107, 9109, 10_000, 10_001]);

/** Codes that speak of a name that cannot be one. */
const BAD_NAMES = new Set([1049, 9000, 10_005]);

/** A request that the API has refused. */
export class ApiFault extends CliFault {
  override readonly name = "ApiFault";
  readonly status: number;
  readonly errors: readonly ApiMessage[];
  constructor(status: number, errors: readonly ApiMessage[], message: string) {
    super(kindOf(status, errors), message);
    this.status = status;
    this.errors = errors;
  }

  static of(response: Response, envelope: Readonly<Record<string, unknown>>): ApiFault {
    const errors = (envelope["errors"] ?? []) as ApiMessage[];
    const said = errors.map(shown).join(" ") || `The server answered ${response.status}.`;
    const advice = adviceFor(response, errors);
    return new ApiFault(response.status, errors, advice === null ? said : `${said} ${advice}`);
  }
}

function kindOf(status: number, errors: readonly ApiMessage[]): CliFaultKind {
  if (status === 404) return "not-found";
  if (errors.some(({ code }) => BAD_NAMES.has(code))) return "usage";
  const isRefused = status === 401 || status === 403;
  return isRefused || errors.some(({ code }) => CREDENTIALS.has(code)) ? "not-allowed" : "failed";
}

/** `Content for A record must be a valid IPv4 address (9005).` */
function shown({ code, message, error_chain: chain = [] }: ApiMessage): string {
  const whole = [message, ...chain.map((one) => one.message)].join(": ");
  return `${whole.replace(/\.$/, "")} (${code}).`;
}

function adviceFor(response: Response, errors: readonly ApiMessage[]): string | null {
  if (response.status === 429) {
    const seconds = response.headers.get("retry-after");
    return seconds === null ? "Try again later." : `Try again in ${seconds} seconds.`;
  }
  if (response.status >= 500) {
    const id = response.headers.get("x-request-id");
    return id === null ? null : `The server's log has more under the request ${id}.`;
  }
  if (errors.some(({ code }) => code === 9109 || code === 10_000)) {
    return "The token or key may not do this, or is not known: check SELVEDGE_TOKEN, or SELVEDGE_EMAIL and SELVEDGE_KEY.";
  }
  if (errors.some(({ code }) => CREDENTIALS.has(code))) {
    return "Check SELVEDGE_TOKEN, or SELVEDGE_EMAIL and SELVEDGE_KEY, or --data.";
  }
  return null;
}

/** By the system's code, in words. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "the connection was cut",
  UND_ERR_SOCKET: "the connection was cut",
  EPIPE: "the connection was cut",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "its name cannot be looked up",
  ETIMEDOUT: "no answer in time",
  UND_ERR_CONNECT_TIMEOUT: "no answer in time",
  UND_ERR_HEADERS_TIMEOUT: "no answer in time",
  EHOSTUNREACH: "there is no way to that host",
  ENETUNREACH: "there is no way to that network",
};

const START = 'Is it running? Start it with "selvedge serve", or set SELVEDGE_API.';

/** The error of a `fetch` that got no answer. */
export function unreachable(url: string, error: unknown): CliFault {
  const code = networkCode(error);
  const inner = ((error as Error).cause as Error | undefined)?.message;
  const isTimeout = (error as Error).name === "TimeoutError";
  const why = isTimeout
    ? "no answer in time"
    : (reasons[code ?? ""] ?? inner ?? (error as Error).message);
  return new CliFault("failed", `Cannot reach ${url}: ${why}. ${START}`, { cause: error });
}

/** The system's code, wherever in the chain of causes it stands; null when there is none. */
export function networkCode(error: unknown): string | null {
  for (let one = error; one instanceof Error; one = one.cause) {
    const { code, errors } = one as { code?: unknown; errors?: readonly unknown[] };
    if (typeof code === "string") return code;
    // An address for each family was tried.
    if (Array.isArray(errors) && errors.length > 0) return networkCode(errors[0]);
  }
  return null;
}

/** Something else listens at the address; `what` tells its answer. */
export function noApi(url: string, what: string): CliFault {
  const message = `${url} answered ${what}: this is no Selvedge API. Check SELVEDGE_API.`;
  return new CliFault("failed", message);
}

/** `404 with text/html` */
export function answerOf({ status, headers }: Response): string {
  return `${status} with ${shorten(headers.get("content-type") ?? "no type")}`;
}
