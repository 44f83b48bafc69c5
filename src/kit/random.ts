/** Ids and secrets from the system's random source. */
import { randomBytes } from "node:crypto";

/** 128 bits as 32 lower-case hex digits. */
export function randomId(): string {
  return randomHex(32);
}

export function randomHex(digits: number): string {
  return randomBytes(Math.ceil(digits / 2))
    .toString("hex")
    .slice(0, digits);
}

/** Characters of `[A-Za-z0-9_-]`, six bits each. */
export function randomUrlSafe(length: number): string {
  return randomBytes(Math.ceil((length * 3) / 4))
    .toString("base64url")
    .slice(0, length);
}
