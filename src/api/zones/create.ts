/** Adds a zone to an account. */
import { AccountFault } from "#accounts";
import { endpoint } from "../endpoint.ts";
import { newZoneInput, showZone } from "./shape.ts";

export const createZone = endpoint({
  method: "POST",
  path: "/zones",
  summary: "Create a zone",
  permission: "signed-in", // The account is in the body, so the permission is checked below.
  body: newZoneInput,
  handle: async ({ identity, body }, { accounts, zones, ...parts }) => {
    // Without a word it is the first account there was: octoDNS says none.
    const owned = (await accounts.ownersOf(identity)).toSorted((a, b) => a.createdAt - b.createdAt);
    const accountId = body.accountId ?? owned[0]?.id;
    if (accountId === undefined)
      throw new AccountFault("forbidden", "There is no account to add to");
    const account = await accounts.account(accountId);
    // A zone that is not there yet has no id: what counts is a grant for the account or all zones.
    const resource = { kind: "zone", zone: "*", account: account.id } as const;
    await accounts.authorize(identity, "zone.edit", resource);
    return showZone(await zones.create(account.id, body.name, body.type), account, parts);
  },
});
