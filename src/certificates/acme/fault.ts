/** What goes wrong with an ACME server, in sentences. RFC 8555 §6.7, RFC 7807. */
import { z } from "zod";
import type { AcmeResponse } from "./http.ts";

export type AcmeFaultKind =
  /** No answer: the same may work later. */
  | "unreachable"
  /** Not now: too much was asked for, or the server is in trouble. */
  | "later"
  /** The server does not know the account, though it did. */
  | "no-account"
  /** The answer is no; what was asked for will not work by asking again. */
  | "refused";

export class AcmeFault extends Error {
  override readonly name = "AcmeFault";
  readonly kind: AcmeFaultKind;
  /** The server's own name for it, without its prefix: `badNonce`. */
  readonly type: string;
  /** How long the server wants to be left alone. */
  readonly retryAfterMs: number | null;
  constructor(
    kind: AcmeFaultKind,
    message: string,
    options: ErrorOptions & { type?: string; retryAfterMs?: number | null } = {},
  ) {
    super(message, options);
    this.kind = kind;
    this.type = options.type ?? "";
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/** What is not as it should be counts as left out: a fault in the words of a fault helps nobody. */
const plainProblem = z.object({
  type: z.string().default("").catch(""),
  detail: z.string().default("").catch(""),
  identifier: z.object({ value: z.string() }).optional().catch(undefined),
});
export const problemShape = plainProblem.extend({
  subproblems: z.array(plainProblem).default([]).catch([]),
});
type Problem = z.output<typeof plainProblem> & Partial<z.output<typeof problemShape>>;

const PREFIX = "urn:ietf:params:acme:error:";
const FIRST_SERVER_ERROR = 500;
const TOO_MANY_REQUESTS = 429;
/** Of many names that are wrong, some tell enough. */
const MAX_SHOWN = 5;
/** Authorities explain at length which record they found where. */
const MAX_TEXT = 400;

/** The fault in an answer that is no success. */
export function faultOf(response: AcmeResponse, now: number): AcmeFault {
  const { status } = response;
  const problem = readProblem(response.text);
  const type = typeOf(problem);
  const isLater =
    type === "rateLimited" || status === TOO_MANY_REQUESTS || status >= FIRST_SERVER_ERROR;
  const kind = type === "accountDoesNotExist" ? "no-account" : isLater ? "later" : "refused";
  const said = sentenceOf(problem) || `it answered with HTTP ${status}`;
  return new AcmeFault(kind, `The authority refused: ${said}`, {
    type,
    retryAfterMs: retryAfterMs(response, now),
  });
}

/** What a problem says: its detail, and for each name what is wrong there. */
export function sentenceOf(problem: Problem): string {
  const { detail, identifier, subproblems = [] } = problem;
  const about = identifier === undefined ? "" : `${identifier.value}: `;
  const parts = subproblems.slice(0, MAX_SHOWN).map(sentenceOf);
  const type = typeOf(problem);
  const what = detail === "" ? type : type === "" ? detail : `${detail} (${type})`;
  return [about + tidy(what), ...parts].filter((part) => part !== "").join("; ");
}

/** Seconds or a date. RFC 9110 §10.2.3. */
export function retryAfterMs({ headers }: AcmeResponse, now: number): number | null {
  const given = String(headers["retry-after"] ?? "");
  if (/^\d{1,9}$/.test(given)) return Number(given) * 1000;
  const at = Date.parse(given);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}

function readProblem(text: string): Problem {
  try {
    return problemShape.parse(JSON.parse(text));
  } catch {
    return problemShape.parse({}); // A proxy's page, perhaps.
  }
}

function typeOf({ type }: Problem): string {
  return type.replace(PREFIX, "");
}

/** It is shown and logged: one line, not a page. */
function tidy(text: string): string {
  return text
    .replaceAll(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .slice(0, MAX_TEXT);
}
