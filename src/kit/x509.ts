/**
 * Makes X.509 certificates and requests for them. RFC 5280, RFC 2986; keys are on the curve P-256 and
 * sign with SHA-256: RFC 5480, RFC 5758.
 */
import { createPublicKey, hash, type KeyObject, sign } from "node:crypto";
import { bitString, constructed, context, der, oid, sequence, TAG } from "./der.ts";
import { toPem } from "./pem.ts";

export interface CertificateOptions {
  readonly publicKey: KeyObject;
  /** The common name; what stands beyond 64 characters is cut. */
  readonly subject: string;
  readonly names: readonly string[];
  /** IP addresses, as 4 or 16 octets. */
  readonly addresses: readonly Uint8Array[];
  /** Whether it may sign others; then it names no hosts. */
  readonly isAuthority: boolean;
  readonly issuer: { readonly subject: string; readonly privateKey: KeyObject };
  /** Milliseconds since 1970. */
  readonly validFrom: number;
  readonly validUntil: number;
  /** Octets nobody can foretell, at most 20. */
  readonly serial: Uint8Array;
}

/** Returns it in PEM. */
export function makeCertificate(options: CertificateOptions): string {
  const { privateKey } = options.issuer;
  return toPem("CERTIFICATE", signed(toBeSigned(options), privateKey));
}

/** A request for a certificate of these names (PKCS #10), as DER. */
export function makeRequest(privateKey: KeyObject, names: readonly string[]): Buffer {
  const extensions = sequence(alternativeNames(names, []));
  const wishes = sequence(EXTENSION_REQUEST, der(TAG.set, extensions));
  const info = sequence(
    der(TAG.integer, Buffer.from([VERSION_1])),
    sequence(), // The names stand in the extension; a common name is long out of use.
    spki(createPublicKey(privateKey)),
    der(constructed(0), wishes),
  );
  return signed(info, privateKey);
}

const SIGNATURE_ALGORITHM = sequence(oid("1.2.840.10045.4.3.2")); // ecdsa-with-SHA256
const EXTENSION_REQUEST = oid("1.2.840.113549.1.9.14");
const COMMON_NAME = oid("2.5.4.3");
const SERVER_AUTHENTICATION = oid("1.3.6.1.5.5.7.3.1");
/** X.520's bound. */
const MAX_COMMON_NAME = 64;
/** Bits from the first on, before them how many of the octet are not used. */
const DIGITAL_SIGNATURE = Buffer.from([7, 0x80]);
const SIGN_CERTIFICATES = Buffer.from([1, 0x06]); // And lists of revoked ones.
const TRUE = Buffer.from([0xff]);
const VERSION_1 = 0;
const VERSION_3 = 2;
/** As long as the customary SHA-1 is. */
const KEY_ID_OCTETS = 20;

function signed(content: Buffer, privateKey: KeyObject): Buffer {
  return sequence(content, SIGNATURE_ALGORITHM, bitString(sign("sha256", content, privateKey)));
}

function toBeSigned(options: CertificateOptions): Buffer {
  const { publicKey, issuer, subject, validFrom, validUntil, serial } = options;
  return sequence(
    der(constructed(0), der(TAG.integer, Buffer.from([VERSION_3]))),
    der(TAG.integer, positive(serial)),
    SIGNATURE_ALGORITHM,
    nameOf(issuer.subject),
    sequence(time(validFrom), time(validUntil)),
    nameOf(subject),
    spki(publicKey),
    der(constructed(3), sequence(...extensions(options))),
  );
}

function extensions(options: CertificateOptions): Buffer[] {
  const { publicKey, issuer, isAuthority, names, addresses } = options;
  const issuerKeyId = keyId(createPublicKey(issuer.privateKey));
  const purpose = isAuthority
    ? [
        extension("2.5.29.19", true, sequence(der(TAG.boolean, TRUE))), // basicConstraints
        extension("2.5.29.15", true, der(TAG.bitString, SIGN_CERTIFICATES)), // keyUsage
      ]
    : [
        alternativeNames(names, addresses),
        extension("2.5.29.19", true, sequence()),
        extension("2.5.29.15", true, der(TAG.bitString, DIGITAL_SIGNATURE)),
        extension("2.5.29.37", false, sequence(SERVER_AUTHENTICATION)), // extKeyUsage
      ];
  return [
    ...purpose,
    extension("2.5.29.14", false, der(TAG.octetString, keyId(publicKey))), // subjectKeyIdentifier
    extension("2.5.29.35", false, sequence(der(context(0), issuerKeyId))), // authorityKeyIdentifier
  ];
}

function alternativeNames(names: readonly string[], addresses: readonly Uint8Array[]): Buffer {
  const alternatives = [
    ...names.map((name) => der(context(2), Buffer.from(name, "latin1"))),
    ...addresses.map((octets) => der(context(7), octets)),
  ];
  return extension("2.5.29.17", false, sequence(...alternatives));
}

function extension(id: string, isCritical: boolean, value: Buffer): Buffer {
  const critical = isCritical ? [der(TAG.boolean, TRUE)] : [];
  return sequence(oid(id), ...critical, der(TAG.octetString, value));
}

function nameOf(commonName: string): Buffer {
  const text = Buffer.from(commonName.slice(0, MAX_COMMON_NAME));
  return sequence(der(TAG.set, sequence(COMMON_NAME, der(TAG.utf8String, text))));
}

function spki(publicKey: KeyObject): Buffer {
  return publicKey.export({ type: "spki", format: "der" });
}

/** Any number that is the key's own will do. RFC 5280 §4.2.1.2. */
function keyId(publicKey: KeyObject): Buffer {
  return hash("sha256", spki(publicKey), "buffer").subarray(0, KEY_ID_OCTETS);
}

/** Years up to 2049 have two digits, later ones four. RFC 5280 §4.1.2.5. */
function time(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().replaceAll(/[-:T]|\.\d+/g, "");
  return digits < "2050"
    ? der(TAG.utcTime, Buffer.from(digits.slice(2)))
    : der(TAG.generalizedTime, Buffer.from(digits));
}

/** An integer whose top bit is set would be negative; one that begins with zeros is not DER. */
function positive(octets: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(octets);
  copy[0] = (copy[0]! & 0x7f) | 0x40;
  return copy;
}
