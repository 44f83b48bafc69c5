/** The algorithms of checksums: one at a time, over octets as they come or all at once. */
import { createHash, hash } from "node:crypto";
import { Crc, isCrc } from "#kit/crc.ts";
import type { Algorithm } from "./model.ts";

/** A checksum of octets as they come. */
export interface Digest {
  update(octets: Uint8Array): void;
  /** In lower-case hex. */
  digest(): string;
}

export function beginDigest(algorithm: Algorithm): Digest {
  if (isCrc(algorithm)) return new Crc(algorithm);
  const hash = createHash(algorithm);
  return { update: (octets) => void hash.update(octets), digest: () => hash.digest("hex") };
}

/** The same for octets that are all there: half the cost where they are few. */
export function digestOf(algorithm: Algorithm, octets: Uint8Array): string {
  if (!isCrc(algorithm)) return hash(algorithm, octets, "hex");
  const crc = new Crc(algorithm);
  crc.update(octets);
  return crc.digest();
}
