/** The checksums of a body, computed as it passes: MD5, which is the etag, and others that are asked for. */
import { hash } from "node:crypto";
import { beginDigest, digestOf } from "./digest.ts";
import { ObjectFault } from "./fault.ts";
import type { HashThread } from "./hash-thread.ts";
import type { Algorithm, Body, Checksums, ExpectedChecksum } from "./model.ts";

const NAMES = {
  md5: "MD5",
  sha1: "SHA-1",
  sha256: "SHA-256",
  sha384: "SHA-384",
  sha512: "SHA-512",
  crc32: "CRC-32",
  crc32c: "CRC-32C",
  crc64nvme: "CRC-64/NVME",
} as const satisfies Record<Algorithm, string>;

/** What is asked of a body. */
export interface Asked {
  /** Whether its etag is its MD5. */
  readonly hasMd5Etag: boolean;
  readonly checksums: readonly ExpectedChecksum[];
}

export interface Digests {
  /** The etag, if it is that. */
  readonly md5: string | null;
  /** Those to be kept beside it. */
  readonly checksums: Checksums | null;
}

/** The digests of a body that is not all there yet. */
export interface Hashing {
  /** Gives the body on in pieces of its own; each is good until the next is asked for, as those of the body may be. */
  pass(body: Body): Body;
  /** When all has passed. Throws unless the digests are what was expected. */
  finish(): Promise<Digests>;
  /** Instead of `finish`, when the body comes to nothing. */
  leave(): void;
}

/** On this thread: for so few octets that telling another would take as long. */
export function hashHere(asked: Asked): Hashing {
  const algorithms = algorithmsOf(asked);
  const digests = algorithms.map(beginDigest);
  return {
    async *pass(body) {
      for await (const octets of body) {
        for (const digest of digests) digest.update(octets);
        yield octets;
      }
    },
    finish: async () => compared(asked, (name) => digests[algorithms.indexOf(name)]!.digest()),
    leave: () => {},
  };
}

export function hashOnThread(thread: HashThread, asked: Asked): Hashing {
  const algorithms = algorithmsOf(asked);
  const body = thread.begin(algorithms);
  return {
    pass: (octets) => body.pass(octets),
    finish: async () => {
      const digests = await body.finish();
      return compared(asked, (name) => digests[algorithms.indexOf(name)]!);
    },
    leave: () => body.leave(),
  };
}

/** The same for octets that are all there. */
export function hashWhole(octets: Uint8Array, asked: Asked): Digests {
  return compared(asked, (algorithm) => digestOf(algorithm, octets));
}

function algorithmsOf({ hasMd5Etag, checksums }: Asked): readonly Algorithm[] {
  const others = checksums.map(({ algorithm }) => algorithm);
  return [...new Set(hasMd5Etag ? (["md5", ...others] as const) : others)];
}

/** Asks for each digest once. */
function compared(
  { hasMd5Etag, checksums }: Asked,
  digestOf: (algorithm: Algorithm) => string,
): Digests {
  const md5 = hasMd5Etag ? digestOf("md5") : null;
  if (checksums.length === 0) return { md5, checksums: null };
  const all: Partial<Record<Algorithm, string>> = md5 === null ? {} : { md5 };
  const kept: Partial<Record<Algorithm, string>> = {};
  for (const expected of checksums) {
    const { algorithm, isKept = true } = expected;
    const actual = (all[algorithm] ??= digestOf(algorithm));
    compare(expected, actual);
    if (isKept && !(algorithm === "md5" && hasMd5Etag)) kept[algorithm] = actual;
  }
  return { md5, checksums: Object.keys(kept).length === 0 ? null : kept };
}

/** Throws unless a checksum is as it was announced, if it was. */
function compare({ algorithm, value, isKept = true }: ExpectedChecksum, actual: string): void {
  const given = (typeof value === "function" ? value() : value)?.toLowerCase();
  if (given === undefined || given === actual) return;
  const name = NAMES[algorithm];
  throw new ObjectFault(
    "bad-digest",
    `The ${name} checksum you specified did not match what we received.\nYou provided a ${name} checksum with value: ${given}\nActual ${name} was: ${actual}`,
    { checksum: { algorithm, isKept } },
  );
}

/** The etag of an object made of parts: the MD5 of their etags, and how many there are. */
export function etagOfParts(etags: readonly string[]): string {
  return `${hash("md5", Buffer.from(etags.join(""), "hex"), "hex")}-${etags.length}`;
}
