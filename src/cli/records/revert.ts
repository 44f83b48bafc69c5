/** Brings a zone's records back to what they were at a serial. */
import { arg, command, dryRun, yes } from "../command.ts";
import { wrongUsage } from "../fault.ts";
import { findZone, ZONE_HELP } from "../zones/zone.ts";
import { changeLines, type DryRun, showDryRun, summary } from "./change.ts";

interface Reverted {
  readonly serial: number;
  readonly reverted_to: number;
  readonly records_changed: number;
}

export const revertRecords = command({
  path: "record revert",
  summary: "bring a zone's records back to an earlier serial",
  description:
    "Brings all records of a zone back to what they were at a serial of its history, in one change. Shows that change and asks before.",
  args: { zone: arg(ZONE_HELP), serial: arg("a serial that record history shows") },
  options: { dryRun, yes },
  examples: [["selvedge record revert example.com 1794714268", "asks first; --yes does not"]],
  json: "the new serial and how many records changed; of a dry run what would change",
  async run({ args, options }, context) {
    const { api, out } = context;
    const serial = Number(args.serial);
    if (!/^\d{1,10}$/.test(args.serial)) throw wrongUsage(`"${args.serial}" is no serial.`);
    const zone = await findZone(context, args.zone);
    const path = `/zones/${zone.id}/dns_records/revert`;
    const dry = await api.post<DryRun>(path, { serial }, { dry_run: true });
    if (options.dryRun) {
      out.result(dry, () => showDryRun(dry, out.style));
      return;
    }
    if (dry.changes.length > 0) {
      out.note(`${changeLines(dry.changes, out.noteStyle)}\n${summary(dry.changes)}`);
      const question = `Bring ${zone.name} back to serial ${serial}?`;
      if (!options.yes) await context.confirm(question, "Nothing was changed.");
    }
    const done = await api.post<Reverted>(path, { serial });
    out.result(
      done,
      `${zone.name} is as it was at serial ${serial}; its serial is ${done.serial}.`,
    );
  },
});
