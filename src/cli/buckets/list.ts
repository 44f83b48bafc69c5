/** Lists the account's buckets. */
import { command } from "../command.ts";
import { allBuckets, bucketColumns } from "./bucket.ts";

export const listBuckets = command({
  path: "bucket list",
  summary: "list the buckets",
  examples: [["selvedge bucket list --json | jq -r '.[].name'", "their names alone"]],
  json: "one array of buckets",
  async run(_, context) {
    const none = 'There are no buckets. "selvedge bucket create NAME" makes one.';
    context.out.list(await allBuckets(context), bucketColumns, none);
  },
});
