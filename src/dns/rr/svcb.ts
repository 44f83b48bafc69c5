/** SVCB: how to reach a service, before the first connection. RFC 9460. */
import { dataApi } from "../api.ts";
import { type Codec, type DataOf, inOrder } from "../codec.ts";
import { RecordFault } from "../fault.ts";
import { domainName, u16 } from "../fields.ts";
import { defineRecord } from "../record.ts";
import { checkSvcParams, svcParams } from "../svc-params.ts";

/** `value` holds the parameters, in the API's word for them. */
const fields = { priority: u16, target: domainName({ modern: true }), value: svcParams };

type ServiceData = DataOf<typeof fields>;

const inFieldOrder = inOrder(fields);

const rdata: Codec<ServiceData> = {
  ...inFieldOrder,
  parse: (text) => {
    const data = inFieldOrder.parse(text);
    // An alias has no parameters, and who reads one ignores them. RFC 9460 §2.4.2.
    return data.priority === 0 ? { ...data, value: [] } : data;
  },
  print: (data) => inFieldOrder.print(data).trimEnd(),
};

/** What SVCB and HTTPS have in common, which is everything but name and number. */
export const serviceBinding = {
  rdata,
  // The root stands for the owner, whose addresses the nameserver knows to add itself.
  additional: (data: ServiceData) => (data.target === "." ? [] : [data.target]),
  check: (data: ServiceData) =>
    data.priority === 0 && data.value.length > 0
      ? new RecordFault("bad-field", "value", "An alias (priority 0) cannot have parameters")
      : checkSvcParams(data.value),
  // The target keeps its last dot: octoDNS and dnscontrol read `content` as RFC 9460 text.
  api: dataApi(fields, { content: rdata.print, defaults: { value: [] } }),
};

export const SVCB = defineRecord({ type: "SVCB", code: 64, ...serviceBinding });
