/** Lists the accounts that the caller has to do with. */
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { paged, pageQuery } from "../shapes.ts";
import { showAccount } from "./shape.ts";

export const listAccounts = endpoint({
  method: "GET",
  path: "/accounts",
  summary: "List accounts",
  permission: "signed-in", // What is listed depends on who asks.
  query: pageQuery.extend({ name: z.string().optional() }),
  handle: async ({ identity, query }, { accounts }) => {
    const all = await accounts.accountsOf(identity);
    const named = all.filter(({ name }) => query.name === undefined || name === query.name);
    return paged(named, query, showAccount);
  },
});
