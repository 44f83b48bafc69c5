/** Brings a zone's records back to what they were at a serial, in one atomic change. */
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { changeOptions, dryRunAnswer } from "./answer.ts";
import { changeQuery } from "./shape.ts";

export const revertRecords = endpoint({
  method: "POST",
  path: "/zones/:zone_id/dns_records/revert",
  summary: "Bring DNS records back to an earlier serial",
  permission: "dns.edit",
  query: changeQuery,
  body: z.object({ serial: z.number().int().min(0) }),
  handle: async ({ zone, body, query, identity }, { records }) => {
    const changed = await records.revert(
      zone.id,
      body.serial,
      changeOptions(zone, identity, query),
    );
    if (query.dry_run) return dryRunAnswer(changed);
    return {
      serial: changed.zone.serial,
      reverted_to: body.serial,
      records_changed: changed.result,
    };
  },
});
