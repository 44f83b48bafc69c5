/**
 * `ssecKey`: encryption under a key that only the caller has. It is not offered here. A key is never
 * passed over in silence, for its owner would believe that the octets are sealed.
 */
import { octetsOf, toText } from "./convert.ts";

const KEY_OCTETS = 32;

export function readSsecKey(value: unknown): string | Uint8Array | undefined {
  return value === undefined ? undefined : (octetsOf(value) ?? toText(value));
}

export function refuseSsecKey(key: string | Uint8Array | undefined): void {
  if (key === undefined) return;
  if (typeof key === "string" && !/^[0-9a-f]+$/.test(key)) {
    throw new Error("SSE-C Key has invalid format");
  }
  const length = typeof key === "string" ? key.length / 2 : key.length;
  if (length !== KEY_OCTETS) throw new Error("SSE-C Key must be 32 bytes in length");
  throw new Error("SSE-C is not supported: this store does not encrypt with keys of its callers");
}
