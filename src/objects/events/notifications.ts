/** Notifications: rules of a bucket that say who is told of its changes, and how far that is. */
import { type Bound, type Database, isDatabaseFault, mustChangeOne } from "#db";
import { randomId } from "#kit/random.ts";
import { seal } from "#kit/secrets.ts";
import { noSuchBucket } from "../buckets.ts";
import { ObjectFault } from "../fault.ts";
import type { Bucket } from "../model.ts";
import { run } from "../run.ts";
import { checkNotification, type WebhookPolicy } from "./checks.ts";
import * as eventRows from "./event-rows.ts";
import type { DeliveryState, NewNotification, Notification, ObjectEvent } from "./model.ts";
import * as rows from "./notification-rows.ts";
import { newSecret, sealLabel } from "./signature.ts";

export interface NotificationsOptions {
  readonly db: Database;
  /** The store, which must not think that it knows the bucket. */
  readonly store: { bucketChanged(bucket: Bucket): void };
  readonly sealKey: Uint8Array;
  readonly policy: WebhookPolicy;
  readonly now: () => number;
}

/** As many as the original gives; each is held against every key that is written. */
const MAX_NOTIFICATIONS = 100;

/** A rule with the secret of its webhook, if that is new: it is not shown again. */
export interface WithSecret {
  readonly notification: Notification;
  readonly secret: string | null;
}

export class Notifications {
  readonly #options: NotificationsOptions;
  /** Hears that something is to be tried at once. */
  onHurry: (() => void) | null = null;

  constructor(options: NotificationsOptions) {
    this.#options = options;
  }

  list(bucket: Bucket): Promise<Notification[]> {
    return run(bucket.name, async () => {
      const found = await this.#db.all(rows.notificationsOfBucket({ bucket: bucket.number }));
      return Promise.all(found.map((row) => this.#show(row)));
    });
  }

  get(bucket: Bucket, id: string): Promise<Notification> {
    return run(bucket.name, async () => this.#show(await this.#find(bucket, id)));
  }

  create(bucket: Bucket, given: NewNotification): Promise<WithSecret> {
    return run(bucket.name, async () => {
      checkNotification(given, this.#options.policy);
      const id = randomId();
      const secret = given.target.kind === "webhook" ? (given.secret ?? newSecret()) : null;
      const row = {
        id,
        bucket: bucket.number,
        ...this.#rowOf(given),
        secret: this.#seal(id, secret),
      };
      const most = MAX_NOTIFICATIONS;
      const count = mustChangeOne(rows.countOneMore({ bucket: bucket.number, most }));
      try {
        await this.#change(bucket, count, rows.addNotification(row));
      } catch (error) {
        if (!isDatabaseFault(error, "guard")) throw error;
        const there = await this.#db.all(rows.notificationsOfBucket({ bucket: bucket.number }));
        if (there.length === 0) throw noSuchBucket(bucket.name);
        const message = `A bucket has at most ${MAX_NOTIFICATIONS} notifications`;
        throw new ObjectFault("too-many-notifications", message);
      }
      return { notification: await this.get(bucket, id), secret };
    });
  }

  /** What is not given stays. A webhook that was none before gets a secret. */
  edit(bucket: Bucket, id: string, change: Partial<NewNotification>): Promise<WithSecret> {
    return run(bucket.name, async () => {
      const before = await this.#find(bucket, id);
      const given = { ...newOf(before), ...change };
      checkNotification(given, this.#options.policy);
      const isWebhook = given.target.kind === "webhook";
      const keeps = isWebhook && before.secret !== null && change.secret === undefined;
      const secret = isWebhook && !keeps ? (change.secret ?? newSecret()) : null;
      const sealed = keeps ? before.secret : this.#seal(id, secret);
      const row = { id, bucket: bucket.number, ...this.#rowOf(given), secret: sealed };
      const hurry = eventRows.hurry({ notification: id });
      await this.#guarded(bucket, id, mustChangeOne(rows.setNotification(row)), hurry);
      this.onHurry?.();
      return { notification: await this.get(bucket, id), secret };
    });
  }

  /** What it has not told yet, it does not tell any more. */
  remove(bucket: Bucket, id: string): Promise<void> {
    return run(bucket.name, () =>
      this.#guarded(
        bucket,
        id,
        mustChangeOne(rows.removeNotification({ id, bucket: bucket.number })),
        rows.countOneLess({ bucket: bucket.number }),
        eventRows.removeAllOf({ notification: id }),
      ),
    );
  }

  /** Its events that wait, or those that were given up, the oldest first. */
  events(
    bucket: Bucket,
    id: string,
    { isFailed, after, limit }: { isFailed: boolean; after: number; limit: number },
  ): Promise<ObjectEvent[]> {
    return run(bucket.name, async () => {
      await this.#find(bucket, id);
      return this.#db.all(eventRows.eventsBehind({ notification: id, isFailed, after, limit }));
    });
  }

  /** Tries all at once that waits for its time or was given up, and tells how many of the latter. */
  retry(bucket: Bucket, id: string): Promise<number> {
    return run(bucket.name, async () => {
      await this.#find(bucket, id);
      const [{ changes }] = await this.#db.write(
        eventRows.retryFailed({ notification: id }),
        eventRows.hurry({ notification: id }),
        rows.noteSuccess({ id }),
      );
      this.onHurry?.();
      return changes;
    });
  }

  /** Forgets those that were given up, and tells how many. */
  removeFailed(bucket: Bucket, id: string): Promise<number> {
    return run(bucket.name, async () => {
      await this.#find(bucket, id);
      const [{ changes }] = await this.#db.write(eventRows.removeFailed({ notification: id }));
      return changes;
    });
  }

  get #db(): Database {
    return this.#options.db;
  }

  async #find(bucket: Bucket, id: string): Promise<rows.NotificationRow> {
    const isId = /^[0-9a-f]{32}$/.test(id);
    const found = isId
      ? await this.#db.first(rows.notificationById({ id, bucket: bucket.number }))
      : null;
    if (found === null) throw noSuchNotification(bucket, id);
    return found;
  }

  async #guarded(bucket: Bucket, id: string, ...steps: readonly Bound[]): Promise<void> {
    try {
      if (!/^[0-9a-f]{32}$/.test(id)) throw noSuchNotification(bucket, id);
      await this.#change(bucket, ...steps);
    } catch (error) {
      throw isDatabaseFault(error, "guard") ? noSuchNotification(bucket, id) : error;
    }
  }

  async #change(bucket: Bucket, ...steps: readonly Bound[]): Promise<void> {
    await this.#db.write(...steps).finally(() => this.#options.store.bucketChanged(bucket));
  }

  #rowOf({ description, events, prefix, suffix, target }: NewNotification) {
    return {
      description,
      onCreate: events.includes("object-create"),
      onDelete: events.includes("object-delete"),
      prefix,
      suffix,
      target,
      modifiedAt: this.#options.now(),
    };
  }

  #seal(id: string, secret: string | null): Uint8Array | null {
    return secret === null ? null : seal(this.#options.sealKey, sealLabel(id), secret);
  }

  async #show(row: rows.NotificationRow): Promise<Notification> {
    const { id, createdAt, modifiedAt } = row;
    const counts = await this.#db.all(eventRows.numberOfEvents({ notification: id }));
    const count = (failed: boolean) =>
      counts.find(({ isFailed }) => isFailed === failed)?.events ?? 0;
    const delivery: DeliveryState = {
      waiting: count(false),
      failed: count(true),
      dropped: row.dropped,
      failures: row.failures,
      lastError: row.lastError,
      nextAttemptAt: row.failures > 0 ? row.dueAt : null,
    };
    return { id, ...newOf(row), createdAt, modifiedAt, delivery };
  }
}

function newOf(row: rows.NotificationRow): Omit<NewNotification, "secret"> {
  const { description, onCreate, onDelete, prefix, suffix, target } = row;
  const events = [
    ...(onCreate ? (["object-create"] as const) : []),
    ...(onDelete ? (["object-delete"] as const) : []),
  ];
  return { description, events, prefix, suffix, target };
}

function noSuchNotification({ name }: Bucket, id: string): ObjectFault {
  const shown = JSON.stringify(id.slice(0, 40));
  return new ObjectFault("no-such-notification", `The bucket ${name} has no notification ${shown}`);
}
