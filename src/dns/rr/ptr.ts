/** PTR: the host that an address belongs to. RFC 1035 §3.3.12. */
import { domainName } from "../fields.ts";
import { defineRecord } from "../record.ts";
import { addressAsTarget, targetApi } from "../target.ts";

export const PTR = defineRecord({
  type: "PTR",
  code: 12,
  fields: { target: domainName({ compress: true }) },
  check: (data) => addressAsTarget(data.target),
  api: targetApi,
});
