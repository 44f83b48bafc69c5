/** Replaces a token's name, policies and conditions. Its value stays. */
import { endpoint } from "../endpoint.ts";
import { owners } from "./owners.ts";
import { showToken, tokenInput } from "./shape.ts";

export const editToken = owners.map(({ path, edit, owner }) =>
  endpoint({
    method: "PUT",
    path: `${path}/:token_id`,
    summary: "Change an API token",
    permission: edit,
    body: tokenInput,
    handle: async (input, { tokens, now }) =>
      showToken(await tokens.edit(owner(input), input.params.token_id, input.body), now()),
  }),
);
