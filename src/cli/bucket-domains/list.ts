/** Lists the hostnames of a bucket. */
import { arg, command } from "../command.ts";
import { bucketDomains, domainColumns } from "./bucket-domain.ts";

export const listDomains = command({
  path: "bucket domain list",
  summary: "list the hostnames under which anyone can read a bucket",
  args: { bucket: arg("the bucket's name") },
  examples: [["selvedge bucket domain list photos", "and the zone of each"]],
  json: "one array of domains",
  async run({ args: { bucket } }, context) {
    const none = `${bucket} has no hostnames. "selvedge bucket domain add" gives it one.`;
    context.out.list(await bucketDomains(context, bucket), domainColumns, none);
  },
});
