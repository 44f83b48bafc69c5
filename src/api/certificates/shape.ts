/** Certificates in the API's spelling. */
import { X509Certificate } from "node:crypto";
import { type Certificate, type CertificateState, stateOf } from "#certificates";
import { showTime } from "../shapes.ts";

/** Of those whose names differ from OpenSSL's only in the case of a letter, nobody asks. */
const signatures: Readonly<Record<string, string>> = {
  "ecdsa-with-SHA256": "ECDSAWithSHA256",
  "ecdsa-with-SHA384": "ECDSAWithSHA384",
  sha256WithRSAEncryption: "SHA256WithRSA",
  sha384WithRSAEncryption: "SHA384WithRSA",
};

export function showCustom(certificate: Certificate, now: number): object {
  const { id, zoneId, hosts, bundleMethod, priority } = certificate;
  const { signature, issuer } = readLeaf(certificate.chain!);
  return {
    id,
    type: certificate.type,
    hosts,
    issuer,
    signature,
    status: stateOf(certificate, now),
    bundle_method: bundleMethod,
    geo_restrictions: null,
    zone_id: zoneId,
    uploaded_on: showTime(certificate.createdAt),
    modified_on: showTime(certificate.modifiedAt),
    expires_on: showTime(certificate.notAfter),
    priority,
  };
}

/** Clients know no state for what failed and is tried again; the errors say the rest. */
const packStates = {
  active: "active",
  expired: "expired",
  pending_issuance: "pending_issuance",
  failed: "issuance_timed_out",
} as const satisfies Record<CertificateState, string>;

export function showPack(pack: Certificate, now: number): object {
  const { id, type, hosts, chain, nextAt, wishes, fault } = pack;
  return {
    id,
    type,
    hosts,
    primary_certificate: chain === null ? null : id,
    status: packStates[stateOf(pack, now)],
    certificates: chain === null ? [] : [showPackCertificate(pack, now)],
    validation_method: "txt",
    validity_days: wishes.validityDays ?? 90,
    certificate_authority: wishes.certificateAuthority ?? "lets_encrypt",
    cloudflare_branding: false,
    validation_errors: fault === null ? [] : [{ message: fault }],
    created_on: showTime(pack.createdAt),
    // Ours: when it is issued, renewed or tried again.
    next_attempt_on: nextAt === null ? null : showTime(nextAt),
  };
}

function showPackCertificate(pack: Certificate, now: number): object {
  const { signature, issuer } = readLeaf(pack.chain!);
  return {
    id: pack.id,
    hosts: pack.hosts,
    issuer,
    signature,
    status: stateOf(pack, now),
    bundle_method: pack.bundleMethod,
    zone_id: pack.zoneId,
    uploaded_on: showTime(pack.createdAt),
    modified_on: showTime(pack.modifiedAt),
    expires_on: showTime(pack.notAfter),
    priority: pack.priority,
  };
}

const verificationStates = {
  active: "active",
  expired: "expired",
  pending_issuance: "issuing",
  failed: "timing_out",
} as const satisfies Record<CertificateState, string>;

export function showVerification(pack: Certificate, now: number): object {
  const state = stateOf(pack, now);
  return {
    cert_pack_uuid: pack.id,
    certificate_status: verificationStates[state],
    verification_status: state === "active",
    brand_check: false,
    validation_method: "txt",
    ...(pack.chain !== null && { signature: readLeaf(pack.chain).signature }),
  };
}

function readLeaf(chain: string): { readonly signature: string; readonly issuer: string } {
  const leaf = new X509Certificate(chain);
  const algorithm = leaf.signatureAlgorithm ?? "";
  return { signature: signatures[algorithm] ?? algorithm, issuer: nameIn(leaf.issuer) };
}

/** The organisation, else the common name. */
function nameIn(distinguished: string): string {
  const found = /^O=(.*)$/m.exec(distinguished) ?? /^CN=(.*)$/m.exec(distinguished);
  return found?.[1] ?? distinguished;
}
