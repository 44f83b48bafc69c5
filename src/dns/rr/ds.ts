/** DS: the digest of a child zone's key, kept by the parent. RFC 4034 §5. */
import { dataApi } from "../api.ts";
import type { DataOf } from "../codec.ts";
import { checkDigest } from "../digest.ts";
import type { RecordFault } from "../fault.ts";
import { hexToEnd, numberOr, u16, u8 } from "../fields.ts";
import { defineRecord } from "../record.ts";
import { ALGORITHMS } from "./dnskey.ts";

export const digestFields = {
  keyTag: u16,
  algorithm: numberOr(u8, ALGORITHMS),
  digestType: u8,
  digest: hexToEnd,
};

/** SHA-1, SHA-256, GOST R 34.11-94, SHA-384. RFC 4509, RFC 5933, RFC 6605. */
const DIGEST_OCTETS: Readonly<Record<number, number>> = { 1: 20, 2: 32, 3: 32, 4: 48 };

export function checkKeyDigest(data: DataOf<typeof digestFields>): RecordFault | null {
  return checkDigest("digest", data.digest, DIGEST_OCTETS[data.digestType]);
}

export const DS = defineRecord({
  type: "DS",
  code: 43,
  fields: digestFields,
  check: checkKeyDigest,
  api: dataApi(digestFields),
});
