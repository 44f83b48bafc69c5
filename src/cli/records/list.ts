/** Lists a zone's records. */
import { arg, command, text, texts, toggle } from "../command.ts";
import { findZone, ZONE_HELP } from "../zones/zone.ts";
import { type DnsRecord, fullName, recordColumns } from "./record.ts";

export const listRecords = command({
  path: "record list",
  summary: "list a zone's records",
  args: { zone: arg(ZONE_HELP) },
  options: {
    name: text("NAME", "only this name; @ is the zone's own"),
    type: text("TYPE", "only this type"),
    content: text("TEXT", "only this content"),
    search: text("TEXT", "only where name, content, comment or a tag has this in it"),
    tag: texts("NAME:VALUE", "only those with this tag; may stand more than once"),
    proxied: toggle("only those that are proxied"),
  },
  examples: [
    ["selvedge record list example.com --type MX", "who takes its mail"],
    ["selvedge record list example.com --json | jq length", "how many there are"],
  ],
  json: "one array of records",
  async run({ args, options }, context) {
    const zone = await findZone(context, args.zone);
    const { name, type, content, search, tag, proxied } = options;
    const query = { type, content, search, tag, proxied, order: "name" };
    const found = await context.api.all<DnsRecord>(`/zones/${zone.id}/dns_records`, {
      ...query,
      ...(name !== undefined && { name: fullName(name, zone) }),
    });
    const none = `There are no such records in ${zone.name}.`;
    context.out.list(found, recordColumns(found), none);
  },
});
