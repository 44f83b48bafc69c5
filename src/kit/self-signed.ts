/** Makes an X.509 certificate that vouches for itself. RFC 5280; ECDSA with P-256, RFC 5480, RFC 5758. */
import { createPublicKey, type KeyObject, sign } from "node:crypto";

export interface SelfSignedOptions {
  /** On the curve P-256. */
  readonly privateKey: KeyObject;
  readonly names: readonly string[];
  /** IP addresses, as 4 or 16 octets. */
  readonly addresses: readonly Uint8Array[];
  /** Milliseconds since 1970. */
  readonly validFrom: number;
  readonly validUntil: number;
  /** Octets nobody can foretell, at most 20. */
  readonly serial: Uint8Array;
}

/** Returns it in PEM. */
export function selfSigned(options: SelfSignedOptions): string {
  const signed = toBeSigned(options);
  const signature = sign("sha256", signed, options.privateKey);
  const certificate = sequence(signed, SIGNATURE_ALGORITHM, bitString(signature));
  const lines = certificate.toString("base64").replaceAll(/.{1,64}/g, "$&\n");
  return `-----BEGIN CERTIFICATE-----\n${lines}-----END CERTIFICATE-----\n`;
}

/** DER's tags. X.690 §8. */
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;
/** Tags that a structure gives a meaning of its own; constructed ones hold others. */
const context = (number: number) => 0x80 | number;
const constructed = (number: number) => 0xa0 | number;

const SIGNATURE_ALGORITHM = sequence(oid("1.2.840.10045.4.3.2")); // ecdsa-with-SHA256
const COMMON_NAME = oid("2.5.4.3");
const SERVER_AUTHENTICATION = oid("1.3.6.1.5.5.7.3.1");
/** X.520's bound. */
const MAX_COMMON_NAME = 64;
/** A single bit, the first: seven of the octet's are not used. */
const DIGITAL_SIGNATURE = Buffer.from([7, 0x80]);
const VERSION_3 = 2;

function toBeSigned(options: SelfSignedOptions): Buffer {
  const { privateKey, validFrom, validUntil, serial, names } = options;
  const publicKey = createPublicKey(privateKey).export({ type: "spki", format: "der" });
  const commonName = (names[0] ?? "localhost").slice(0, MAX_COMMON_NAME);
  const self = sequence(
    der(TAG.set, sequence(COMMON_NAME, der(TAG.utf8String, Buffer.from(commonName)))),
  );
  return sequence(
    der(constructed(0), der(TAG.integer, Buffer.from([VERSION_3]))),
    der(TAG.integer, positive(serial)),
    SIGNATURE_ALGORITHM,
    self, // Issuer and
    sequence(time(validFrom), time(validUntil)),
    self, // subject are the same.
    publicKey,
    der(constructed(3), sequence(...extensions(options))),
  );
}

function extensions({ names, addresses }: SelfSignedOptions): Buffer[] {
  const alternatives = [
    ...names.map((name) => der(context(2), Buffer.from(name, "latin1"))),
    ...addresses.map((octets) => der(context(7), octets)),
  ];
  return [
    extension("2.5.29.17", false, sequence(...alternatives)), // subjectAltName
    extension("2.5.29.19", true, sequence()), // basicConstraints: not an authority
    extension("2.5.29.15", true, der(TAG.bitString, DIGITAL_SIGNATURE)), // keyUsage
    extension("2.5.29.37", false, sequence(SERVER_AUTHENTICATION)), // extKeyUsage
  ];
}

function extension(id: string, isCritical: boolean, value: Buffer): Buffer {
  const critical = isCritical ? [der(TAG.boolean, Buffer.from([0xff]))] : [];
  return sequence(oid(id), ...critical, der(TAG.octetString, value));
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

function bitString(octets: Uint8Array): Buffer {
  return der(TAG.bitString, Buffer.from([0]), octets); // All bits of the last octet are used.
}

/** The first two numbers share an octet; each other is in groups of seven bits. X.690 §8.19. */
function oid(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split(".").map(Number);
  const octets = [first * 40 + second, ...rest].flatMap((number) => {
    const groups = [number & 0x7f];
    for (let left = number >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    return groups;
  });
  return der(TAG.objectIdentifier, Buffer.from(octets));
}

function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(TAG.sequence, ...parts);
}

/** Tag, length, value. A length from 128 on stands behind an octet that says how long it is. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const value = Buffer.concat(parts);
  const head =
    value.length < 0x80
      ? [tag, value.length]
      : value.length < 0x100
        ? [tag, 0x81, value.length]
        : [tag, 0x82, value.length >> 8, value.length & 0xff];
  return Buffer.concat([Buffer.from(head), value]);
}
