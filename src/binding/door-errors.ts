/** What the door itself will not do, in the form of the store's own refusals. */
import { AccountFault, type AccountFaultKind } from "#accounts";
import { DatabaseFault } from "#db";
import { BodyCutShort } from "#http";
import { ObjectFault } from "#objects";
import { refusal, type ServedReply } from "./service.ts";

type Refusal = Extract<ServedReply, { ok: false }>;

export const NOT_PERMITTED: Refusal = {
  ok: false,
  status: 403,
  code: 10_003,
  message: "These credentials may not do this to this bucket.",
};

export function badFrame(message: string): Refusal {
  return { ok: false, status: 400, code: 10_029, message };
}

/** Faults that mean: it is not known who asks. */
const STRANGERS: ReadonlySet<AccountFaultKind> = new Set([
  "no-credentials",
  "malformed-email",
  "malformed-key",
  "malformed-token",
  "unknown-key",
  "unknown-token",
  "wrong-place",
]);

/** The answer to a fault that a client can understand; null for anything else. */
export function doorRefusal(error: unknown): Refusal | null {
  if (error instanceof ObjectFault) return refusal(error);
  if (error instanceof BodyCutShort) {
    // A client that has gone hears nothing of it.
    return { ok: false, status: 400, code: 10_013, message: `${error.message}.` };
  }
  if (error instanceof DatabaseFault) {
    const message = "The database cannot be reached right now; try again shortly.";
    return { ok: false, status: 503, code: 10_043, message };
  }
  if (!(error instanceof AccountFault)) return null;
  const { kind, message } = error;
  if (kind === "too-many-failures") return { ok: false, status: 429, code: 10_058, message };
  if (STRANGERS.has(kind)) return { ok: false, status: 401, code: 10_002, message };
  return NOT_PERMITTED;
}
