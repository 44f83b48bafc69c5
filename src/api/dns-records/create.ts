/** Adds a record to a zone. */
import { endpoint } from "../endpoint.ts";
import { changeOptions, recordAnswer } from "./answer.ts";
import { recordInput, writeQuery } from "./shape.ts";

export const createRecord = endpoint({
  method: "POST",
  path: "/zones/:zone_id/dns_records",
  summary: "Create a DNS record",
  permission: "dns.edit",
  query: writeQuery,
  body: recordInput,
  handle: async ({ zone, body, query, identity }, { records }) =>
    recordAnswer(
      await records.create(zone.id, body, changeOptions(zone, identity, query)),
      query,
      records,
    ),
});
