/** Makes a zone. */
import { arg, choice, command } from "../command.ts";
import type { Zone } from "./zone.ts";

export const createZone = command({
  path: "zone create",
  summary: "make a zone",
  args: { name: arg("a domain name, such as example.com") },
  options: { type: choice(["full", "partial", "secondary", "internal"], "full unless told") },
  examples: [["selvedge zone create example.com", "and DNS answers for it at once"]],
  json: "the zone",
  async run({ args, options }, context) {
    const { id } = await context.account();
    const body = { name: args.name, account: { id }, type: options.type };
    const zone = await context.api.post<Zone>("/zones", body);
    const servers = zone.name_servers.join(", ");
    context.out.result(zone, `Made the zone ${zone.name}. Delegate it to ${servers}.`);
  },
});
