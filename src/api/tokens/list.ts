/** Lists tokens; expired ones only when asked for. */
import { z } from "zod";
import { tokenStatus } from "#accounts";
import { endpoint } from "../endpoint.ts";
import { paged, pageQuery } from "../shapes.ts";
import { owners } from "./owners.ts";
import { showToken } from "./shape.ts";

const query = pageQuery.extend({ include_expired: z.stringbool().default(false) });

export const listTokens = owners.map(({ path, read, owner }) =>
  endpoint({
    method: "GET",
    path,
    summary: "List API tokens",
    permission: read,
    query,
    handle: async (input, { tokens, now }) => {
      const all = await tokens.list(owner(input));
      const at = now();
      const shown = all.filter(
        (token) => input.query.include_expired || tokenStatus(token, at) !== "expired",
      );
      return paged(shown, input.query, (token) => showToken(token, at));
    },
  }),
);
