/** Lists the accounts that the user is a member of. */
import { personBehind } from "#accounts";
import { showAccount } from "../accounts/shape.ts";
import { endpoint } from "../endpoint.ts";
import { paged, pageQuery } from "../shapes.ts";

export const listMemberships = endpoint({
  method: "GET",
  path: "/memberships",
  summary: "List the user's memberships",
  permission: "memberships.read",
  query: pageQuery,
  handle: async ({ identity, query }, { accounts }) =>
    paged(await accounts.memberships(personBehind(identity)!), query, (membership) => ({
      id: membership.membershipId,
      code: "",
      status: "accepted",
      account: showAccount(membership.account),
      roles: ["Super Administrator - All Privileges"],
      api_access_enabled: null,
      permissions: {},
    })),
});
