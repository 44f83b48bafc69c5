/** Sets a bucket's lifecycle rules from a file. */
import { readRules, rulesOption, sendRules } from "../buckets/rules-file.ts";
import { arg, command, yes } from "../command.ts";
import { confirmDeletes, lifecycleKeys, putRules } from "./lifecycle.ts";

const FORM = `{"rules": [{
  "id": "tmp",
  "enabled": true,
  "conditions": {"prefix": "tmp/"},
  "deleteObjectsTransition": {"condition": {"type": "Age", "maxAge": 604800}},
  "storageClassTransitions": [{
    "condition": {"type": "Date", "date": "2027-01-31"},
    "storageClass": "InfrequentAccess"
  }],
  "abortMultipartUploadsTransition": {
    "condition": {"type": "Age", "maxAge": 86400}
  }
}]}`;

export const setLifecycle = command({
  path: "bucket lifecycle set",
  summary: "set a bucket's lifecycle rules, in place of those it has",
  description: `Sets all lifecycle rules of a bucket, in place of those it has. Ages are seconds of whole days; one of the three transitions is enough of this:\n\n${FORM}`,
  args: { bucket: arg("the bucket's name") },
  options: { file: rulesOption, yes },
  examples: [
    ["selvedge bucket lifecycle set photos --file rules.json", "as the API takes them"],
    ["echo '[]' | selvedge bucket lifecycle set photos --file -", "takes all away"],
  ],
  json: "one array of rules",
  async run({ args: { bucket }, options: { file, yes } }, context) {
    const read = await readRules(context, file, lifecycleKeys);
    const { rules } = read;
    if (!yes) await confirmDeletes(context, bucket, rules);
    await sendRules(read, putRules(context, bucket, rules));
    const many = rules.length === 1 ? "one lifecycle rule" : `${rules.length} lifecycle rules`;
    context.out.result(
      rules,
      `${bucket} has ${rules.length === 0 ? "no lifecycle rules" : many} now.`,
    );
  },
});
