/** Adds the records of a zone file, all or none. */
import { z } from "zod";
import { importZoneFile } from "#zones";
import { endpoint } from "../endpoint.ts";
import { Answer } from "../envelope.ts";
import { showTime } from "../shapes.ts";
import { changeOptions, dryRunAnswer } from "./answer.ts";
import { changeQuery } from "./shape.ts";

const bytes = z.instanceof(Uint8Array, { error: "expected a file" });

export const importRecords = endpoint({
  method: "POST",
  path: "/zones/:zone_id/dns_records/import",
  summary: "Import DNS records from a zone file",
  permission: "dns.edit",
  query: changeQuery,
  form: true,
  body: z.object({
    file: bytes,
    proxied: bytes
      .optional()
      .transform((value) => value !== undefined && String(Buffer.from(value)) === "true"),
  }),
  handle: async ({ zone, body, query, identity }, { records, now }) => {
    const began = now();
    const changed = await records.change(
      zone.id,
      changeOptions(zone, identity, query),
      (draft, rules) => importZoneFile(draft, rules, body.file, body.proxied),
    );
    if (query.dry_run) return dryRunAnswer(changed);
    const { added, parsed } = changed.result;
    const timing = {
      start_time: showTime(began),
      end_time: showTime(now()),
      process_time: (now() - began) / 1000,
    };
    return new Answer({ recs_added: added, total_records_parsed: parsed }, { beside: { timing } });
  },
});
