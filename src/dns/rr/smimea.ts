/** SMIMEA: the certificate of a mail address, in the form of TLSA. RFC 8162. */
import { dataApi } from "../api.ts";
import { defineRecord } from "../record.ts";
import { associationFields, checkAssociation } from "./tlsa.ts";

export const SMIMEA = defineRecord({
  type: "SMIMEA",
  code: 53,
  fields: associationFields,
  check: checkAssociation,
  api: dataApi(associationFields),
});
