/**
 * What is to be told of a change, written in the commit of the change itself: for each rule that it meets one row.
 * The database holds the filters against the key, so that the rules are those of that moment. A bucket without rules
 * has nothing to write.
 */
import { type Bound, integer, json, maybe, statement, text, time, word } from "#db";
import type { Alongside, Change } from "../alongside.ts";
import type { Bucket } from "../model.ts";
import { REMOVED_AT_ONCE } from "../object-writes.ts";
import { key } from "../schema.ts";
import type { EventAction, ObjectEvent } from "./model.ts";

export class Outbox implements Alongside {
  readonly #now: () => number;
  /** Hears that there may be something to tell. */
  onFilled: (() => void) | null = null;

  constructor(now: () => number) {
    this.#now = now;
  }

  steps(bucket: Bucket, change: Change): readonly Bound[] {
    if (bucket.notifications === 0) return NOTHING;
    return [change.kind === "put" ? created(bucket, change) : removed(bucket, change, this.#now())];
  }

  written({ notifications }: Bucket): void {
    if (notifications > 0) this.onFilled?.();
  }
}

const NOTHING: readonly Bound[] = [];

const COLUMNS = `notification, is_failed, key, action, size, etag, copied_from, happened_at, attempts, due_at`;
const FILTERS = `substr(o.key, 1, length(n.prefix)) = n.prefix
  AND substr(o.key, length(o.key) - length(n.suffix) + 1) = n.suffix`;
const MET = "bucket_notifications n JOIN objects o ON o.bucket = n.bucket";

const action = word<EventAction>();

const addCreated = statement({
  sql: `INSERT INTO bucket_events (${COLUMNS})
        SELECT n.id, 0, o.key, :action, o.size, o.etag, :copiedFrom, o.uploaded_at, 0, 0 FROM ${MET}
        WHERE n.bucket = :bucket AND n.on_create = 1 AND o.key = :key AND ${FILTERS}`,
  takes: { bucket: integer, key, action, copiedFrom: maybe(json<ObjectEvent["copiedFrom"]>()) },
});

function created(bucket: Bucket, { row, cameBy }: Change & { readonly kind: "put" }): Bound {
  const plain = row.partCount === null ? "put" : "complete";
  return addCreated({
    bucket: bucket.number,
    key: row.key,
    action: cameBy?.kind ?? plain,
    copiedFrom: cameBy?.kind === "copy" ? { bucket: cameBy.bucket, key: cameBy.key } : null,
  });
}

/** For so many keys at a time. */
function addRemoved(size: number) {
  const names = Array.from({ length: size }, (_, i) => `key${i}`);
  const add = statement({
    sql: `INSERT INTO bucket_events (${COLUMNS})
          SELECT n.id, 0, o.key, :action, NULL, NULL, NULL, CAST(:at AS BIGINT), 0, 0 FROM ${MET}
          WHERE n.bucket = :bucket AND n.on_delete = 1 AND o.version = :mark
            AND o.key IN (${names.map((name) => `:${name}`).join()}) AND ${FILTERS}`,
    takes: {
      bucket: integer,
      action,
      at: time,
      mark: text,
      ...Object.fromEntries(names.map((name) => [name, key])),
    },
  });
  return (keys: readonly string[], values: Parameters<typeof add>[0]) => {
    const named = names.map((name, i) => [name, keys[i] ?? keys[0]!] as const);
    return add({ ...values, ...Object.fromEntries(named) });
  };
}

const addOneRemoved = addRemoved(1);
const addManyRemoved = addRemoved(REMOVED_AT_ONCE);

function removed(bucket: Bucket, change: Change & { readonly kind: "delete" }, at: number): Bound {
  const { keys, mark, isExpiry } = change;
  const add = keys.length === 1 ? addOneRemoved : addManyRemoved;
  const action: EventAction = isExpiry ? "expire" : "delete";
  return add(keys, { bucket: bucket.number, action, at, mark });
}
