/** Shows a token, without its value. */
import { endpoint } from "../endpoint.ts";
import { owners } from "./owners.ts";
import { showToken } from "./shape.ts";

export const getToken = owners.map(({ path, read, owner }) =>
  endpoint({
    method: "GET",
    path: `${path}/:token_id`,
    summary: "Show an API token",
    permission: read,
    handle: async (input, { tokens, now }) =>
      showToken(await tokens.get(owner(input), input.params.token_id), now()),
  }),
);
