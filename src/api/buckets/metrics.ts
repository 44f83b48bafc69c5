/**
 * How many objects a bucket has, and their size. The original's analytics speak GraphQL; of that, this is the one
 * question that `wrangler r2 bucket info` asks. The bucket is counted while its user waits.
 */
import { setImmediate as othersTurn } from "node:timers/promises";
import { z } from "zod";
import type { Bucket, ObjectStore } from "#objects";
import { checkShape } from "../check.ts";
import { endpoint } from "../endpoint.ts";
import { PlainAnswer } from "../envelope.ts";
import { notOffered } from "../errors.ts";
import { showTime } from "../shapes.ts";
import { bucketOf } from "./shape.ts";

/** What the answer is found under, so no query that asks for it is without. */
const GROUPS = "r2StorageAdaptiveGroups";

const variables = z.object({
  accountTag: z.string().regex(/^[0-9a-f]{32}$/, "is not the id of an account"),
  // A jurisdiction stands before the name; there is one.
  filter: z.object({ bucketName: z.string().transform((name) => name.replace(/^default_/, "")) }),
});

export const bucketMetrics = endpoint({
  method: "POST",
  path: "/graphql",
  summary: "Count the objects of a bucket, in the words of wrangler",
  permission: "signed-in",
  body: z.object({ query: z.string(), variables: z.unknown() }),
  handle: async ({ body, identity }, { accounts, objects, now }) => {
    if (!body.query.includes(GROUPS)) {
      throw notOffered("Analytics are not offered here, but for the storage metrics of a bucket");
    }
    const { accountTag: account, filter } = checkShape(variables, body.variables);
    await accounts.authorize(identity, "buckets.read", { kind: "account", account });
    const params = { account_id: account, bucket_name: filter.bucketName };
    const max = await measure(objects, await bucketOf(objects, params));
    const groups = [{ max, dimensions: { datetime: showTime(now()) } }];
    const data = { viewer: { accounts: [{ [GROUPS]: groups }] } };
    const json = JSON.stringify({ data, errors: null });
    return new PlainAnswer({ status: 200, type: "application/json", body: json });
  },
});

/** Some two seconds' work. Beyond, there is no end to how long a bucket takes. */
const MOST_COUNTED = 1_000_000;

/** The size is that of the objects counted; metadata is not looked at. */
async function measure(objects: ObjectStore, bucket: Bucket): Promise<object> {
  let [objectCount, payloadSize] = [0, 0];
  let cursor: string | null = null;
  do {
    const page = await objects.list(bucket, {
      metadata: false,
      ...(cursor !== null && { cursor }),
    });
    objectCount += page.objects.length;
    for (const { size } of page.objects) payloadSize += size;
    cursor = page.cursor;
    await othersTurn(); // The embedded database reads without letting anyone else have one.
  } while (cursor !== null && objectCount < MOST_COUNTED);
  // wrangler shows text as it is.
  const shown = cursor === null ? objectCount : `more than ${MOST_COUNTED.toLocaleString("en")}`;
  return { objectCount: shown, payloadSize, metadataSize: 0 };
}
