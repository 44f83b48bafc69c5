/** A bucket's notification as the API shows it, and where it is found. */
import { bucketPath } from "../buckets/bucket.ts";
import type { CommandContext } from "../context.ts";
import type { Column } from "../table.ts";

export interface Notification {
  readonly id: string;
  readonly events: readonly string[];
  readonly prefix: string;
  readonly suffix: string;
  readonly target:
    | { readonly type: "webhook"; readonly url: string; readonly secret?: string }
    | { readonly type: "script"; readonly script: string };
  readonly delivery: {
    readonly pending: number;
    readonly failed: number;
    readonly last_error: string | null;
  };
}

/** Above all notifications of a bucket, or one of them. */
export async function notificationPath(
  context: CommandContext,
  bucket: string,
  id?: string,
): Promise<string> {
  const all = `${await bucketPath(context, bucket)}/notifications`;
  return id === undefined ? all : `${all}/${encodeURIComponent(id)}`;
}

export function showTarget({ target }: Notification): string {
  return target.type === "script" ? `script ${target.script}` : target.url;
}

/** `create, delete`. */
export function showEvents({ events }: Notification): string {
  return events.map((event) => event.replace("object-", "")).join(", ");
}

/** `img/*.jpg`, and `*` for all. */
export function showKeys({ prefix, suffix }: Notification): string {
  return `${prefix}*${suffix}`;
}

export const notificationColumns: readonly Column<Notification>[] = [
  { title: "ID", show: ({ id }) => id, style: "cyan" },
  { title: "EVENTS", show: showEvents },
  { title: "KEYS", show: showKeys, flexible: true },
  { title: "TO", show: showTarget, flexible: true },
  { title: "PENDING", show: ({ delivery }) => String(delivery.pending) },
  { title: "FAILED", show: ({ delivery }) => String(delivery.failed) },
  { title: "LAST ERROR", show: ({ delivery }) => delivery.last_error ?? "-", droppable: true },
];
