/** The checksum that a put may name: what the octets must add up to. */
import { type Fields, isShared, octetsOf, toHex, wrongField } from "./convert.ts";
import { type Algorithm, ALGORITHMS } from "./protocol.ts";

const FORMS: Readonly<Record<Algorithm, readonly [name: string, octets: number]>> = {
  md5: ["MD5", 16],
  sha1: ["SHA-1", 20],
  sha256: ["SHA-256", 32],
  sha384: ["SHA-384", 48],
  sha512: ["SHA-512", 64],
};

export type GivenChecksum = readonly [Algorithm, string | Uint8Array];

/** Holds each to its type. What they say is looked at when all arguments have theirs. */
export function readChecksums(options: Fields): GivenChecksum[] {
  return ALGORITHMS.flatMap((algorithm): GivenChecksum[] => {
    const value = options[algorithm];
    if (value === undefined) return [];
    if (typeof value === "string") return [[algorithm, value]];
    const octets = isShared(value) ? null : octetsOf(value);
    if (octets === null) throw wrongField(algorithm, "PutOptions", "BufferSource or string");
    return [[algorithm, octets]];
  });
}

/** At most one may be given; a bad one is told of before a second. */
export function toChecksum(given: readonly GivenChecksum[]): {
  checksum?: { algorithm: Algorithm; hex: string };
} {
  const [first, second] = given;
  if (first === undefined) return {};
  const checksum = { algorithm: first[0], hex: checksumHex(...first) };
  if (second !== undefined) throw new TypeError("You cannot specify multiple hashing algorithms.");
  return { checksum };
}

function checksumHex(algorithm: Algorithm, value: string | Uint8Array): string {
  const [name, octets] = FORMS[algorithm];
  if (typeof value === "string") {
    const length = new TextEncoder().encode(value).length;
    if (length !== octets * 2) {
      throw new TypeError(`${name} is ${octets * 2} hex characters, not ${length}`);
    }
    if (!/^[0-9a-f]*$/i.test(value)) {
      throw new TypeError(`Provided ${name} wasn't a valid hex string`);
    }
    return value.toLowerCase();
  }
  if (value.length !== octets) {
    throw new TypeError(`${name} is ${octets} bytes, not ${value.length}`);
  }
  return toHex(value);
}
