/** Reads what a client shows to say who it is, and finds out whether it is. */
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { AccountFault, type Authenticator, type Credentials, type Identity } from "#accounts";
import { clientAddress } from "#http";
import type { Ranges } from "#kit/cidr.ts";

/** For doors beside the API that take the same credentials. */
export function identifier(
  authenticator: Authenticator,
  trustedProxies: Ranges | null,
): (request: IncomingMessage) => Promise<Identity> {
  return (request) => {
    const address = addressOf(request, trustedProxies);
    return authenticate(credentialsOf(request.headers), address, authenticator);
  };
}

export async function authenticate(
  credentials: Credentials | null,
  address: string,
  authenticator: Authenticator,
): Promise<Identity> {
  if (credentials === null) throw new AccountFault("no-credentials", "No credentials were shown");
  return authenticator.authenticate(credentials, address);
}

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

export function addressOf(request: IncomingMessage, trustedProxies: Ranges | null): string {
  const forwarded = request.headers["x-forwarded-for"];
  const chain = Array.isArray(forwarded) ? forwarded.join(",") : forwarded;
  return clientAddress(request.socket.remoteAddress ?? "", chain, trustedProxies);
}
