/** What is known of a certificate. */

/** Packs come by ACME: `universal` by itself for a zone that has proxied names, `advanced` when asked for. */
export type PackType = "universal" | "advanced";
/** Those of users. The legacy kind stands before the other; here both need SNI. */
export type CustomType = "sni_custom" | "legacy_custom";

export interface Certificate {
  readonly id: string;
  readonly zoneId: string;
  readonly type: PackType | CustomType;
  /** Names and wildcards, in lower case. */
  readonly hosts: readonly string[];
  /** In PEM, the leaf first; null until it has been issued. */
  readonly chain: string | null;
  /** The key of the chain, as PEM; sealed. */
  readonly sealedKey: Uint8Array | null;
  readonly notBefore: number;
  readonly notAfter: number;
  /** Of a user's. */
  readonly bundleMethod: string;
  /** Of a user's: the higher is used first. */
  readonly priority: number;
  /** What a pack was asked for with; the authority decides. */
  readonly wishes: PackWishes;
  readonly createdAt: number;
  readonly modifiedAt: number;
  /** The order under way; null when there is none. */
  readonly order: PendingOrder | null;
  /** When a pack is to be issued, renewed or tried again; null for a user's. */
  readonly nextAt: number | null;
  /** How often in a row that failed, and why the last time. */
  readonly failures: number;
  readonly fault: string | null;
  /** Counts the changes. */
  readonly revision: number;
}

export interface PackWishes {
  readonly certificateAuthority?: string;
  readonly validityDays?: number;
}

/** An order at an ACME server, taken up again wherever it was left. */
export interface PendingOrder {
  readonly directory: string;
  readonly url: string;
  /** The key that the certificate will have: PEM, sealed, in base64. */
  readonly sealedKey: string;
}

/** The zone that a certificate is for. */
export interface CertifiedZone {
  readonly id: string;
  readonly name: string;
}

/** What TLS needs to serve a hostname. The object stays the same as long as what it holds. */
export interface ServedCertificate {
  readonly id: string;
  readonly source: "custom" | "acme" | "local";
  /** The chain and the key, in PEM. */
  readonly cert: string;
  readonly key: string;
  readonly notAfter: number;
}

export type CertificateState = "active" | "expired" | "pending_issuance" | "failed";

export function isCustom({ type }: Certificate): boolean {
  return type === "sni_custom" || type === "legacy_custom";
}

export function stateOf({ chain, notAfter, failures }: Certificate, now: number): CertificateState {
  if (chain !== null) return notAfter > now ? "active" : "expired";
  return failures > 0 ? "failed" : "pending_issuance";
}

/** One that has nothing yet but what it is. */
export function blankCertificate(
  identity: Pick<Certificate, "id" | "zoneId" | "type" | "createdAt">,
): Certificate {
  return {
    ...identity,
    hosts: [],
    chain: null,
    sealedKey: null,
    notBefore: 0,
    notAfter: 0,
    bundleMethod: "ubiquitous",
    priority: 0,
    wishes: {},
    modifiedAt: identity.createdAt,
    order: null,
    nextAt: null,
    failures: 0,
    fault: null,
    revision: 1,
  };
}
