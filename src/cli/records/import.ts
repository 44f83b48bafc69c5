/** Adds the records of a zone file to a zone, all or none. */
import { arg, command, dryRun, flag } from "../command.ts";
import { readInput } from "../read-input.ts";
import { findZone, ZONE_HELP } from "../zones/zone.ts";
import { type DryRun, showDryRun } from "./change.ts";

interface Imported {
  readonly recs_added: number;
  readonly total_records_parsed: number;
}

export const importRecords = command({
  path: "record import",
  summary: "add the records of a zone file, all or none",
  args: { zone: arg(ZONE_HELP), file: arg("a zone file; - is standard input") },
  options: { proxied: flag("proxy those records that can be"), dryRun },
  examples: [
    ["selvedge record import example.com example.com.zone --dry-run", "shows what it would add"],
    ["dig axfr example.com @ns.old.test | selvedge record import example.com -", "moves a zone"],
  ],
  json: "how many records were read and added; of a dry run what would change",
  async run({ args, options }, context) {
    const file = await readInput(args.file, context);
    const zone = await findZone(context, args.zone);
    const body = new FormData();
    body.set("file", new Blob([file as Uint8Array<ArrayBuffer>]), "zone.txt");
    body.set("proxied", String(options.proxied));
    const query = options.dryRun ? { dry_run: true } : {};
    const path = `/zones/${zone.id}/dns_records/import`;
    const result = await context.api.post<Imported | DryRun>(path, body, query);
    const { out } = context;
    if ("dry_run" in result) out.result(result, () => showDryRun(result, out.style));
    else {
      const { recs_added: added, total_records_parsed: read } = result;
      out.result(result, `Added ${added} of the ${read} records in the file to ${zone.name}.`);
    }
  },
});
