/**
 * What is to be told of a change, written in the commit of the change itself: for each rule that it meets one row.
 * The database holds the filters against the key, so that the rules are those of that moment. A bucket without rules
 * has nothing to write.
 */
import { type Bound, type Database, integer, json, maybe, statement, text, time, word } from "#db";
import { type Alongside, type Change, NOTHING_ALONGSIDE } from "../alongside.ts";
import type { Bucket } from "../model.ts";
import { key } from "../schema.ts";
import type { EventAction, ObjectEvent } from "./model.ts";

export class Outbox implements Alongside {
  readonly #db: Pick<Database, "engine">;
  readonly #now: () => number;
  /** Hears that there may be something to tell. */
  onFilled: (() => void) | null = null;

  constructor({ db, now }: { readonly db: Database; readonly now: () => number }) {
    this.#db = db;
    this.#now = now;
  }

  steps(bucket: Bucket, change: Change): readonly Bound[] {
    if (bucket.notifications === 0) return NOTHING_ALONGSIDE;
    return change.kind === "put" ? [created(bucket, change)] : this.#removed(bucket, change);
  }

  written(): void {
    this.onFilled?.();
  }

  #removed(bucket: Bucket, change: Change & { readonly kind: "delete" }): Bound[] {
    const { keys, isExpiry = false } = change;
    const { size, hold, add } = keys.length === 1 ? one : many;
    const action: EventAction = isExpiry ? "expire" : "delete";
    const steps: Bound[] = [];
    for (let at = 0; at < keys.length; at += size) {
      const values = {
        bucket: bucket.number,
        action,
        at: this.#now(),
        keys: keys.slice(at, at + size),
      };
      // Where others write at the same time, events of a key are numbered in the order of its changes.
      if (this.#db.engine === "postgres") steps.push(hold(values));
      steps.push(add(values));
    }
    return steps;
  }
}

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

/** For so many keys at a time, as they are removed. */
function removalOf(size: number) {
  const names = Array.from({ length: size }, (_, i) => `key${i}`);
  const named = Object.fromEntries(names.map((name) => [name, key]));
  const list = names.map((name) => `:${name}`).join();
  const hold = statement({
    sql: `UPDATE objects SET version = version WHERE bucket = :bucket AND key IN (${list})`,
    takes: { bucket: integer, ...named },
  });
  const add = statement({
    sql: `INSERT INTO bucket_events (${COLUMNS})
          SELECT n.id, 0, o.key, :action, NULL, NULL, NULL, CAST(:at AS BIGINT), 0, 0 FROM ${MET}
          WHERE n.bucket = :bucket AND n.on_delete = 1 AND o.key IN (${list}) AND ${FILTERS}`,
    takes: { bucket: integer, action: text, at: time, ...named },
  });
  const valuesOf = ({ keys, ...rest }: Removal) => ({
    ...rest,
    ...Object.fromEntries(names.map((name, i) => [name, keys[i] ?? keys[0]!])),
  });
  return {
    size,
    hold: (removal: Removal) => hold(valuesOf(removal) as never),
    add: (removal: Removal) => add(valuesOf(removal) as never),
  };
}

interface Removal {
  readonly bucket: number;
  readonly action: EventAction;
  readonly at: number;
  readonly keys: readonly string[];
}

const one = removalOf(1);
const many = removalOf(50);
