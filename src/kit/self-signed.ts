/** Makes an X.509 certificate that vouches for itself. */
import { createPublicKey, type KeyObject } from "node:crypto";
import { type CertificateOptions, makeCertificate } from "./x509.ts";

export interface SelfSignedOptions extends Pick<
  CertificateOptions,
  "names" | "addresses" | "validFrom" | "validUntil" | "serial"
> {
  /** On the curve P-256. */
  readonly privateKey: KeyObject;
}

/** Returns it in PEM. */
export function selfSigned({ privateKey, ...options }: SelfSignedOptions): string {
  const subject = options.names[0] ?? "localhost";
  return makeCertificate({
    ...options,
    subject,
    publicKey: createPublicKey(privateKey),
    isAuthority: false,
    issuer: { subject, privateKey },
  });
}
