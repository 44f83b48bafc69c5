/** Changes a record: what is given, and nothing else. */
import { arg, command, dryRun, optionalArg, text } from "../command.ts";
import { wrongUsage } from "../fault.ts";
import { findZone, ZONE_HELP } from "../zones/zone.ts";
import { bodyOf, recordOptions } from "./fields.ts";
import { findRecord, RECORD_HELP, TYPE_HELP } from "./record.ts";
import { writeRecord } from "./write.ts";

export const editRecord = command({
  path: "record edit",
  summary: "change a record",
  args: { zone: arg(ZONE_HELP), record: arg(RECORD_HELP), type: optionalArg(TYPE_HELP) },
  options: {
    content: text("TEXT", "its new content"),
    name: text("NAME", "its new name"),
    ...recordOptions,
    dryRun,
  },
  examples: [
    ["selvedge record edit example.com www A --content 192.0.2.2", "another address"],
    ["selvedge record edit example.com www --no-proxied --ttl 60", "no longer through the edge"],
  ],
  json: "the record; of a dry run what would change",
  async run({ args, options }, context) {
    const { content, name } = options;
    const body = {
      ...(content !== undefined && { content }),
      ...(name !== undefined && { name }),
      ...bodyOf(options),
    };
    if (Object.keys(body).length === 0) {
      throw wrongUsage("Nothing to change is given. Give --content, --name, --ttl or another.");
    }
    const zone = await findZone(context, args.zone);
    const { id } = await findRecord(context.api, zone, args.record, args.type);
    const path = `/zones/${zone.id}/dns_records/${id}`;
    const { dryRun } = options;
    await writeRecord(context, { method: "PATCH", path, body, dryRun, done: "Changed" });
  },
});
