/** Gives a token a new value and returns it; the old one stops working at once. */
import { endpoint } from "../endpoint.ts";
import { owners } from "./owners.ts";

export const rollToken = owners.map(({ path, edit, owner }) =>
  endpoint({
    method: "PUT",
    path: `${path}/:token_id/value`,
    summary: "Roll an API token",
    permission: edit,
    handle: (input, { tokens }) => tokens.roll(owner(input), input.params.token_id),
  }),
);
