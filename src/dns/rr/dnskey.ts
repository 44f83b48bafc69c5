/** DNSKEY: a key that signs the zone. RFC 4034 §2. */
import { dataApi } from "../api.ts";
import { checkAmong } from "../digest.ts";
import { base64ToEnd, numberOr, u16, u8 } from "../fields.ts";
import { defineRecord } from "../record.ts";

/** Mnemonics of signing algorithms. RFC 4034 §A.1 and the IANA registry. */
export const ALGORITHMS = {
  RSAMD5: 1,
  DH: 2,
  DSA: 3,
  RSASHA1: 5,
  "DSA-NSEC3-SHA1": 6,
  "RSASHA1-NSEC3-SHA1": 7,
  RSASHA256: 8,
  RSASHA512: 10,
  "ECC-GOST": 12,
  ECDSAP256SHA256: 13,
  ECDSAP384SHA384: 14,
  ED25519: 15,
  ED448: 16,
  INDIRECT: 252,
  PRIVATEDNS: 253,
  PRIVATEOID: 254,
} as const;

export const keyFields = {
  flags: u16,
  protocol: u8,
  algorithm: numberOr(u8, ALGORITHMS),
  publicKey: base64ToEnd,
};

export const DNSKEY = defineRecord({
  type: "DNSKEY",
  code: 48,
  fields: keyFields,
  // Any other value makes validators ignore the key. RFC 4034 §2.1.2.
  check: (data) => checkAmong("protocol", data.protocol, [3]),
  api: dataApi(keyFields),
});
