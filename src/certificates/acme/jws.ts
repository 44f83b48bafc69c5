/** Signed requests and the account's key. RFC 8555 §6.2, RFC 7515; keys after RFC 7518, RFC 7638. */
import { createHmac, createPublicKey, hash, type KeyObject, sign } from "node:crypto";

/** What signs: the account's key, on the curve P-256, and the name the server gave to it. */
export interface Signer {
  readonly privateKey: KeyObject;
  /** Null before the account is there: then the key itself is sent. */
  readonly kid: string | null;
}

/** The body of a request. A payload of null is empty: a GET that is signed (§6.3). */
export function signedBody(
  { privateKey, kid }: Signer,
  head: { readonly nonce: string; readonly url: string },
  payload: object | null,
): string {
  const key = kid === null ? { jwk: jwkOf(privateKey) } : { kid };
  const content = encoded({ alg: "ES256", ...head, ...key }, payload);
  const signature = sign("sha256", Buffer.from(content.join(".")), {
    key: privateKey,
    dsaEncoding: "ieee-p1363",
  });
  return flattened(content, signature);
}

/** Binds a new account to one that the authority knows by other means. RFC 8555 §7.3.4. */
export function externalBinding(
  { kid, hmacKey }: { readonly kid: string; readonly hmacKey: string },
  url: string,
  accountKey: KeyObject,
): object {
  const content = encoded({ alg: "HS256", kid, url }, jwkOf(accountKey));
  const mac = createHmac("sha256", Buffer.from(hmacKey, "base64url")).update(content.join("."));
  return JSON.parse(flattened(content, mac.digest())) as object;
}

/** What a TXT record must hold to answer a challenge. RFC 8555 §8.1, §8.4. */
export function dnsAnswer(token: string, accountKey: KeyObject): string {
  const thumbprint = hash("sha256", JSON.stringify(jwkOf(accountKey)), "base64url");
  return hash("sha256", `${token}.${thumbprint}`, "base64url");
}

/** The members that count, in the order that the thumbprint wants. RFC 7638 §3.2. */
function jwkOf(key: KeyObject): object {
  const { crv, kty, x, y } = createPublicKey(key).export({ format: "jwk" });
  return { crv, kty, x, y };
}

function encoded(head: object, payload: object | null): [string, string] {
  const body = payload === null ? "" : base64url(JSON.stringify(payload));
  return [base64url(JSON.stringify(head)), body];
}

function flattened([head, payload]: [string, string], signature: Buffer): string {
  return JSON.stringify({ protected: head, payload, signature: signature.toString("base64url") });
}

function base64url(text: string): string {
  return Buffer.from(text).toString("base64url");
}
