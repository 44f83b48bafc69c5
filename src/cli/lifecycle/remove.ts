/** Removes one of a bucket's lifecycle rules. */
import { suggestion } from "#kit/closest.ts";
import { arg, command, yes } from "../command.ts";
import { CliFault } from "../fault.ts";
import { lifecycleRules, putRules } from "./lifecycle.ts";

export const removeLifecycle = command({
  path: "bucket lifecycle remove",
  summary: "remove a lifecycle rule",
  args: { bucket: arg("the bucket's name"), name: arg("the rule's name") },
  options: { yes },
  examples: [["selvedge bucket lifecycle remove photos rule-1", "asks first; --yes does not"]],
  json: "the removed rule",
  async run({ args: { bucket, name }, options }, context) {
    const before = await lifecycleRules(context, bucket);
    const rule = before.find(({ id }) => id === name);
    if (rule === undefined) {
      const names = before.map(({ id }) => id);
      const message = `${bucket} has no lifecycle rule ${name}.${suggestion(name, names)}`;
      throw new CliFault("not-found", message);
    }
    if (!options.yes) {
      const question = `Remove the lifecycle rule ${name} of ${bucket}?`;
      await context.confirm(question, "Nothing was removed.");
    }
    const rest = before.filter((one) => one !== rule);
    await putRules(context, bucket, rest);
    context.out.result(rule, `Removed the lifecycle rule ${name} of ${bucket}.`);
  },
});
