/** Lists a bucket's lifecycle rules. */
import { arg, command } from "../command.ts";
import { lifecycleColumns, lifecycleRules } from "./lifecycle.ts";

export const listLifecycle = command({
  path: "bucket lifecycle list",
  summary: "list a bucket's lifecycle rules",
  args: { bucket: arg("the bucket's name") },
  examples: [
    ["selvedge bucket lifecycle list photos", "what goes, and when"],
    ["selvedge bucket lifecycle list photos --json > rules.json", "a file that set takes"],
  ],
  json: "one array of rules",
  async run({ args: { bucket } }, context) {
    const none = `${bucket} has no lifecycle rules: nothing is deleted by itself. "selvedge bucket lifecycle add" makes one.`;
    context.out.list(await lifecycleRules(context, bucket), lifecycleColumns, none);
  },
});
