/** Lists the zones. */
import { command } from "../command.ts";
import { type Zone, zoneColumns } from "./zone.ts";

export const listZones = command({
  path: "zone list",
  summary: "list the zones",
  description: "Lists the zones of all accounts, or of the one that --account names.",
  examples: [["selvedge zone list", "names, whether they are served, and ids"]],
  json: "one array of zones",
  async run(_, context) {
    const query = context.accountIsNamed ? { "account.id": (await context.account()).id } : {};
    const none = 'There are no zones. "selvedge zone create example.com" makes one.';
    context.out.list(await context.api.all<Zone>("/zones", query), zoneColumns, none);
  },
});
