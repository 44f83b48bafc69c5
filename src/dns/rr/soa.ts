/**
 * SOA: who runs the zone, and how its copies are kept. RFC 1035 §3.3.13. The service writes it itself,
 * so the API never takes one.
 */
import { dataApi } from "../api.ts";
import { domainName, seconds, u32 } from "../fields.ts";
import { defineRecord } from "../record.ts";

const fields = {
  mname: domainName({ compress: true }),
  rname: domainName({ compress: true }), // Its first label is what stands before the `@`.
  serial: u32,
  refresh: seconds,
  retry: seconds,
  expire: seconds,
  minimum: seconds,
};

export const SOA = defineRecord({ type: "SOA", code: 6, fields, api: dataApi(fields) });
