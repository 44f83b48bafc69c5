/** Prints a zone as a zone file. */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { arg, command, optionalArg } from "../command.ts";
import { fileFault } from "../file-fault.ts";
import { findZone, ZONE_HELP } from "../zones/zone.ts";

export const exportRecords = command({
  path: "record export",
  summary: "print a zone as a zone file",
  args: { zone: arg(ZONE_HELP), file: optionalArg("where to; standard output without it") },
  examples: [
    ["selvedge record export example.com example.com.zone", "record import takes it back"],
  ],
  json: "an object with the zone's name and the file's text, or its path",
  async run({ args }, context) {
    const { out, cwd } = context;
    const { id, name } = await findZone(context, args.zone);
    const text = await context.api.text(`/zones/${id}/dns_records/export`);
    if (args.file === undefined) {
      out.result({ zone: name, text }, text.trimEnd());
      return;
    }
    const path = resolve(cwd, args.file);
    await writeFile(path, text).catch((error: unknown) => {
      throw fileFault("write", args.file!, error);
    });
    out.result({ zone: name, file: path }, `Wrote ${name} to ${args.file}.`);
  },
});
