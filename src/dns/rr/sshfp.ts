/** SSHFP: the fingerprint of a host's SSH key. RFC 4255, RFC 6594, RFC 7479. */
import { dataApi } from "../api.ts";
import { checkDigest } from "../digest.ts";
import { hexToEnd, u8 } from "../fields.ts";
import { defineRecord } from "../record.ts";

const fields = { algorithm: u8, type: u8, fingerprint: hexToEnd };

/** SHA-1 and SHA-256. */
const FINGERPRINT_OCTETS: Readonly<Record<number, number>> = { 1: 20, 2: 32 };

export const SSHFP = defineRecord({
  type: "SSHFP",
  code: 44,
  fields,
  check: (data) => checkDigest("fingerprint", data.fingerprint, FINGERPRINT_OCTETS[data.type]),
  api: dataApi(fields),
});
