/** CNAME: the name is an alias of another. RFC 1035 §3.3.1, RFC 2181 §10.1. */
import { domainName } from "../fields.ts";
import { defineRecord } from "../record.ts";
import { addressAsTarget, targetApi } from "../target.ts";

export const CNAME = defineRecord({
  type: "CNAME",
  code: 5,
  proxiable: true,
  fields: { target: domainName({ compress: true }) },
  check: (data) => addressAsTarget(data.target),
  api: targetApi,
});
