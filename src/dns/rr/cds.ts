/** CDS: the DS that a child zone asks its parent to keep. RFC 7344. */
import { dataApi } from "../api.ts";
import { defineRecord } from "../record.ts";
import { checkKeyDigest, digestFields } from "./ds.ts";

export const CDS = defineRecord({
  type: "CDS",
  code: 59,
  fields: digestFields,
  // Algorithm 0 asks the parent to remove its DS, and the rest means nothing. RFC 8078 §4.
  check: (data) => (data.algorithm === 0 ? null : checkKeyDigest(data)),
  api: dataApi(digestFields),
});
