/** Makes a token. Its value is in this answer and never again. */
import { endpoint } from "../endpoint.ts";
import { owners } from "./owners.ts";
import { showToken, tokenInput } from "./shape.ts";

export const createToken = owners.map(({ path, edit, owner }) =>
  endpoint({
    method: "POST",
    path,
    summary: "Create an API token",
    permission: edit,
    body: tokenInput,
    handle: async (input, { tokens, now }) => {
      const { token, value } = await tokens.create(owner(input), input.body);
      return { ...showToken(token, now()), value };
    },
  }),
);
