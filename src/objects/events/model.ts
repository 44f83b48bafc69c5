/** The words of notifications: who is told of what, and how far that is. */

/** What has happened to an object. */
export type EventAction = "put" | "post" | "copy" | "complete" | "delete" | "expire";

export type EventType = "object-create" | "object-delete";

export type Target =
  | { readonly kind: "webhook"; readonly url: string }
  /** Of the bucket's account. */
  | { readonly kind: "script"; readonly script: string };

/** A rule of a bucket: who is told of which changes. */
export interface Notification {
  readonly id: string;
  readonly description: string;
  readonly events: readonly EventType[];
  /** Of the keys that it is for; empty for all. */
  readonly prefix: string;
  readonly suffix: string;
  readonly target: Target;
  readonly createdAt: number;
  readonly modifiedAt: number;
  readonly delivery: DeliveryState;
}

export interface DeliveryState {
  /** Events that are not delivered yet. */
  readonly waiting: number;
  /** Those that were given up, and can be tried again. */
  readonly failed: number;
  /** How many of those were lost since, for there were too many. */
  readonly dropped: number;
  /** Attempts in a row that came to nothing, and what the last one met. */
  readonly failures: number;
  readonly lastError: string | null;
  /** When the next is, after such. */
  readonly nextAttemptAt: number | null;
}

export interface NewNotification {
  readonly description: string;
  readonly events: readonly EventType[];
  readonly prefix: string;
  readonly suffix: string;
  readonly target: Target;
  /** Of a webhook: `whsec_` and base64. Made up when absent. */
  readonly secret?: string | undefined;
}

/** What was done to an object, for one rule. */
export interface ObjectEvent {
  /** Grows with every event of a key. */
  readonly number: number;
  readonly key: string;
  readonly action: EventAction;
  /** Null for an object that is gone, as the next. */
  readonly size: number | null;
  readonly etag: string | null;
  readonly copiedFrom: { readonly bucket: string; readonly key: string } | null;
  readonly happenedAt: number;
  readonly attempts: number;
  readonly dueAt: number;
  readonly lastError: string | null;
}

/** An event with all that a message says of where it happened. */
export interface Occurrence extends ObjectEvent {
  readonly notificationId: string;
  readonly bucket: string;
  readonly bucketId: string;
  readonly accountId: string;
}
