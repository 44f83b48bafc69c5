/** What a command could not do, and the exit code that tells scripts so. */

/** What a script can tell apart. */
export const exitCodes = {
  failed: 1,
  usage: 2,
  "not-found": 3,
  "not-allowed": 4,
} as const;

export type CliFaultKind = keyof typeof exitCodes;

/** The same for people, at the end of every command's help. */
export const EXIT_CODES_HELP =
  "Exit codes: 0 done, 1 failed or declined, 2 wrong usage, 3 not found, 4 not allowed, 130 interrupted.";

/** The message says what could not be done, why, and what to do about it. */
export class CliFault extends Error {
  override readonly name: string = "CliFault";
  readonly kind: CliFaultKind;
  constructor(kind: CliFaultKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.kind = kind;
  }
}

/** A command line that cannot be carried out as it stands. */
export function wrongUsage(message: string): CliFault {
  return new CliFault("usage", message);
}
