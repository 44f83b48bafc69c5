/** NS: a server that is authoritative for the zone at this name. RFC 1035 §3.3.11. */
import { domainName } from "../fields.ts";
import { defineRecord } from "../record.ts";
import { addressAsTarget, rootAsTarget, targetApi } from "../target.ts";

export const NS = defineRecord({
  type: "NS",
  code: 2,
  fields: { target: domainName({ compress: true }) },
  // Glue, when the server lies below the delegation. RFC 9471.
  additional: (data) => [data.target],
  check: (data) => addressAsTarget(data.target) ?? rootAsTarget(data.target),
  api: targetApi,
});
