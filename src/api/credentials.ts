/** Reads what a client shows to say who it is. */
import type { IncomingHttpHeaders } from "node:http";
import type { Credentials } from "#accounts";

/** Null when nothing is shown. A token wins over a key: SDKs with both configured send both. */
export function credentialsOf(headers: IncomingHttpHeaders): Credentials | null {
  const { authorization } = headers;
  if (authorization !== undefined) {
    const scheme = authorization.slice(0, 7).toLowerCase();
    const isBearer = scheme === "bearer " || scheme === "bearer";
    // Another scheme is no token, which whoever looks for the token says, and counts.
    const value = isBearer ? authorization.slice(7).trim() : authorization;
    return value === "" ? null : { kind: "token", value };
  }
  const email = one(headers["x-auth-email"]);
  const key = one(headers["x-auth-key"]);
  return email !== "" && key !== "" ? { kind: "key", email, key } : null;
}

function one(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header)?.trim() ?? "";
}
