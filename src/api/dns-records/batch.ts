/** Deletes, changes, overwrites and adds records in one atomic change. */
import { endpoint } from "../endpoint.ts";
import { changeOptions, dryRunAnswer, showRecords } from "./answer.ts";
import { batchInput, showRecord, writeQuery } from "./shape.ts";

export const batchRecords = endpoint({
  method: "POST",
  path: "/zones/:zone_id/dns_records/batch",
  summary: "Change many DNS records at once",
  permission: "dns.edit",
  query: writeQuery,
  body: batchInput,
  handle: async ({ zone, body, query, identity }, { records }) => {
    const batch = {
      deletes: (body.deletes ?? []).map(({ id }) => id),
      patches: body.patches ?? [],
      puts: body.puts ?? [],
      posts: body.posts ?? [],
    };
    const changed = await records.batch(zone.id, batch, changeOptions(zone, identity, query));
    if (query.dry_run) return dryRunAnswer(changed);
    const { deletes, patches, puts, posts } = changed.result;
    const shown = await showRecords(changed.zone, [...patches, ...puts, ...posts], query, records);
    return {
      // What is gone has no place below a delegation any more.
      deletes: deletes.map((record) => showRecord(changed.zone, record)),
      patches: shown.splice(0, patches.length),
      puts: shown.splice(0, puts.length),
      posts: shown,
    };
  },
});
