/** Lists tokens; expired ones only when asked for. */
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Answer } from "../envelope.ts";
import { pageInfo, pageQuery } from "../shapes.ts";
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
      const { page, per_page, direction, include_expired } = input.query;
      const found = await tokens.list(owner(input), {
        direction,
        limit: per_page,
        offset: (page - 1) * per_page,
        includeExpired: include_expired,
      });
      const result = found.tokens.map((token) => showToken(token, now()));
      return new Answer(result, { resultInfo: pageInfo(input.query, result.length, found.total) });
    },
  }),
);
