/** Deletes a zone with all that is in it. */
import { arg, command, yes } from "../command.ts";
import { findZone, ZONE_HELP } from "./zone.ts";

export const deleteZone = command({
  path: "zone delete",
  summary: "delete a zone with its records and their history",
  args: { zone: arg(ZONE_HELP) },
  options: { yes },
  examples: [["selvedge zone delete example.com", "asks first; --yes does not"]],
  json: "the deleted zone's id and name",
  async run({ args, options }, context) {
    const { id, name } = await findZone(context, args.zone);
    const question = `Delete the zone ${name} with all its records and their history?`;
    if (!options.yes) await context.confirm(question, "Nothing was deleted.");
    await context.api.delete(`/zones/${id}`);
    context.out.result({ id, name }, `Deleted the zone ${name}.`);
  },
});
