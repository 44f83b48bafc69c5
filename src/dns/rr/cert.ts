/** CERT: a certificate or a revocation list. RFC 4398. */
import { dataApi } from "../api.ts";
import { base64ToEnd, numberOr, u16, u8 } from "../fields.ts";
import { defineRecord } from "../record.ts";
import { ALGORITHMS } from "./dnskey.ts";

/** RFC 4398 §2.1. */
const CERTIFICATE_TYPES = {
  PKIX: 1,
  SPKI: 2,
  PGP: 3,
  IPKIX: 4,
  ISPKI: 5,
  IPGP: 6,
  ACPKIX: 7,
  IACPKIX: 8,
  URI: 253,
  OID: 254,
} as const;

const fields = {
  type: numberOr(u16, CERTIFICATE_TYPES),
  keyTag: u16,
  algorithm: numberOr(u8, ALGORITHMS),
  certificate: base64ToEnd,
};

export const CERT = defineRecord({ type: "CERT", code: 37, fields, api: dataApi(fields) });
