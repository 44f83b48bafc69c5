/** CDNSKEY: the key whose digest a child zone asks its parent to keep. RFC 7344. */
import { dataApi } from "../api.ts";
import { checkAmong } from "../digest.ts";
import { defineRecord } from "../record.ts";
import { keyFields } from "./dnskey.ts";

export const CDNSKEY = defineRecord({
  type: "CDNSKEY",
  code: 60,
  fields: keyFields,
  check: (data) => checkAmong("protocol", data.protocol, [3]),
  api: dataApi(keyFields),
});
