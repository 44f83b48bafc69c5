/** Sets a record anew: what is not given goes to its default. */
import { endpoint } from "../endpoint.ts";
import { changeOptions, recordAnswer } from "./answer.ts";
import { recordInput, writeQuery } from "./shape.ts";

export const overwriteRecord = endpoint({
  method: "PUT",
  path: "/zones/:zone_id/dns_records/:record_id",
  summary: "Overwrite a DNS record",
  permission: "dns.edit",
  query: writeQuery,
  body: recordInput,
  handle: async ({ zone, params, body, query, identity }, { records }) => {
    const options = changeOptions(zone, identity, query);
    const changed = await records.overwrite(zone.id, params.record_id, body, options);
    return recordAnswer(changed, query, records);
  },
});
