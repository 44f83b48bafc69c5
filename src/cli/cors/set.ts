/** Sets a bucket's CORS rules from a file. */
import { askBucket } from "../buckets/ask.ts";
import { readRules, rulesOption, sendRules } from "../buckets/rules-file.ts";
import { arg, command } from "../command.ts";
import { corsKeys } from "./cors.ts";

const FORM = `{"rules": [{
  "allowed": {
    "origins": ["https://example.com"],
    "methods": ["GET", "PUT"],
    "headers": ["content-type"]
  },
  "exposeHeaders": ["ETag"],
  "maxAgeSeconds": 3600
}]}`;

export const setCors = command({
  path: "bucket cors set",
  summary: "set a bucket's CORS rules, in place of those it has",
  description: `Says which pages of other origins may use a bucket, in place of what it has. Only origins and methods are needed of this:\n\n${FORM}`,
  args: { bucket: arg("the bucket's name") },
  options: { file: rulesOption },
  examples: [
    ["selvedge bucket cors set photos --file cors.json", "the first rule that fits counts"],
    [
      `echo '[{"allowed":{"origins":["*"],"methods":["GET"]}}]' | selvedge bucket cors set photos --file -`,
      "every page may read",
    ],
  ],
  json: "one array of rules",
  async run({ args: { bucket }, options: { file } }, context) {
    const read = await readRules(context, file, corsKeys);
    const { rules } = read;
    const request = { method: "PUT", place: "cors", body: { rules } } as const;
    await sendRules(read, askBucket(context, bucket, request));
    const many = rules.length === 1 ? "one CORS rule" : `${rules.length} CORS rules`;
    context.out.result(rules, `${bucket} has ${many} now.`);
  },
});
