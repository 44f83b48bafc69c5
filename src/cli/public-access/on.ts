/** Lets anyone read a bucket over S3. */
import { arg, command, flag, yes } from "../command.ts";
import { publicUrl, S3_IS_OFF, setPublicAccess } from "./public-access.ts";

export const publicOn = command({
  path: "bucket public on",
  summary: "let anyone read a bucket over S3",
  description:
    "Lets anyone read every object of a bucket over S3, without an access key. Nobody can write. For a hostname of your own see bucket domain add.",
  args: { bucket: arg("the bucket's name") },
  options: { listing: flag("let anyone list the objects, too; without it nobody can"), yes },
  examples: [
    ["selvedge bucket public on photos", "asks first; --yes does not"],
    ["selvedge bucket public on photos --listing", "its keys are public, too"],
  ],
  json: "what the API has, with the url",
  async run({ args: { bucket }, options: { listing, yes } }, context) {
    const { out } = context;
    const read = listing ? "read and list" : "read";
    if (!yes) {
      const question = `Let anyone ${read} the objects of ${bucket}, without an access key?`;
      await context.confirm(question, "Nothing was changed.");
    }
    const access = await setPublicAccess(context, bucket, { enabled: true, listing });
    const url = publicUrl(context, access);
    const where = url === null ? "" : `: ${url}/KEY`;
    out.result({ ...access, url }, `Anyone can ${read} the objects of ${bucket} now${where}`);
    if (url === null) out.warn(`Nobody reaches them there: ${S3_IS_OFF}.`);
  },
});
