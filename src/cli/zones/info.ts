/** Shows a zone. */
import { arg, command } from "../command.ts";
import { showTime } from "../units.ts";
import { findZone, ZONE_HELP } from "./zone.ts";

export const showZone = command({
  path: "zone info",
  summary: "show a zone",
  args: { zone: arg(ZONE_HELP) },
  examples: [["selvedge zone info example.com", "its id, state and name servers"]],
  json: "the zone",
  async run({ args }, context) {
    const zone = await findZone(context, args.zone);
    context.out.result(zone, () =>
      context.out.fields([
        ["Name", zone.name],
        ["Id", zone.id],
        ["Status", zone.paused ? `${zone.status}, paused` : zone.status],
        ["Type", zone.type],
        ["Name servers", zone.name_servers.join(", ")],
        ["Account", `${zone.account.name} (${zone.account.id})`],
        ["Created", showTime(zone.created_on)],
        ["Changed", showTime(zone.modified_on)],
      ]),
    );
  },
});
