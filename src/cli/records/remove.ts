/** Removes a record. */
import { arg, command, dryRun, optionalArg } from "../command.ts";
import { visible } from "../table.ts";
import { findZone, ZONE_HELP } from "../zones/zone.ts";
import { type DryRun, showDryRun } from "./change.ts";
import { findRecord, RECORD_HELP, recordLine, TYPE_HELP } from "./record.ts";

export const removeRecord = command({
  path: "record remove",
  summary: "remove a record",
  description: "Removes a record. The zone's history keeps it: see record revert.",
  args: { zone: arg(ZONE_HELP), record: arg(RECORD_HELP), type: optionalArg(TYPE_HELP) },
  options: { dryRun },
  examples: [["selvedge record remove example.com www AAAA", "the one AAAA record of www"]],
  json: "the removed record; of a dry run what would change",
  async run({ args, options }, context) {
    const { api, out } = context;
    const zone = await findZone(context, args.zone);
    const record = await findRecord(api, zone, args.record, args.type);
    const path = `/zones/${zone.id}/dns_records/${record.id}`;
    if (options.dryRun) {
      const dry = await api.delete<DryRun>(path, { dry_run: true });
      out.result(dry, () => showDryRun(dry, out.style));
      return;
    }
    await api.delete(path);
    out.result(record, `Removed ${visible(recordLine(record))}`);
  },
});
