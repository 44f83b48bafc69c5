/** Deletes a record. */
import { endpoint } from "../endpoint.ts";
import { changeOptions, dryRunAnswer } from "./answer.ts";
import { changeQuery } from "./shape.ts";

export const removeRecord = endpoint({
  method: "DELETE",
  path: "/zones/:zone_id/dns_records/:record_id",
  summary: "Delete a DNS record",
  permission: "dns.edit",
  query: changeQuery,
  handle: async ({ zone, params, query, identity }, { records }) => {
    const changed = await records.remove(
      zone.id,
      params.record_id,
      changeOptions(zone, identity, query),
    );
    return query.dry_run ? dryRunAnswer(changed) : { id: params.record_id };
  },
});
