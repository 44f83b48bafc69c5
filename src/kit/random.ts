/** Ids and secrets from the system's random source. */
import { randomBytes, randomFillSync } from "node:crypto";

const ID_BYTES = 16;
/** The source is asked for many ids at once: a call takes longer than the bytes. */
const IDS_AT_ONCE = 256;

const idBytes = Buffer.alloc(ID_BYTES * IDS_AT_ONCE);
let nextId = idBytes.length;

/** 128 bits as 32 lower-case hex digits; not for secrets, whose bytes should not lie around. */
export function randomId(): string {
  if (nextId === idBytes.length) {
    randomFillSync(idBytes);
    nextId = 0;
  }
  nextId += ID_BYTES;
  return idBytes.toString("hex", nextId - ID_BYTES, nextId);
}

/** The same in the order of time: 48 bits of milliseconds, and 80 by chance. */
export function timedId(ms: number): string {
  return ms.toString(16).padStart(12, "0") + randomId().slice(12);
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
