/** A chain and its key as a user gives them, held against each other, the clock and the zone. */
import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import { certificatesIn } from "#kit/pem.ts";
import { shorten } from "#kit/shorten.ts";
import { CertificateFault } from "./fault.ts";
import { isWithin } from "./hosts.ts";

/** What is known of a chain. */
export interface Chain {
  /** In PEM, the leaf first, nothing between. */
  readonly chain: string;
  readonly leaf: X509Certificate;
  readonly hosts: readonly string[];
  readonly notBefore: number;
  readonly notAfter: number;
}

/** A leaf, its intermediates and a root; longer ones are a mistake, and each handshake would carry them. */
const MAX_CHAIN = 10;

/** What is kept of a user's pair. */
export interface Pair extends Omit<Chain, "leaf"> {
  /** In PEM, and nothing beside it. */
  readonly privateKey: string;
}

/** Throws a fault that names the field, unless the pair can serve names of the zone. */
export function checkPair(
  given: { readonly certificate: string; readonly privateKey: string },
  zoneName: string,
  now: number,
): Pair {
  const { leaf, ...chain } = readChain(given.certificate);
  const key = readKey(given.privateKey);
  if (!leaf.checkPrivateKey(key)) {
    throw new CertificateFault(
      "key-mismatch",
      "private_key is not the key of the first certificate",
      "/private_key",
    );
  }
  if (chain.notAfter <= now) {
    const when = new Date(chain.notAfter).toISOString();
    throw new CertificateFault("expired", `The certificate expired at ${when}`, "/certificate");
  }
  if (!chain.hosts.some((host) => isWithin(host, zoneName))) {
    const named = shorten(chain.hosts.join(", ")) || "no hostname";
    throw new CertificateFault(
      "bad-hosts",
      `The certificate is for ${named}: none lies in the zone ${zoneName}`,
      "/certificate",
    );
  }
  const privateKey = key.export({ type: "pkcs8", format: "pem" });
  checkUse(chain.chain, privateKey);
  return { ...chain, privateKey };
}

/** Splits a chain and checks that each certificate has signed the one before it. */
export function readChain(pem: string): Chain {
  const blocks = certificatesIn(pem);
  if (blocks.length === 0) throw badChain("certificate holds no certificate in PEM");
  if (blocks.length > MAX_CHAIN) throw badChain(`A chain has at most ${MAX_CHAIN} certificates`);
  const all = blocks.map(readOne);
  for (const [i, issuer] of all.slice(1).entries()) {
    const signed = all[i]!;
    if (!signed.checkIssued(issuer) || !signed.verify(issuer.publicKey)) {
      throw badChain(
        `Certificate ${i + 2} of the chain has not issued certificate ${i + 1}: the leaf comes first, then what signed it, and so on`,
      );
    }
  }
  const leaf = all[0]!;
  return {
    chain: blocks.join(""),
    leaf,
    hosts: hostsOf(leaf),
    notBefore: leaf.validFromDate.getTime(),
    notAfter: leaf.validToDate.getTime(),
  };
}

function readOne(block: string, index: number): X509Certificate {
  try {
    return new X509Certificate(block);
  } catch (cause) {
    throw badChain(`Certificate ${index + 1} of the chain cannot be read`, cause);
  }
}

/** The DNS names that it is for; its common name has long stopped to count. */
function hostsOf({ subjectAltName = "" }: X509Certificate): string[] {
  const names = [...subjectAltName.matchAll(/(?:^|, )DNS:([^\s,"]+)/g)];
  return [...new Set(names.map(([, name]) => name!.toLowerCase()))];
}

function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    const message = "private_key is no private key in PEM, or is locked by a passphrase";
    throw new CertificateFault("bad-key", message, "/private_key", { cause });
  }
}

/** TLS has rules of its own, such as the least length of a key. */
function checkUse(cert: string, key: string): void {
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    const why = (cause as Error).message.replace(/^.*:/, "");
    const message = `TLS does not take this certificate and key: ${why}`;
    throw new CertificateFault("bad-key", message, "/private_key", { cause });
  }
}

function badChain(message: string, cause?: unknown): CertificateFault {
  return new CertificateFault("bad-certificate", message, "/certificate", { cause });
}
