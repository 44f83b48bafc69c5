/** Who is told of a bucket's changes, and how far that is. */
import { z } from "zod";
import type { NewNotification } from "#objects";
import { bucketOf } from "../buckets/shape.ts";
import { type ApiParts, type Endpoint, endpoint } from "../endpoint.ts";
import { newNotification, notificationChange, path, showEvent, showNotification } from "./shape.ts";

const one = `${path}/:notification_id` as const;

const listNotifications = endpoint({
  method: "GET",
  path,
  summary: "List who is told of a bucket's changes",
  permission: "buckets.read",
  handle: async ({ params }, { objects, notifications }) => {
    const all = await notifications.list(await bucketOf(objects, params));
    return all.map((notification) => showNotification(notification));
  },
});

/** The secret of a webhook is in this answer and never again. */
const createNotification = endpoint({
  method: "POST",
  path,
  summary: "Tell a webhook or a script of a bucket's changes",
  permission: "buckets.edit",
  body: newNotification,
  handle: async ({ params, body }, parts) => {
    const bucket = await bucketOf(parts.objects, params);
    await checkScript(parts, params.account_id, body);
    const { notification, secret } = await parts.notifications.create(bucket, body);
    return showNotification(notification, secret);
  },
});

const getNotification = endpoint({
  method: "GET",
  path: one,
  summary: "Show a notification, and how far its delivery is",
  permission: "buckets.read",
  handle: async ({ params }, { objects, notifications }) => {
    const bucket = await bucketOf(objects, params);
    return showNotification(await notifications.get(bucket, params.notification_id));
  },
});

const editNotification = endpoint({
  method: "PATCH",
  path: one,
  summary: "Change a notification",
  permission: "buckets.edit",
  body: notificationChange,
  handle: async ({ params, body }, parts) => {
    const bucket = await bucketOf(parts.objects, params);
    await checkScript(parts, params.account_id, body);
    const id = params.notification_id;
    const { notification, secret } = await parts.notifications.edit(bucket, id, body);
    return showNotification(notification, secret);
  },
});

const removeNotification = endpoint({
  method: "DELETE",
  path: one,
  summary: "Remove a notification, with what it has not told yet",
  permission: "buckets.edit",
  handle: async ({ params }, { objects, notifications }) => {
    await notifications.remove(await bucketOf(objects, params), params.notification_id);
    return { id: params.notification_id };
  },
});

/** Asked for once more with `after`, it goes on. */
const MAX_EVENTS = 1_000;

const listNotificationEvents = endpoint({
  method: "GET",
  path: `${one}/events`,
  summary: "List events that are not delivered yet, or were given up",
  permission: "buckets.read",
  query: z.object({
    state: z.enum(["pending", "failed"]).default("pending"),
    after: z.coerce.number().int().min(0).default(0),
    limit: z.coerce.number().int().min(1).max(MAX_EVENTS).default(100),
  }),
  handle: async ({ params, query }, { objects, notifications }) => {
    const bucket = await bucketOf(objects, params);
    const { state, ...page } = query;
    const options = { ...page, isFailed: state === "failed" };
    return (await notifications.events(bucket, params.notification_id, options)).map(showEvent);
  },
});

const removeFailedEvents = endpoint({
  method: "DELETE",
  path: `${one}/events`,
  summary: "Forget events that were given up",
  permission: "buckets.edit",
  handle: async ({ params }, { objects, notifications }) => {
    const bucket = await bucketOf(objects, params);
    return { removed: await notifications.removeFailed(bucket, params.notification_id) };
  },
});

const retryNotification = endpoint({
  method: "POST",
  path: `${one}/retry`,
  summary: "Try at once what waits for its time, and what was given up",
  permission: "buckets.edit",
  handle: async ({ params }, { objects, notifications }) => {
    const bucket = await bucketOf(objects, params);
    return { retried: await notifications.retry(bucket, params.notification_id) };
  },
});

/** Throws unless there is the script that is to be told. */
async function checkScript(
  { scripts }: ApiParts,
  accountId: string,
  { target }: Pick<Partial<NewNotification>, "target">,
): Promise<void> {
  if (target?.kind === "script") await scripts.get(accountId, target.script);
}

/** In one list: nobody needs one of them alone. */
export const notificationEndpoints: readonly Endpoint[] = [
  listNotifications,
  createNotification,
  getNotification,
  editNotification,
  removeNotification,
  listNotificationEvents,
  removeFailedEvents,
  retryNotification,
];
