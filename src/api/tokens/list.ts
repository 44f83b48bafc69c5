/** Lists tokens; expired ones only when asked for. */
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { paged, pageQuery } from "../shapes.ts";
import { owners } from "./owners.ts";
import { showToken } from "./shape.ts";

const query = pageQuery.extend({ include_expired: z.stringbool().default(true) });

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
        ({ expiresOn }) => input.query.include_expired || expiresOn === null || expiresOn > at,
      );
      return paged(shown, input.query, showToken);
    },
  }),
);
