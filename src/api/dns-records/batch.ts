/** Deletes, changes, overwrites and adds records in one atomic change. */
import { endpoint } from "../endpoint.ts";
import { changeOptions, dryRunAnswer } from "./answer.ts";
import { batchInput, changeQuery, showRecord } from "./shape.ts";

export const batchRecords = endpoint({
  method: "POST",
  path: "/zones/:zone_id/dns_records/batch",
  summary: "Change many DNS records at once",
  permission: "dns.edit",
  query: changeQuery,
  body: batchInput,
  handle: async ({ zone, body, query, identity }, { records }) => {
    const batch = {
      deletes: (body.deletes ?? []).map(({ id }) => id),
      patches: body.patches ?? [],
      puts: body.puts ?? [],
      posts: body.posts ?? [],
    };
    const changed = await records.batch(zone.id, batch, changeOptions(identity, query));
    if (query.dry_run) return dryRunAnswer(changed);
    const { deletes, patches, puts, posts } = changed.result;
    const show = (list: typeof deletes) => list.map((record) => showRecord(changed.zone, record));
    return { deletes: show(deletes), patches: show(patches), puts: show(puts), posts: show(posts) };
  },
});
