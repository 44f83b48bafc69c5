/** Makes an account that the caller is a member of. */
import { AccountFault } from "#accounts";
import { endpoint } from "../endpoint.ts";
import { newAccountInput, showAccount } from "./shape.ts";

export const createAccount = endpoint({
  method: "POST",
  path: "/accounts",
  summary: "Create an account (with the account key)",
  permission: "signed-in",
  body: newAccountInput,
  handle: async ({ identity, body }, { accounts }) => {
    // A token acts within accounts that its policies name; none can name one that is to be made.
    if (identity.kind !== "user") throw new AccountFault("forbidden", "Tokens make no accounts");
    return showAccount(await accounts.createAccount(identity.userId, body.name, body.type));
  },
});
