/** Shows the zone as a zone file, in the order of types. */
import { comparing, exportHead, exportLine, type ZoneRecord } from "#zones";
import { endpoint } from "../endpoint.ts";
import { TextAnswer } from "../envelope.ts";

export const exportRecords = endpoint({
  method: "GET",
  path: "/zones/:zone_id/dns_records/export",
  summary: "Export DNS records as a zone file",
  permission: "dns.read",
  handle: async ({ zone }, { records, nameservers, now }) => {
    const all: ZoneRecord[] = [];
    for await (const stretch of records.all(zone)) all.push(...stretch);
    all.sort(comparing("type", "asc"));
    const lines = exportHead(zone, nameservers, now());
    let type = "";
    for (const record of all) {
      if (record.type !== type) lines.push("", `;; ${record.type} Records`);
      type = record.type;
      lines.push(exportLine(record));
    }
    return new TextAnswer(`${lines.join("\n")}\n`, `${zone.name}.txt`);
  },
});
