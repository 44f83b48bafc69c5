/**
 * Octets encrypted with a key that only their owner has, "SSE-C": AES-256 in counter mode, so that any range is
 * read alone. The key is kept nowhere. With it and a salt two others are made: one encrypts, and one is kept to
 * know the right key by.
 */
import { createCipheriv, hash, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import { randomId } from "#kit/random.ts";
import { ObjectFault } from "./fault.ts";
import type { CustomerKey } from "./model.ts";

/** What is kept of it, in the row of an object or an upload. */
export interface Encryption {
  /** In base64, as clients know the key by. */
  readonly keyMd5: string;
  /** In hex, as is the rest. */
  readonly salt: string;
  readonly check: string;
  /** Where the counter begins; parts have their own. */
  readonly iv?: string;
}

/** Encrypts and decrypts alike: octets in their order, from where it begins. */
export type Cipher = (octets: Uint8Array) => Uint8Array;

const KEY_OCTETS = 32;
const BLOCK_OCTETS = 16;
const PURPOSE = "selvedge customer key 1";

/** A key that was given, and fits. */
export class Seal {
  readonly encryption: Encryption;
  readonly #dataKey: Uint8Array;

  private constructor(encryption: Encryption, dataKey: Uint8Array) {
    this.encryption = encryption;
    this.#dataKey = dataKey;
  }

  /** For what is new. */
  static begin({ key }: CustomerKey): Seal {
    if (key.length !== KEY_OCTETS) {
      throw new ObjectFault(
        "bad-key-for-object",
        `A key has ${KEY_OCTETS} octets, not ${key.length}`,
      );
    }
    const salt = randomBytes(16).toString("hex");
    const { dataKey, check } = derive(key, salt);
    const keyMd5 = hash("md5", key, "base64");
    return new Seal({ keyMd5, salt, check: check.toString("hex") }, dataKey);
  }

  /** For what is there; null when it is not encrypted. Throws unless the key is the one that it needs. */
  static open(encryption: Encryption | null, given: CustomerKey | undefined): Seal | null {
    if (encryption === null) {
      if (given === undefined) return null;
      throw new ObjectFault("bad-key-for-object", "The object is not encrypted with a key");
    }
    if (given === undefined) {
      throw new ObjectFault(
        "key-required",
        "The object is encrypted with a key, which must be given",
      );
    }
    const { dataKey, check } = derive(given.key, encryption.salt);
    if (!timingSafeEqual(check, Buffer.from(encryption.check, "hex"))) {
      throw new ObjectFault("bad-key-for-object", "The object is encrypted with another key");
    }
    return new Seal(encryption, dataKey);
  }

  /** What begins at this `iv`, from an offset on. */
  cipher(iv: string, offset = 0): Cipher {
    const cipher = createCipheriv("aes-256-ctr", this.#dataKey, counterAt(iv, offset));
    cipher.update(new Uint8Array(offset % BLOCK_OCTETS));
    return (octets) => cipher.update(octets);
  }
}

/** Where the counter of a body begins: never the same twice. */
export function newIv(): string {
  return randomId();
}

function derive(key: Uint8Array, salt: string): { dataKey: Buffer; check: Buffer } {
  const both = hkdfSync("sha256", key, Buffer.from(salt, "hex"), PURPOSE, 2 * KEY_OCTETS);
  return { dataKey: Buffer.from(both, 0, KEY_OCTETS), check: Buffer.from(both, KEY_OCTETS) };
}

/** The counter is one number of all the octets. */
function counterAt(iv: string, offset: number): Buffer {
  const block = BigInt(Math.floor(offset / BLOCK_OCTETS));
  const counter = BigInt.asUintN(8 * BLOCK_OCTETS, BigInt(`0x${iv}`) + block);
  return Buffer.from(counter.toString(16).padStart(2 * BLOCK_OCTETS, "0"), "hex");
}
