/** Makes a bucket. */
import { arg, choice, command } from "../command.ts";
import { type Bucket, bucketPath, storageClasses } from "./bucket.ts";

export const createBucket = command({
  path: "bucket create",
  summary: "make a bucket",
  args: { name: arg("3 to 63 of a-z, 0-9 and -, with a letter or digit at both ends") },
  options: { storageClass: choice(storageClasses, "of objects that name none") },
  examples: [["selvedge bucket create photos", "a bucket for objects, ready at once"]],
  json: "the bucket",
  async run({ args, options }, context) {
    const body = { name: args.name, storageClass: options.storageClass };
    const made = await context.api.post<Bucket>(await bucketPath(context), body);
    context.out.result(made, `Made the bucket ${made.name}.`);
  },
});
