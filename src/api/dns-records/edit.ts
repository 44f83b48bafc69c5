/** Changes of a record what is given. */
import { endpoint } from "../endpoint.ts";
import { changeOptions, recordAnswer } from "./answer.ts";
import { changeQuery, recordInput } from "./shape.ts";

export const editRecord = endpoint({
  method: "PATCH",
  path: "/zones/:zone_id/dns_records/:record_id",
  summary: "Change a DNS record",
  permission: "dns.edit",
  query: changeQuery,
  body: recordInput,
  handle: async ({ zone, params, body, query, identity }, { records }) => {
    const options = changeOptions(identity, query);
    return recordAnswer(
      await records.edit(zone.id, params.record_id, body, options),
      query.dry_run,
    );
  },
});
