/** The hashes of a body, computed as it passes: MD5, which is the etag, and another one when asked. */
import { createHash, type Hash, hash } from "node:crypto";
import { ObjectFault } from "./fault.ts";
import type { Algorithm, BodyOptions, Checksums } from "./model.ts";

export type ExpectedChecksum = NonNullable<BodyOptions["checksum"]>;

const NAMES = {
  md5: "MD5",
  sha1: "SHA-1",
  sha256: "SHA-256",
  sha384: "SHA-384",
  sha512: "SHA-512",
} as const satisfies Record<Algorithm, string>;

/** Each as lower-case hex; MD5 always. */
export type Digests = Checksums & { readonly md5: string };

export class Hashing {
  readonly #md5 = createHash("md5");
  readonly #expected: ExpectedChecksum | undefined;
  readonly #other: Hash | null;

  constructor(expected: ExpectedChecksum | undefined) {
    this.#expected = expected;
    this.#other =
      expected === undefined || expected.algorithm === "md5"
        ? null
        : createHash(expected.algorithm);
  }

  update(octets: Uint8Array): void {
    this.#md5.update(octets);
    this.#other?.update(octets);
  }

  /** Throws unless they add up to what was expected. */
  finish(): Digests {
    return compared(this.#expected, (algorithm) =>
      (algorithm === "md5" ? this.#md5 : this.#other!).digest("hex"),
    );
  }
}

/** The same for octets that are all there: half the cost where they are few. */
export function hashWhole(octets: Uint8Array, expected: ExpectedChecksum | undefined): Digests {
  return compared(expected, (algorithm) => hash(algorithm, octets, "hex"));
}

function compared(
  expected: ExpectedChecksum | undefined,
  digestOf: (algorithm: Algorithm) => string,
): Digests {
  const md5 = digestOf("md5");
  if (expected === undefined) return { md5 };
  const { algorithm } = expected;
  const actual = algorithm === "md5" ? md5 : digestOf(algorithm);
  const given = expected.value.toLowerCase();
  if (actual !== given) {
    const name = NAMES[algorithm];
    throw new ObjectFault(
      "bad-digest",
      `The ${name} checksum you specified did not match what we received.\nYou provided a ${name} checksum with value: ${given}\nActual ${name} was: ${actual}`,
    );
  }
  return { md5, [algorithm]: actual };
}

/** The etag of an object made of parts: the MD5 of their MD5s, and how many there are. */
export function etagOfParts(md5s: readonly string[]): string {
  return `${hash("md5", Buffer.from(md5s.join(""), "hex"), "hex")}-${md5s.length}`;
}
