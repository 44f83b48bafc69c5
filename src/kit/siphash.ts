/**
 * SipHash-2-4, a keyed hash of short messages that cannot be forged without the key. Allocates nothing.
 * Aumasson and Bernstein, "SipHash: a fast short-input PRF" (2012).
 */

export const SIPHASH_KEY_OCTETS = 16;
export const SIPHASH_OCTETS = 8;

/**
 * Hashes `length` octets of the message from `at`, and writes the 8 octets of the hash to `out` from
 * `outAt`, lowest first as the reference implementation does.
 *
 * Each 64-bit word is two 32-bit halves, since a BigInt would allocate.
 */
export function siphash24(
  key: Uint8Array,
  message: Uint8Array,
  at: number,
  length: number,
  out: Uint8Array,
  outAt: number,
): void {
  const k0 = word(key, 0);
  const k1 = word(key, 4);
  const k2 = word(key, 8);
  const k3 = word(key, 12);
  // "somepseudorandomlygeneratedbytes", as the paper has it.
  let v0l = k0 ^ 0x70736575;
  let v0h = k1 ^ 0x736f6d65;
  let v1l = k2 ^ 0x6e646f6d;
  let v1h = k3 ^ 0x646f7261;
  let v2l = k0 ^ 0x6e657261;
  let v2h = k1 ^ 0x6c796765;
  let v3l = k2 ^ 0x79746573;
  let v3h = k3 ^ 0x74656462;

  // The whole words, the word of what is left with the length on top, and the four rounds at the end, which
  // take in nothing: one loop, so that the round is written once.
  const whole = length >>> 3;
  for (let block = 0; block <= whole + 1; block++) {
    let rounds = 2;
    let ml = 0;
    let mh = 0;
    if (block < whole) {
      ml = word(message, at + block * 8);
      mh = word(message, at + block * 8 + 4);
    } else if (block === whole) {
      const end = at + length;
      let from = at + whole * 8;
      for (let shift = 0; from < end && shift < 32; shift += 8) ml |= message[from++]! << shift;
      for (let shift = 0; from < end; shift += 8) mh |= message[from++]! << shift;
      mh |= length << 24;
    } else {
      v2l ^= 0xff;
      rounds = 4;
    }
    v3l ^= ml;
    v3h ^= mh;
    for (; rounds > 0; rounds--) {
      v0l = (v0l + v1l) | 0; // v0 += v1; a sum below its addend has carried
      v0h = (v0h + v1h + (v0l >>> 0 < v1l >>> 0 ? 1 : 0)) | 0;
      v2l = (v2l + v3l) | 0; // v2 += v3
      v2h = (v2h + v3h + (v2l >>> 0 < v3l >>> 0 ? 1 : 0)) | 0;
      let low = v1l; // v1 = v1 <<< 13 ^ v0
      v1l = ((low << 13) | (v1h >>> 19)) ^ v0l;
      v1h = ((v1h << 13) | (low >>> 19)) ^ v0h;
      low = v3l; // v3 = v3 <<< 16 ^ v2
      v3l = ((low << 16) | (v3h >>> 16)) ^ v2l;
      v3h = ((v3h << 16) | (low >>> 16)) ^ v2h;
      low = v0l; // v0 = v0 <<< 32
      v0l = v0h;
      v0h = low;
      v2l = (v2l + v1l) | 0; // v2 += v1
      v2h = (v2h + v1h + (v2l >>> 0 < v1l >>> 0 ? 1 : 0)) | 0;
      v0l = (v0l + v3l) | 0; // v0 += v3
      v0h = (v0h + v3h + (v0l >>> 0 < v3l >>> 0 ? 1 : 0)) | 0;
      low = v1l; // v1 = v1 <<< 17 ^ v2
      v1l = ((low << 17) | (v1h >>> 15)) ^ v2l;
      v1h = ((v1h << 17) | (low >>> 15)) ^ v2h;
      low = v3l; // v3 = v3 <<< 21 ^ v0
      v3l = ((low << 21) | (v3h >>> 11)) ^ v0l;
      v3h = ((v3h << 21) | (low >>> 11)) ^ v0h;
      low = v2l; // v2 = v2 <<< 32
      v2l = v2h;
      v2h = low;
    }
    v0l ^= ml;
    v0h ^= mh;
  }
  putWord(out, outAt, v0l ^ v1l ^ v2l ^ v3l);
  putWord(out, outAt + 4, v0h ^ v1h ^ v2h ^ v3h);
}

function word(bytes: Uint8Array, at: number): number {
  return bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24);
}

function putWord(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value;
  bytes[at + 1] = value >>> 8;
  bytes[at + 2] = value >>> 16;
  bytes[at + 3] = value >>> 24;
}
