/** Changes the details of the user who asks. */
import { personBehind } from "#accounts";
import { endpoint } from "../endpoint.ts";
import { showUser, userInput } from "./shape.ts";

export const editUser = endpoint({
  method: "PATCH",
  path: "/user",
  summary: "Change the user's details",
  permission: "user.edit",
  body: userInput,
  handle: async ({ identity, body }, { accounts }) => {
    const user = await accounts.editUser(personBehind(identity)!, body);
    return showUser(user, await accounts.accountsOf(identity));
  },
});
