/** Asking the outside world for the addresses of a name. */
import type { TargetType } from "./target-store.ts";

export type Resolution =
  | {
      readonly kind: "addresses";
      /** One after another, 4 or 16 octets each. */
      readonly addresses: Uint8Array;
      /** The smallest on the way from the name to its addresses. */
      readonly ttlSeconds: number;
    }
  /** No address of the type, or no such name; the TTL is that of the denial. RFC 2308 §5. */
  | { readonly kind: "nodata"; readonly ttlSeconds: number }
  /** No resolver could tell; `ede` is why. */
  | { readonly kind: "failure"; readonly ede: number };

export interface Resolver {
  /** Asks for the name's addresses; ends within `LONGEST_RESOLUTION_MS`, and does not reject. */
  resolve(name: string, type: TargetType): Promise<Resolution>;
}

/** Slow authorities answer within this, through a resolver that must walk down to them. */
export const LONGEST_RESOLUTION_MS = 3000;
