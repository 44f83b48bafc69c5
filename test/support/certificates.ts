/** A certificate authority for one test run, and certificates of it. Made with openssl. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { mustRun } from "./program.ts";

const OPENSSL = "/usr/bin/openssl";

/** Longer than any test runs, far shorter than a key that was left lying about would be of use. */
const DAYS = "2";

export interface CertificateFiles {
  readonly certificate: string;
  readonly key: string;
}

/** Makes the authority's certificate and key in the folder. */
export async function makeAuthority(folder: string): Promise<CertificateFiles> {
  const files = filesIn(folder, "authority");
  await openssl("req", "-x509", "-subj", "/CN=authority of a test", ...newKey(files));
  return files;
}

/** A certificate for these names and addresses, signed by the authority. */
export async function issueCertificate(
  folder: string,
  authority: CertificateFiles,
  names: readonly string[],
): Promise<CertificateFiles> {
  const [first = ""] = names;
  const files = filesIn(folder, first);
  const [request, extensions] = [join(folder, `${first}.csr`), join(folder, `${first}.cnf`)];
  const alternatives = names.map((name) => (/^[0-9.]+$/.test(name) ? `IP:${name}` : `DNS:${name}`));
  await writeFile(extensions, `subjectAltName=${alternatives.join(",")}\n`);
  await openssl("req", "-subj", `/CN=${first}`, ...newKey({ ...files, certificate: request }));
  const signedBy = ["-CA", authority.certificate, "-CAkey", authority.key, "-CAcreateserial"];
  const into = ["-extfile", extensions, "-days", DAYS, "-out", files.certificate];
  await openssl("x509", "-req", "-in", request, ...signedBy, ...into);
  return files;
}

function filesIn(folder: string, name: string): CertificateFiles {
  return { certificate: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) };
}

function newKey({ certificate, key }: CertificateFiles): string[] {
  const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  return [...kind, "-days", DAYS, "-keyout", key, "-out", certificate];
}

function openssl(...args: readonly string[]): Promise<string> {
  return mustRun(OPENSSL, args);
}
