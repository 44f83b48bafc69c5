/** Shows the user who asks. */
import { personBehind } from "#accounts";
import { endpoint } from "../endpoint.ts";
import { showUser } from "./shape.ts";

export const getUser = endpoint({
  method: "GET",
  path: "/user",
  summary: "Show the user",
  permission: "user.read",
  handle: async ({ identity }, { accounts }) =>
    showUser(await accounts.user(personBehind(identity)!), await accounts.accountsOf(identity)),
});
