/** Lists a bucket's CORS rules. */
import { arg, command } from "../command.ts";
import { corsColumns, corsRules } from "./cors.ts";

export const listCors = command({
  path: "bucket cors list",
  summary: "list a bucket's CORS rules",
  args: { bucket: arg("the bucket's name") },
  examples: [["selvedge bucket cors list photos --json > cors.json", "a file that set takes"]],
  json: "one array of rules",
  async run({ args: { bucket } }, context) {
    const none = `${bucket} has no CORS rules: pages of other origins cannot use it. "selvedge bucket cors set" gives it some.`;
    context.out.list(await corsRules(context, bucket), corsColumns, none);
  },
});
