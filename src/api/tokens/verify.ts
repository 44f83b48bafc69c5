/** Tells a client whether the token it shows is good. The token's address rules do not count here. */
import { AccountFault } from "#accounts";
import { openEndpoint } from "../endpoint.ts";
import { Answer } from "../envelope.ts";
import { ApiError } from "../errors.ts";
import { owners } from "./owners.ts";
import { showValidity } from "./shape.ts";

const INVALID = { code: 1000, message: "Invalid API Token" };
const VALID = { code: 10_000, message: "This API Token is valid and active", type: null };

export const verifyToken = owners.map(({ path, kind }) =>
  openEndpoint({
    method: "GET",
    path: `${path}/verify`,
    summary: "Check the token that is shown",
    permission: "open",
    handle: async ({ params, credentials, address }, { authenticator, now }) => {
      if (credentials === null)
        throw new AccountFault("no-credentials", "No credentials were shown");
      if (credentials.kind !== "token") {
        throw new ApiError(400, [{ code: 1001, message: 'Missing "Authorization" header' }]);
      }
      const found = await authenticator.verifyToken(credentials.value, address).catch(reworded);
      const { id, owner, status } = found;
      const asked = (params as { account_id?: string }).account_id ?? owner.id;
      // The code by which wrangler tells an account's token from a user's.
      if (owner.kind === "account" && kind === "user") throw new ApiError(403, [INVALID]);
      if (owner.kind !== kind || owner.id !== asked) {
        throw new AccountFault("forbidden", "The token belongs to another owner");
      }
      const result = { id, status, ...showValidity(found) };
      const isValid = status === "active" && (found.notBefore ?? 0) <= now();
      return new Answer(result, isValid ? { messages: [VALID] } : {});
    },
  }),
);

/** An unknown token has a code of its own here. */
function reworded(error: unknown): never {
  if (error instanceof AccountFault && error.kind === "unknown-token") {
    throw new ApiError(401, [INVALID]);
  }
  throw error;
}
