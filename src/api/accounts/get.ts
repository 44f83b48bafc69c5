/** Shows an account. */
import { endpoint } from "../endpoint.ts";
import { showAccount } from "./shape.ts";

export const getAccount = endpoint({
  method: "GET",
  path: "/accounts/:account_id",
  summary: "Show an account",
  permission: "account.read",
  handle: async ({ params }, { accounts }) =>
    showAccount(await accounts.account(params.account_id)),
});
