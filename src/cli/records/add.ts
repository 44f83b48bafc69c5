/** Adds a record to a zone. */
import { arg, command, dryRun, optionalArg } from "../command.ts";
import { wrongUsage } from "../fault.ts";
import { findZone, ZONE_HELP } from "../zones/zone.ts";
import { bodyOf, recordOptions } from "./fields.ts";
import { writeRecord } from "./write.ts";

export const addRecord = command({
  path: "record add",
  summary: "add a record",
  args: {
    zone: arg(ZONE_HELP),
    name: arg("www, www.example.com, or @ for the zone's own"),
    type: arg("A, AAAA, CNAME, MX, TXT, SRV, …"),
    content: optionalArg("an address, a host, a text: as a zone file has it"),
  },
  options: { ...recordOptions, dryRun },
  examples: [
    ["selvedge record add example.com www A 192.0.2.1 --proxied", "through the edge"],
    ["selvedge record add example.com @ MX mail.example.com --priority 10", "who takes its mail"],
    ["selvedge record add example.com @ TXT 'v=spf1 -all' --dry-run", "shows what it would do"],
    [
      `selvedge record add example.com @ CAA --fields '{"flags":0,"tag":"issue","value":"ca.test"}'`,
      "field by field",
    ],
  ],
  json: "the record; of a dry run what would change",
  async run({ args, options }, context) {
    if (args.content === undefined && options.fields === undefined) {
      throw wrongUsage("The record needs its content, or --fields.");
    }
    const { name, type, content } = args;
    const body = { type: type.toUpperCase(), name, content, ...bodyOf(options) };
    const zone = await findZone(context, args.zone);
    const path = `/zones/${zone.id}/dns_records`;
    await writeRecord(context, {
      method: "POST",
      path,
      body,
      dryRun: options.dryRun,
      done: "Added",
    });
  },
});
