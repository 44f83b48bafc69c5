/** Renames an account and changes its settings. */
import { endpoint } from "../endpoint.ts";
import { accountInput, showAccount } from "./shape.ts";

export const editAccount = endpoint({
  method: "PUT",
  path: "/accounts/:account_id",
  summary: "Change an account",
  permission: "account.edit",
  body: accountInput,
  handle: async ({ params, body }, { accounts }) =>
    showAccount(await accounts.editAccount(params.account_id, body)),
});
