/** What the scripts refuse, in their own terms. */
import { shorten } from "#kit/shorten.ts";

export type ScriptFaultKind =
  /** No script, version, secret, route, … of that name. */
  | "not-found"
  /** Something of that name or pattern is there already. */
  | "exists"
  /** Breaks a rule; the message names the field and what would be right. */
  | "invalid"
  /** Others stand on it, so it cannot go. */
  | "in-use"
  /** Larger or more than a limit allows. */
  | "too-large"
  /** The runtime could not start it; the message is the compiler's. */
  | "does-not-start"
  /** It began to run and was stopped, or its process ended. */
  | "crashed"
  /** It used more CPU time than it may. */
  | "over-cpu"
  /** It took more memory than it may. */
  | "over-memory"
  /** It keeps failing at its start, or too many processes run: not now. */
  | "unavailable";

export class ScriptFault extends Error {
  override readonly name = "ScriptFault";
  readonly kind: ScriptFaultKind;
  constructor(kind: ScriptFaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

export function invalid(message: string): ScriptFault {
  return new ScriptFault("invalid", message);
}

/** What a stranger gave, as messages show it. */
export function quoted(text: string): string {
  return JSON.stringify(shorten(text));
}
