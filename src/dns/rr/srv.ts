/** SRV: the hosts and ports of a service. RFC 2782. */
import { dataApi, priorityOf } from "../api.ts";
import { domainName, u16 } from "../fields.ts";
import { withoutDot } from "../name.ts";
import { defineRecord } from "../record.ts";
import { addressAsTarget } from "../target.ts";

const fields = { priority: u16, weight: u16, port: u16, target: domainName() };

export const SRV = defineRecord({
  type: "SRV",
  code: 33,
  fields,
  // The root as target means that there is no such service.
  additional: (data) => (data.target === "." ? [] : [data.target]),
  check: (data) => addressAsTarget(data.target),
  api: dataApi(fields, {
    content: (data) => `${data.weight} ${data.port} ${withoutDot(data.target)}`,
    // The priority stands beside the content, but the form of RFC 2782 has it in front.
    parse: (text, input) => ({
      priority: text.left > 3 ? u16.parse(text, "priority") : (priorityOf(input) ?? 0),
      weight: u16.parse(text, "weight"),
      port: u16.parse(text, "port"),
      target: fields.target.parse(text, "target"),
    }),
    // Differs from Cloudflare: libdns leaves out what is 0, and there gets error 9101.
    defaults: { priority: 0, weight: 0 },
    beside: (data) => ({ priority: data.priority }),
    give: { target: withoutDot },
  }),
});
