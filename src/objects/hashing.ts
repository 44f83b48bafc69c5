/** The hashes of a body, computed as it passes: MD5, which is the etag, and another one when asked. */
import { createHash, hash } from "node:crypto";
import { ObjectFault } from "./fault.ts";
import type { HashThread } from "./hash-thread.ts";
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

/** The digests of a body that is not all there yet. */
export interface Hashing {
  /** The octets must not change until it resolves, if it is a promise. */
  update(octets: Uint8Array): Promise<void> | void;
  /** Throws unless they add up to what was expected. */
  finish(): Promise<Digests>;
  /** Instead of `finish`, when the body comes to nothing. */
  leave(): void;
}

/** On this thread: for so few octets that telling another would take as long. */
export function hashHere(expected: ExpectedChecksum | undefined): Hashing {
  const hashes = algorithmsOf(expected).map((algorithm) => createHash(algorithm));
  return {
    update: (octets) => hashes.forEach((one) => one.update(octets)),
    finish: async () =>
      comparedAll(
        expected,
        hashes.map((one) => one.digest("hex")),
      ),
    leave: () => {},
  };
}

export function hashOnThread(thread: HashThread, expected: ExpectedChecksum | undefined): Hashing {
  const body = thread.begin(algorithmsOf(expected));
  return {
    update: (octets) => body.update(octets),
    finish: async () => comparedAll(expected, await body.finish()),
    leave: () => body.leave(),
  };
}

/** MD5 first. */
function algorithmsOf(expected: ExpectedChecksum | undefined): readonly Algorithm[] {
  return [...new Set<Algorithm>(["md5", expected?.algorithm ?? "md5"])];
}

function comparedAll(expected: ExpectedChecksum | undefined, digests: readonly string[]): Digests {
  return compared(expected, (algorithm) => digests[algorithm === "md5" ? 0 : 1]!);
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
