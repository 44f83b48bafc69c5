/** A: an IPv4 address of a host. RFC 1035 §3.4.1. */
import { contentApi } from "../api.ts";
import { ipv4 } from "../fields.ts";
import { defineRecord } from "../record.ts";

export const A = defineRecord({
  type: "A",
  code: 1,
  proxiable: true,
  fields: { address: ipv4 },
  api: contentApi("address", ipv4.take, ipv4.print),
});
