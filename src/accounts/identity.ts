/** Who is asking, once a door has found out. */
import type { Policy } from "./policy.ts";
import type { TokenOwner } from "./schema.ts";

export type Identity =
  /** A person with the key of their account: may do all that the person may. */
  | { readonly kind: "user"; readonly id: string; readonly userId: string }
  /** A token: may do what its policies say, within what its owner may. */
  | {
      readonly kind: "token";
      readonly id: string;
      readonly owner: TokenOwner;
      readonly policies: readonly Policy[];
    };

/** The person behind an identity; null for a token that belongs to an account. */
export function personBehind(identity: Identity): string | null {
  if (identity.kind === "user") return identity.userId;
  return identity.owner.kind === "user" ? identity.owner.id : null;
}
