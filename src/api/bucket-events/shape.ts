/** A bucket's notification in the API's spelling. */
import { z } from "zod";
import { eventName, type NewNotification, type Notification, type ObjectEvent } from "#objects";
import { showTime } from "../shapes.ts";

/** Ours: the original's notifications go to queues, which there are none of here. */
export const path = "/accounts/:account_id/storage/buckets/:bucket_name/notifications";

const target = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("webhook"), url: z.string(), secret: z.string().optional() }),
    z.object({ type: z.literal("script"), script: z.string() }),
  ])
  .transform((given) =>
    given.type === "webhook"
      ? { target: { kind: "webhook", url: given.url } as const, secret: given.secret }
      : { target: { kind: "script", script: given.script } as const },
  );

const fields = z.object({
  description: z.string().default(""),
  events: z.array(z.enum(["object-create", "object-delete"])),
  prefix: z.string().default(""),
  suffix: z.string().default(""),
  target,
});

export const newNotification = fields.transform(({ target, ...rest }): NewNotification => ({
  ...rest,
  ...target,
}));

const change = z.object({
  description: z.string().optional(),
  events: fields.shape.events.optional(),
  prefix: z.string().optional(),
  suffix: z.string().optional(),
  target: target.optional(),
});

export const notificationChange = change.transform(
  ({ target, ...rest }) =>
    Object.fromEntries(
      Object.entries({ ...rest, ...target }).filter(([, value]) => value !== undefined),
    ) as Partial<NewNotification>,
);

export function showNotification(
  {
    id,
    description,
    events,
    prefix,
    suffix,
    target,
    createdAt,
    modifiedAt,
    delivery,
  }: Notification,
  secret: string | null = null,
): object {
  return {
    id,
    description,
    events,
    prefix,
    suffix,
    target:
      target.kind === "script"
        ? { type: "script", script: target.script }
        : { type: "webhook", url: target.url, ...(secret !== null && { secret }) },
    created_on: showTime(createdAt),
    modified_on: showTime(modifiedAt),
    delivery: {
      pending: delivery.waiting,
      failed: delivery.failed,
      dropped: delivery.dropped,
      failures_in_a_row: delivery.failures,
      last_error: delivery.lastError,
      next_attempt_on: delivery.nextAttemptAt === null ? null : showTime(delivery.nextAttemptAt),
    },
  };
}

export function showEvent(event: ObjectEvent): object {
  const { number, key, action, size, etag, happenedAt, attempts, dueAt, lastError } = event;
  return {
    number,
    key,
    event: eventName(action),
    ...(size !== null && { size }),
    ...(etag !== null && { etag }),
    happened_on: showTime(happenedAt),
    attempts,
    last_error: lastError,
    next_attempt_on: dueAt === 0 ? null : showTime(dueAt),
  };
}
