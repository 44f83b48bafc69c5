/** The certificate that DNS over TLS has when nobody gave one: made at the first start, kept in the data folder. */
import { createPrivateKey, generateKeyPairSync, randomBytes, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join } from "node:path";
import { parseIpv4, parseIpv6 } from "#dns";
import { writeDurably } from "#kit/durable-file.ts";
import { selfSigned } from "#kit/self-signed.ts";
import { pairFault } from "./certificate-files.ts";
import type { Certificate } from "./messages.ts";

export interface OwnCertificateOptions {
  readonly dataDir: string;
  /** The name servers' names. */
  readonly names: readonly string[];
  /** Where TLS listens: an address or a name. */
  readonly host: string;
  readonly now: () => number;
}

const CERTIFICATE_FILE = "dns-tls.crt";
const KEY_FILE = "dns-tls.key";

const DAY_MS = 24 * 60 * 60 * 1000;
/** Clients that check it know it by its key; nothing is won by changing it often. */
const VALID_DAYS = 3_650;
/** In its last month a start makes it anew. */
const RENEW_DAYS = 30;
/** Clocks differ. */
const BACKDATED_DAYS = 1;
const SERIAL_OCTETS = 16;

/** Finds or makes it. The key stays when the certificate is made anew, for clients that pin it. */
export async function ownCertificate(options: OwnCertificateOptions): Promise<Certificate> {
  const keyPath = join(options.dataDir, KEY_FILE);
  const path = join(options.dataDir, CERTIFICATE_FILE);
  const key = (await readIfThere(keyPath)) ?? (await makeKey(keyPath));
  const found = await readIfThere(path);
  if (found !== null && stillFits({ cert: found, key }, options)) return { cert: found, key };
  const cert = certify(key, keyPath, options);
  await writeDurably(path, cert, 0o644);
  return { cert, key };
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
}

async function makeKey(path: string): Promise<string> {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = privateKey.export({ type: "pkcs8", format: "pem" });
  await writeDurably(path, key, 0o600);
  return key;
}

function stillFits(found: Certificate, options: OwnCertificateOptions): boolean {
  if (pairFault(found) !== null) return false;
  const certificate = new X509Certificate(found.cert);
  const { names, addresses } = subjects(options);
  return (
    names.every((name) => certificate.checkHost(name) !== undefined) &&
    addresses.every((address) => certificate.checkIP(address) !== undefined) &&
    certificate.validToDate.getTime() - options.now() > RENEW_DAYS * DAY_MS
  );
}

function certify(key: string, keyPath: string, options: OwnCertificateOptions): string {
  const { names, addresses } = subjects(options);
  const now = options.now();
  try {
    return selfSigned({
      privateKey: createPrivateKey(key),
      names,
      addresses: addresses.map((address) => (parseIpv4(address) ?? parseIpv6(address))!),
      validFrom: now - BACKDATED_DAYS * DAY_MS,
      validUntil: now + VALID_DAYS * DAY_MS,
      serial: randomBytes(SERIAL_OCTETS),
    });
  } catch (cause) {
    const why = `it holds no private key. Remove it to have a new one made`;
    throw new Error(`Cannot use ${keyPath}: ${why}.`, { cause });
  }
}

/** What a client may call this server; an address that stands for all of them says nothing. */
function subjects({ names, host }: OwnCertificateOptions): {
  names: readonly string[];
  addresses: readonly string[];
} {
  if (isIP(host) === 0) return { names: [...names, host], addresses: [] };
  const stands = host !== "0.0.0.0" && host !== "::";
  return { names, addresses: stands ? [host.split("%")[0]!] : [] };
}
