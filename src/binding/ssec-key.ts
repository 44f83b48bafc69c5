/** `ssecKey`: encryption under a key that only the caller has, "SSE-C". */
import { octetsOf, toHex, toText } from "./convert.ts";

const KEY_OCTETS = 32;

export type GivenSsecKey = string | Uint8Array | undefined;

export function readSsecKey(value: unknown): GivenSsecKey {
  return value === undefined ? undefined : (octetsOf(value) ?? toText(value));
}

/** In hex, as it travels. */
export function toSsecKey(key: GivenSsecKey): { ssecKey?: string } {
  if (key === undefined) return {};
  if (typeof key === "string" && !/^[0-9a-f]+$/.test(key)) {
    throw new Error("SSE-C Key has invalid format");
  }
  const length = typeof key === "string" ? key.length / 2 : key.length;
  if (length !== KEY_OCTETS) throw new Error("SSE-C Key must be 32 bytes in length");
  return { ssecKey: typeof key === "string" ? key : toHex(key) };
}
