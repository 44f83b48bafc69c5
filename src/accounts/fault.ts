/** What the accounts part will not do, in its own terms; each door words it. */
export type AccountFaultKind =
  | "no-credentials"
  | "malformed-email"
  | "malformed-key"
  | "malformed-token"
  | "unknown-key"
  | "unknown-token"
  | "wrong-place"
  | "too-many-failures"
  | "forbidden"
  | "forbidden-records"
  | "no-such-account"
  | "no-such-token"
  | "too-many-tokens"
  | "too-many-accounts"
  | "bad-policy"
  | "no-such-key"
  | "too-many-keys"
  | "bad-key"
  | "bad-session"
  | "expired-session";

export class AccountFault extends Error {
  override readonly name = "AccountFault";
  readonly kind: AccountFaultKind;
  /** The field that is wrong, as a JSON pointer. */
  readonly pointer: string | null;
  /** When asking again makes sense. */
  readonly retryAfterSeconds: number | null;

  constructor(
    kind: AccountFaultKind,
    message: string,
    details: { pointer?: string; retryAfterSeconds?: number } = {},
  ) {
    super(message);
    this.kind = kind;
    this.pointer = details.pointer ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
  }
}
