/** Where the query threads find what is known of names outside: the ends of flattened CNAMEs. */

/** A or AAAA. */
export type TargetType = 1 | 28;

/** What RFC 8767 §4 recommends: short, since a retry may succeed at any time. */
export const STALE_TTL_SECONDS = 30;

/** What a query for the target's addresses is answered with until `expiresAt`. */
export interface TargetEntry {
  /** `nodata`: the target has no address of the type, or does not exist. */
  readonly kind: "addresses" | "nodata" | "failure";
  /** One after another, 4 or 16 octets each. */
  readonly addresses: Uint8Array;
  /** From when it was learnt: a reader counts down what is left until `expiresAt`, unless it is stale. */
  readonly ttlSeconds: number;
  /** Milliseconds of the clock. */
  readonly expiresAt: number;
  /** Nothing newer could be learnt: always answered with `ttlSeconds`, and marked stale. RFC 8767. */
  readonly stale: boolean;
  /** The extended error of a failure, where there is a fitting one. */
  readonly ede: number | null;
}

/** Names are absolute, in lower case, with their last dot. Writing throws when there is no room. */
export interface TargetStore {
  publish(name: string, type: TargetType, entry: TargetEntry): void;
  drop(name: string, type: TargetType): void;
  /** Whether a query has used the entry since the last call; clears the mark. */
  wasAsked(name: string, type: TargetType): boolean;
}
