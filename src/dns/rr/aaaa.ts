/** AAAA: an IPv6 address of a host. RFC 3596 §2. */
import { contentApi } from "../api.ts";
import { ipv6 } from "../fields.ts";
import { defineRecord } from "../record.ts";

export const AAAA = defineRecord({
  type: "AAAA",
  code: 28,
  proxiable: true,
  fields: { address: ipv6 },
  api: contentApi("address", ipv6.take, ipv6.print),
});
