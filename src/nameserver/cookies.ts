/** Server cookies: who returns one has received a reply at his address before. RFC 7873, RFC 9018. */
import assert from "node:assert/strict";
import { siphash24, SIPHASH_KEY_OCTETS, SIPHASH_OCTETS } from "#kit/siphash.ts";

/** RFC 7873 §4. */
const CLIENT_COOKIE_OCTETS = 8;

/** What a cookie is worth. */
export const COOKIE = {
  invalid: 0,
  /** May be sent back as it is. */
  valid: 1,
  /** Valid, but the reply should carry a fresh one: it is old, or of the secret before this one. */
  renew: 2,
} as const;

export type CookieVerdict = (typeof COOKIE)[keyof typeof COOKIE];

/** The version that RFC 9018 defines. */
const VERSION = 1;
/** An hour, for clients that seldom ask. RFC 9018 §4.3. */
const MAX_AGE_SECONDS = 3600;
/** Five minutes, for clocks of the service's nodes that differ. RFC 9018 §4.3. */
const MAX_AHEAD_SECONDS = 300;
/** Half an hour: from then on a reply carries a fresh one. RFC 9018 §4.3. */
const RENEW_AGE_SECONDS = 1800;

// A server cookie is its version, three reserved octets, its time and the hash. RFC 9018 §4.
const VERSION_AT = CLIENT_COOKIE_OCTETS;
const TIME_AT = VERSION_AT + 4;
const HASH_AT = TIME_AT + 4;

export class Cookies {
  readonly #secret: Uint8Array;
  readonly #previous: Uint8Array | null;
  /** What is hashed: client cookie, version, reserved, time, address. */
  readonly #message = new Uint8Array(HASH_AT + 16);
  readonly #hash = new Uint8Array(SIPHASH_OCTETS);

  /** All nodes of a service share the secret; the previous one is good until its last cookies are old. */
  constructor(secret: Uint8Array, previous: Uint8Array | null) {
    assert.equal(secret.length, SIPHASH_KEY_OCTETS);
    assert.equal(previous?.length ?? SIPHASH_KEY_OCTETS, SIPHASH_KEY_OCTETS);
    this.#secret = Uint8Array.from(secret);
    this.#previous = previous === null ? null : Uint8Array.from(previous);
  }

  /** Writes the server cookie for the client cookie at `at`: 16 octets to `out` from `outAt`. */
  make(
    nowSeconds: number,
    clientCookie: Uint8Array,
    at: number,
    address: Uint8Array,
    addressLength: number,
    out: Uint8Array,
    outAt: number,
  ): void {
    const message = this.#message;
    for (let i = 0; i < CLIENT_COOKIE_OCTETS; i++) message[i] = clientCookie[at + i]!;
    message[VERSION_AT] = VERSION;
    message.fill(0, VERSION_AT + 1, TIME_AT);
    for (let i = 0; i < 4; i++) message[TIME_AT + i] = nowSeconds >>> (24 - i * 8);
    for (let i = VERSION_AT; i < HASH_AT; i++) out[outAt + i - VERSION_AT] = message[i]!;
    this.#hashWith(this.#secret, address, addressLength, out, outAt + HASH_AT - VERSION_AT);
  }

  /** Judges the cookie at `at`: the client's 8 octets and the 16 that it says are ours. */
  check(
    nowSeconds: number,
    cookie: Uint8Array,
    at: number,
    address: Uint8Array,
    addressLength: number,
  ): CookieVerdict {
    if (cookie[at + VERSION_AT] !== VERSION) return COOKIE.invalid;
    // Reserved octets are hashed as they came and need not be zero. RFC 9018 §4.2.
    const message = this.#message;
    for (let i = 0; i < HASH_AT; i++) message[i] = cookie[at + i]!;
    // Serial arithmetic: the difference of two 32-bit times, with its sign. RFC 1982.
    const age = ((nowSeconds >>> 0) - word(message, TIME_AT)) | 0;
    if (age > MAX_AGE_SECONDS || age < -MAX_AHEAD_SECONDS) return COOKIE.invalid;
    if (this.#isOf(this.#secret, cookie, at, address, addressLength)) {
      return age > RENEW_AGE_SECONDS ? COOKIE.renew : COOKIE.valid;
    }
    const previous = this.#previous;
    if (previous !== null && this.#isOf(previous, cookie, at, address, addressLength)) {
      return COOKIE.renew;
    }
    return COOKIE.invalid;
  }

  #isOf(
    secret: Uint8Array,
    cookie: Uint8Array,
    at: number,
    address: Uint8Array,
    addressLength: number,
  ): boolean {
    this.#hashWith(secret, address, addressLength, this.#hash, 0);
    let difference = 0; // Every octet is looked at, so that the time taken tells nothing.
    for (let i = 0; i < SIPHASH_OCTETS; i++) {
      difference |= this.#hash[i]! ^ cookie[at + HASH_AT + i]!;
    }
    return difference === 0;
  }

  #hashWith(
    secret: Uint8Array,
    address: Uint8Array,
    addressLength: number,
    out: Uint8Array,
    outAt: number,
  ): void {
    const message = this.#message;
    for (let i = 0; i < addressLength; i++) message[HASH_AT + i] = address[i]!;
    siphash24(secret, message, 0, HASH_AT + addressLength, out, outAt);
  }
}

function word(bytes: Uint8Array, at: number): number {
  return (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!;
}
