/** TLSA: the certificate that a TLS server must show. RFC 6698 §2. */
import { dataApi } from "../api.ts";
import type { DataOf } from "../codec.ts";
import { checkAmong, checkDigest } from "../digest.ts";
import type { RecordFault } from "../fault.ts";
import { hexToEnd, numberOr, u8 } from "../fields.ts";
import { defineRecord } from "../record.ts";

/** The mnemonics are those of RFC 7218. */
export const associationFields = {
  usage: numberOr(u8, { "PKIX-TA": 0, "PKIX-EE": 1, "DANE-TA": 2, "DANE-EE": 3, PRIVCERT: 255 }),
  selector: numberOr(u8, { CERT: 0, SPKI: 1, PRIVSEL: 255 }),
  matchingType: numberOr(u8, { FULL: 0, "SHA2-256": 1, "SHA2-512": 2, PRIVMATCH: 255 }),
  certificate: hexToEnd,
};

/** SHA-256 and SHA-512. */
const DIGEST_OCTETS: Readonly<Record<number, number>> = { 1: 32, 2: 64 };

export function checkAssociation(data: DataOf<typeof associationFields>): RecordFault | null {
  return (
    checkAmong("usage", data.usage, [0, 1, 2, 3, 255]) ??
    checkAmong("selector", data.selector, [0, 1, 255]) ??
    checkAmong("matching_type", data.matchingType, [0, 1, 2, 255]) ??
    checkDigest("certificate", data.certificate, DIGEST_OCTETS[data.matchingType])
  );
}

export const TLSA = defineRecord({
  type: "TLSA",
  code: 52,
  fields: associationFields,
  check: checkAssociation,
  api: dataApi(associationFields),
});
