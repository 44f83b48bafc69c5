/** Hashing, comparing and sealing secrets. */
import { createCipheriv, createDecipheriv, hash, randomBytes, timingSafeEqual } from "node:crypto";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const SEAL_KEY_BYTES = 32;

/** SHA-256 in hex: enough for secrets with 128 random bits or more, which cannot be guessed. */
export function sha256(text: string): string {
  return hash("sha256", text, "hex");
}

/** Room for two digests at a time, each with a character an octet. */
const digestRooms = [Buffer.alloc(128), Buffer.alloc(128)] as const;

/** Compares two digests in time that does not depend on where they differ. */
export function sameDigest(a: string, b: string): boolean {
  const [one, other] = digestRooms;
  if (a.length !== b.length || a.length > one.length) return false;
  one.fill(0).write(a, "latin1");
  other.fill(0).write(b, "latin1");
  return timingSafeEqual(one, other);
}

/** Encrypts a secret; `label` says what it belongs to and must be given again to open it. */
export function seal(key: Uint8Array, label: string, secret: string): Uint8Array {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(label));
  const body = [cipher.update(secret, "utf8"), cipher.final()];
  return Buffer.concat([nonce, ...body, cipher.getAuthTag()]);
}

/** Reverses `seal`; null when the key or the label is another one, or a byte has changed. */
export function unseal(key: Uint8Array, label: string, sealed: Uint8Array): string | null {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return null;
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce)
    .setAAD(Buffer.from(label))
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    const body = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([body, decipher.final()]).toString("utf8");
  } catch {
    return null;
  }
}
