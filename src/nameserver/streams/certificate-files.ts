/** A certificate and its key in two files of the operator's, used as soon as they are replaced. */
import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { Log } from "#kit/log.ts";
import type { Certificate } from "./messages.ts";

/** Their paths; both hold PEM. */
export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

/** Tools that renew certificates then send a signal or nothing at all; here nothing is needed. */
const CHECK_MS = 5_000;

/** Throws a sentence when the files cannot be used. */
export async function readCertificate(files: CertificateFiles): Promise<Certificate> {
  const [cert, key] = await Promise.all([readPem(files.certificate), readPem(files.key)]);
  const fault = pairFault({ cert, key });
  if (fault === null) return { cert, key };
  throw new Error(`Cannot use ${files.certificate} and ${files.key} for --dns-tls: ${fault}.`);
}

/** Gives the files' new contents when they have changed to a pair that can be used. */
export function watchCertificate(
  files: CertificateFiles,
  current: Certificate,
  onChange: (certificate: Certificate) => void,
  log: Log,
  everyMs = CHECK_MS,
): Disposable {
  let used = current;
  let lastFault = "";
  const look = async () => {
    try {
      const next = await readCertificate(files);
      lastFault = "";
      if (next.cert === used.cert && next.key === used.key) return;
      onChange((used = next));
      log.info("certificate reloaded", { file: files.certificate });
    } catch (cause) {
      // The two files are not replaced at the same moment: it may be right the next time.
      const { message } = cause as Error;
      if (message !== lastFault) log.warn("the former certificate stays in use", { cause });
      lastFault = message;
    }
  };
  let looking = Promise.resolve();
  const timer = setInterval(() => {
    looking = looking.then(look);
  }, everyMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Why the two cannot be used together; null when they can. */
export function pairFault({ cert, key }: Certificate): string | null {
  const certificate = attempt(() => new X509Certificate(cert));
  if (certificate === null) return "there is no certificate in PEM";
  const privateKey = attempt(() => createPrivateKey(key));
  if (privateKey === null) return "there is no private key in PEM without a passphrase";
  if (!certificate.checkPrivateKey(privateKey)) return "the certificate is not for this key";
  const context = attempt(() => createSecureContext({ cert, key }));
  return context === null ? "TLS does not take them" : null;
}

function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null; // The library's own words are about its innards.
  }
}

async function readPem(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const why = code === "ENOENT" ? "there is no such file" : message;
    throw new Error(`Cannot read ${path} for --dns-tls: ${why}.`, { cause });
  }
}
