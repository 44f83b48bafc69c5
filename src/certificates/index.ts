/**
 * Certificates. Each is a row of a zone: a user's own (`custom-certificates.ts`) or a pack that ACME brings
 * (`packs.ts`), with its key sealed. All lie in memory too, where `Certificates.forHost` finds the one that
 * serves a hostname; nodes on one database follow each other by a log (`certificate-store.ts`). The `Issuer`
 * orders and renews packs (`acme/`: RFC 8555 with proofs in DNS). Where there is none yet, an authority of
 * this installation serves (`local-authority.ts`).
 */
export type { PublishChallenge } from "./acme/order.ts";
export { addCertificateMetrics } from "./certificate-metrics.ts";
export type { CertificateListener } from "./certificate-store.ts";
export { Certificates, type CertificatesOptions } from "./certificates.ts";
export type { CustomInput } from "./custom-certificates.ts";
export { CertificateFault, type CertificateFaultKind } from "./fault.ts";
export { type AcmeSettings, Issuer, type IssuerOptions } from "./issuer.ts";
export { LocalAuthority } from "./local-authority.ts";
export {
  type Certificate,
  type CertificateState,
  type CertifiedZone,
  type ServedCertificate,
  stateOf,
} from "./model.ts";
export { certificateMigrations } from "./schema.ts";
