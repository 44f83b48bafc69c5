/** Lists the accounts that the user is a member of. */
import { z } from "zod";
import {
  AccountFault,
  type Accounts,
  type Identity,
  type Membership,
  personBehind,
} from "#accounts";
import { showAccount } from "../accounts/shape.ts";
import { endpoint } from "../endpoint.ts";
import { paged, pageQuery } from "../shapes.ts";
import { textMatches } from "../text-filter.ts";

/** There are no invitations: whoever is a member has been one from the start. */
const STATUS = "accepted";

export const listMemberships = endpoint({
  method: "GET",
  path: "/memberships",
  summary: "List the user's memberships",
  permission: "signed-in", // What is listed depends on who asks.
  query: pageQuery.extend({
    name: z.string().max(200).optional(),
    "account.name": z.string().max(200).optional(),
    status: z.enum([STATUS, "pending", "rejected"]).optional(),
    order: z.enum(["id", "account.name", "status"]).optional(),
  }),
  handle: async ({ identity, query }, { accounts }) => {
    const all = await seenBy(identity, accounts);
    const names = [query.name, query["account.name"]].filter((name) => name !== undefined);
    const found = all.filter(
      ({ account }) =>
        (query.status ?? STATUS) === STATUS &&
        names.every((name) => textMatches(account.name, name)),
    );
    // All have the same status, so the order by it is the one they have.
    if (query.order === "id") found.sort(by(({ membershipId }) => membershipId));
    if (query.order === "account.name") found.sort(by(({ account }) => account.name));
    return paged(found, query, (membership) => ({
      id: membership.membershipId,
      code: "",
      status: STATUS,
      account: showAccount(membership.account),
      roles: ["Super Administrator - All Privileges"],
      api_access_enabled: null,
      permissions: {},
    }));
  },
});

/**
 * A token that may not read memberships sees those of the accounts that it sees anyway: wrangler takes only accounts
 * that both lists have. Where there are none it is told so with the code after which wrangler goes by the other list.
 */
async function seenBy(identity: Identity, accounts: Accounts): Promise<Membership[]> {
  const user = personBehind(identity);
  const all = user === null ? [] : await accounts.memberships(user);
  if (user !== null && (await accounts.may(identity, "memberships.read", { kind: "user", user }))) {
    return all;
  }
  const accountIds = new Set((await accounts.accountsOf(identity)).map(({ id }) => id));
  const seen = all.filter(({ account }) => accountIds.has(account.id));
  if (seen.length > 0) return seen;
  throw new AccountFault("forbidden-records", "The token shows no memberships");
}

function by<T>(key: (item: T) => string): (a: T, b: T) => number {
  return (a, b) => (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0);
}
