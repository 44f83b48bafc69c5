/** Signs what webhooks are sent, so that they know whose it is. Standard Webhooks 1.0. */
import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
/** Standard Webhooks asks for 24 to 64 octets. */
const NEW_SECRET_OCTETS = 32;
const [LEAST_OCTETS, MOST_OCTETS] = [24, 64];

export function newSecret(): string {
  return PREFIX + randomBytes(NEW_SECRET_OCTETS).toString("base64");
}

export function isSecret(text: string): boolean {
  const encoded = text.slice(PREFIX.length);
  if (!text.startsWith(PREFIX) || !/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return false;
  const { length } = Buffer.from(encoded, "base64");
  return length >= LEAST_OCTETS && length <= MOST_OCTETS;
}

/** Under which the secret of a rule is sealed. */
export function sealLabel(notificationId: string): string {
  return `bucket notification ${notificationId}`;
}

/** The headers that go with a message. */
export function signedHeaders(
  secret: string,
  id: string,
  atMs: number,
  body: string,
): Record<string, string> {
  const timestamp = String(Math.floor(atMs / 1000));
  const key = Buffer.from(secret.slice(PREFIX.length), "base64");
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${signature}`,
  };
}
