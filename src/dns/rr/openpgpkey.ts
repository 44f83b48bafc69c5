/** OPENPGPKEY: the OpenPGP key of a mail address. RFC 7929. */
import { contentApi } from "../api.ts";
import { base64ToEnd } from "../fields.ts";
import { defineRecord } from "../record.ts";

export const OPENPGPKEY = defineRecord({
  type: "OPENPGPKEY",
  code: 61,
  fields: { key: base64ToEnd },
  api: contentApi("key", base64ToEnd.take, base64ToEnd.print),
});
