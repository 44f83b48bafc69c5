/**
 * An authority of this installation's own, so that HTTPS works before any other has issued a certificate.
 * Whoever wants no warnings tells a browser to trust `local-ca.crt` of the data folder.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  X509Certificate,
} from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { writeDurably } from "#kit/durable-file.ts";
import { makeCertificate } from "#kit/x509.ts";
import type { ServedCertificate } from "./model.ts";

const CERTIFICATE_FILE = "local-ca.crt";
const KEY_FILE = "local-ca.key";
const SUBJECT = "Selvedge local authority";

const DAY_MS = 24 * 60 * 60 * 1000;
/** Trusted by hand, so it should not be often. */
const ROOT_DAYS = 3_650;
const ROOT_RENEW_DAYS = 30;
/** Made in a fraction of a millisecond whenever it is needed: a short life costs nothing. */
const LEAF_DAYS = 7;
/** Clocks differ. */
const BACKDATED_MS = DAY_MS;
const SERIAL_OCTETS = 16;
/** Each takes some kilobytes, also in TLS. A stranger may ask for names without end. */
const MAX_KEPT = 1_000;

export class LocalAuthority {
  readonly #root: KeyObject;
  readonly #now: () => number;
  /** By the name that stands in it with its wildcard; what was asked for last stands last. */
  readonly #leaves = new Map<string, ServedCertificate>();

  private constructor(root: KeyObject, now: () => number) {
    this.#root = root;
    this.#now = now;
  }

  /** Finds the root in the data folder, or makes it. */
  static async open(dataDir: string, now: () => number): Promise<LocalAuthority> {
    const path = join(dataDir, CERTIFICATE_FILE);
    const root = await openKey(join(dataDir, KEY_FILE));
    const found = await readIfThere(path);
    if (found === null || !stillFits(found, root, now())) {
      await writeDurably(path, makeRoot(root, now()), 0o644);
    }
    return new LocalAuthority(root, now);
  }

  /** A certificate for the name and all names one label below it. */
  leafFor(name: string): ServedCertificate {
    const known = this.#leaves.get(name);
    this.#leaves.delete(name);
    const isFresh = known !== undefined && known.notAfter - this.#now() > (LEAF_DAYS / 3) * DAY_MS;
    const leaf = isFresh ? known : this.#makeLeaf(name);
    this.#leaves.set(name, leaf);
    if (this.#leaves.size > MAX_KEPT) this.#leaves.delete(this.#leaves.keys().next().value!);
    return leaf;
  }

  #makeLeaf(name: string): ServedCertificate {
    const { publicKey, privateKey } = newKey();
    const now = this.#now();
    const validUntil = now + LEAF_DAYS * DAY_MS;
    const cert = makeCertificate({
      publicKey,
      subject: name,
      names: [name, `*.${name}`],
      addresses: [],
      isAuthority: false,
      issuer: { subject: SUBJECT, privateKey: this.#root },
      validFrom: now - BACKDATED_MS,
      validUntil,
      serial: randomBytes(SERIAL_OCTETS),
    });
    const key = privateKey.export({ type: "pkcs8", format: "pem" });
    return { id: `local ${name}`, source: "local", cert, key, notAfter: validUntil };
  }
}

function newKey(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync("ec", { namedCurve: "P-256" });
}

function makeRoot(privateKey: KeyObject, now: number): string {
  return makeCertificate({
    publicKey: createPublicKey(privateKey),
    subject: SUBJECT,
    names: [],
    addresses: [],
    isAuthority: true,
    issuer: { subject: SUBJECT, privateKey },
    validFrom: now - BACKDATED_MS,
    validUntil: now + ROOT_DAYS * DAY_MS,
    serial: randomBytes(SERIAL_OCTETS),
  });
}

function stillFits(pem: string, key: KeyObject, now: number): boolean {
  try {
    const root = new X509Certificate(pem);
    const left = root.validToDate.getTime() - now;
    return root.checkPrivateKey(key) && left > ROOT_RENEW_DAYS * DAY_MS;
  } catch {
    return false; // Not a certificate: it is made anew from the key.
  }
}

async function openKey(path: string): Promise<KeyObject> {
  const found = await readIfThere(path);
  if (found === null) {
    const { privateKey } = newKey();
    await writeDurably(path, privateKey.export({ type: "pkcs8", format: "pem" }), 0o600);
    return privateKey;
  }
  try {
    return createPrivateKey(found);
  } catch (cause) {
    const why = "it holds no private key. Remove it to have a new one made";
    throw new Error(`Cannot use ${path}: ${why}.`, { cause });
  }
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}
