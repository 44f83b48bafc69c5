/** Deletes a bucket's CORS rules. */
import { askBucket } from "../buckets/ask.ts";
import { arg, command, yes } from "../command.ts";
import { CliFault } from "../fault.ts";
import { corsRules } from "./cors.ts";

export const deleteCors = command({
  path: "bucket cors delete",
  summary: "delete a bucket's CORS rules, all of them",
  args: { bucket: arg("the bucket's name") },
  options: { yes },
  examples: [["selvedge bucket cors delete photos", "asks first; --yes does not"]],
  json: "one array of the deleted rules",
  async run({ args: { bucket }, options }, context) {
    const rules = await corsRules(context, bucket);
    if (rules.length === 0) throw new CliFault("not-found", `${bucket} has no CORS rules.`);
    if (!options.yes) {
      await context.confirm(`Delete the CORS rules of ${bucket}?`, "Nothing was deleted.");
    }
    await askBucket(context, bucket, { method: "DELETE", place: "cors" });
    context.out.result(rules, `Deleted the CORS rules of ${bucket}.`);
  },
});
