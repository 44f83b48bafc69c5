/** A bucket's notifications where wrangler looks for them. The original's go to queues, which there are none of here. */
import type { Notification } from "#objects";
import { bucketOf, checkJurisdiction } from "../buckets/shape.ts";
import { type Endpoint, endpoint } from "../endpoint.ts";
import { notOffered } from "../errors.ts";
import { showTime } from "../shapes.ts";

const QUEUES = "/accounts/:account_id/queues";
const CONFIGURATION = "/accounts/:account_id/event_notifications/r2/:bucket_name/configuration";

const NO_QUEUES =
  "There are no queues here: a bucket's changes are told to webhooks and scripts, see selvedge bucket notification add --help";

/** The actions that each kind of event stands for in the original. */
const ACTIONS: Record<Notification["events"][number], readonly string[]> = {
  "object-create": ["PutObject", "CompleteMultipartUpload", "CopyObject"],
  "object-delete": ["DeleteObject", "LifecycleDeletion"],
};

const listAsQueues = endpoint({
  method: "GET",
  path: CONFIGURATION,
  summary: "List who is told of a bucket's changes, each as if it were a queue",
  permission: "buckets.read",
  handle: async ({ params, headers }, { objects, notifications }) => {
    checkJurisdiction(headers);
    const bucket = await bucketOf(objects, params);
    return { bucketName: bucket.name, queues: (await notifications.list(bucket)).map(showAsQueue) };
  },
});

function showAsQueue(notification: Notification): object {
  const { id, description, events, prefix, suffix, target, createdAt } = notification;
  return {
    queueId: id,
    queueName: target.kind === "script" ? `script ${target.script}` : target.url,
    rules: [
      {
        ruleId: id,
        description,
        prefix,
        suffix,
        actions: events.flatMap((event) => ACTIONS[event]),
        createdAt: showTime(createdAt),
      },
    ],
  };
}

/** wrangler looks for the queue before it asks for anything of it, also when it deploys. */
const refusals = (
  [
    ["GET", QUEUES],
    ["POST", QUEUES],
    ["GET", `${CONFIGURATION}/queues/:queue`],
    ["PUT", `${CONFIGURATION}/queues/:queue`],
    ["DELETE", `${CONFIGURATION}/queues/:queue`],
  ] as const
).map(([method, path]) =>
  endpoint({
    method,
    path,
    summary: "Queues: there are none",
    permission: "signed-in",
    handle: () => {
      throw notOffered(NO_QUEUES);
    },
  }),
);

export const queueEndpoints: readonly Endpoint[] = [listAsQueues, ...refusals];
