/** Events as they are told: to webhooks in the form of S3, to scripts in that of the original's queues. */
import type { EventAction, Occurrence } from "./model.ts";

/** What has happened, in both forms. */
const NAMES: Readonly<Record<EventAction, readonly [s3: string, queue: string]>> = {
  put: ["ObjectCreated:Put", "PutObject"],
  post: ["ObjectCreated:Post", "PutObject"],
  copy: ["ObjectCreated:Copy", "CopyObject"],
  complete: ["ObjectCreated:CompleteMultipartUpload", "CompleteMultipartUpload"],
  delete: ["ObjectRemoved:Delete", "DeleteObject"],
  expire: ["LifecycleExpiration:Delete", "LifecycleDeletion"],
};

/** That of S3's own events: of those it has, the newest without fields that we know nothing of. */
const EVENT_VERSION = "2.1";
const REGION = "auto";
const SEQUENCER_DIGITS = 16;

/** The same at each attempt, so that who gets it twice can tell. */
export function messageId({ notificationId, number }: Occurrence): string {
  return `${notificationId}-${number}`;
}

export function eventName(action: EventAction): string {
  return NAMES[action][0];
}

/** AWS: Event message structure. Beside it, what S3 has no place for. */
export function webhookMessage(event: Occurrence): object {
  const { action, key, size, etag, number, happenedAt, copiedFrom } = event;
  const owner = { principalId: event.accountId };
  const record = {
    eventVersion: EVENT_VERSION,
    eventSource: "aws:s3",
    awsRegion: REGION,
    eventTime: new Date(happenedAt).toISOString(),
    eventName: eventName(action),
    userIdentity: owner,
    s3: {
      s3SchemaVersion: "1.0",
      configurationId: event.notificationId,
      bucket: { name: event.bucket, ownerIdentity: owner, arn: `arn:aws:s3:::${event.bucket}` },
      object: {
        key: formEncoded(key),
        ...(size !== null && { size }),
        ...(etag !== null && { eTag: etag }),
        sequencer: number.toString(16).toUpperCase().padStart(SEQUENCER_DIGITS, "0"),
      },
    },
    selvedge: {
      accountId: event.accountId,
      bucketId: event.bucketId,
      ...(copiedFrom !== null && { copySource: copiedFrom }),
    },
  };
  return { Records: [record] };
}

/** As in forms: S3 has a blank as `+`. */
function formEncoded(key: string): string {
  return encodeURIComponent(key).replaceAll("%20", "+").replaceAll("%2F", "/");
}

export interface QueueMessage {
  readonly id: string;
  /** In ms since the epoch. */
  readonly timestamp: number;
  readonly attempts: number;
  readonly body: object;
}

export function queueMessage(event: Occurrence): QueueMessage {
  const { action, key, size, etag, happenedAt, copiedFrom } = event;
  const body = {
    account: event.accountId,
    action: NAMES[action][1],
    bucket: event.bucket,
    object: { key, ...(size !== null && { size }), ...(etag !== null && { eTag: etag }) },
    eventTime: new Date(happenedAt).toISOString(),
    ...(copiedFrom !== null && {
      copySource: { bucket: copiedFrom.bucket, object: copiedFrom.key },
    }),
  };
  return { id: messageId(event), timestamp: happenedAt, attempts: event.attempts + 1, body };
}
