/** Shows a bucket. */
import { suggestion } from "#kit/closest.ts";
import { ApiFault } from "../api-fault.ts";
import { arg, command } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { CliFault } from "../fault.ts";
import { showTime } from "../units.ts";
import { type Bucket, bucketPath } from "./bucket.ts";

export const showBucket = command({
  path: "bucket info",
  summary: "show a bucket",
  args: { name: arg("the bucket's name") },
  examples: [["selvedge bucket info photos", "when it was made, and its storage class"]],
  json: "the bucket",
  async run({ args }, context) {
    const bucket = await getBucket(context, args.name);
    context.out.result(bucket, () =>
      context.out.fields([
        ["Name", bucket.name],
        ["Created", showTime(bucket.creation_date)],
        ["Storage class", bucket.storage_class],
      ]),
    );
  },
});

async function getBucket(context: CommandContext, name: string): Promise<Bucket> {
  try {
    return await context.api.get<Bucket>(await bucketPath(context, name));
  } catch (error) {
    if (!(error instanceof ApiFault) || error.kind !== "not-found") throw error;
    throw await noSuchBucket(context, name, error);
  }
}

/** Buckets among which a mistyped one is looked for. */
const LOOKED_AT = 1_000;

/** With the name that was probably meant. */
export async function noSuchBucket(context: CommandContext, name: string, cause: unknown) {
  const query = { per_page: LOOKED_AT };
  const { buckets } = await context.api.get<{ buckets: Bucket[] }>(
    await bucketPath(context),
    query,
  );
  const names = buckets.map((bucket) => bucket.name);
  const message = `There is no bucket ${name}.${suggestion(name, names)}`;
  return new CliFault("not-found", message, { cause });
}
