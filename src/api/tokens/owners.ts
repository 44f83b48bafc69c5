/** Tokens belong to users and to accounts; each has the same endpoints under its own path. */
import { type Identity, type Permission, personBehind, type TokenOwner } from "#accounts";

interface OwnerPath {
  readonly path: "/user/tokens" | "/accounts/:account_id/tokens";
  readonly kind: TokenOwner["kind"];
  readonly read: Permission;
  readonly edit: Permission;
  readonly owner: (input: { params: { account_id?: string }; identity: Identity }) => TokenOwner;
}

export const owners: readonly OwnerPath[] = [
  {
    path: "/user/tokens",
    kind: "user",
    read: "user-tokens.read",
    edit: "user-tokens.edit",
    owner: ({ identity }) => ({ kind: "user", id: personBehind(identity)! }),
  },
  {
    path: "/accounts/:account_id/tokens",
    kind: "account",
    read: "account-tokens.read",
    edit: "account-tokens.edit",
    owner: ({ params }) => ({ kind: "account", id: params.account_id! }),
  },
];
