/** What the certificates refuse, in their own terms. */

export type CertificateFaultKind =
  /** No certificate of that id in the zone. */
  | "not-found"
  /** What was sent is no certificate in PEM, or no chain. */
  | "bad-certificate"
  /** What was sent is no private key, or not one that TLS takes. */
  | "bad-key"
  /** The certificate was made for another key. */
  | "key-mismatch"
  | "expired"
  /** A hostname that is none, or lies outside the zone. */
  | "bad-hosts"
  /** The zone has as many as it may. */
  | "too-many"
  /** Not while a setting is as it is; the message names it. */
  | "not-available";

export class CertificateFault extends Error {
  override readonly name = "CertificateFault";
  readonly kind: CertificateFaultKind;
  /** The field that is wrong. */
  readonly pointer: string | null;
  constructor(
    kind: CertificateFaultKind,
    message: string,
    pointer: string | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.kind = kind;
    this.pointer = pointer;
  }
}
