/** Deletes a bucket, which must be empty. */
import { ApiFault } from "../api-fault.ts";
import { arg, command, yes } from "../command.ts";
import { CliFault } from "../fault.ts";
import { bucketPath } from "./bucket.ts";
import { noSuchBucket } from "./info.ts";

const NOT_EMPTY = 10_008;

export const deleteBucket = command({
  path: "bucket delete",
  summary: "delete an empty bucket",
  args: { name: arg("the bucket's name") },
  options: { yes },
  examples: [["selvedge bucket delete photos", "asks first; --yes does not"]],
  json: "the deleted bucket's name",
  async run({ args: { name }, options }, context) {
    const { api, out } = context;
    const path = await bucketPath(context, name);
    if (!options.yes) await context.confirm(`Delete the bucket ${name}?`, "Nothing was deleted.");
    try {
      await api.delete(path);
    } catch (error) {
      if (!(error instanceof ApiFault)) throw error;
      if (error.kind === "not-found") throw await noSuchBucket(context, name, error);
      if (!error.errors.some(({ code }) => code === NOT_EMPTY)) throw error;
      const advice = `Empty it with "selvedge object delete ${name} --prefix ''" first.`;
      throw new CliFault("failed", `The bucket ${name} is not empty. ${advice}`, { cause: error });
    }
    out.result({ name }, `Deleted the bucket ${name}.`);
  },
});
