/** Deletes a token; it stops working at once. */
import { endpoint } from "../endpoint.ts";
import { owners } from "./owners.ts";

export const removeToken = owners.map(({ path, edit, owner }) =>
  endpoint({
    method: "DELETE",
    path: `${path}/:token_id`,
    summary: "Delete an API token",
    permission: edit,
    handle: async (input, { tokens }) => {
      await tokens.remove(owner(input), input.params.token_id);
      return { id: input.params.token_id };
    },
  }),
);
