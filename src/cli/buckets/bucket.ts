/** A bucket as the API shows it, and where it is found. */
import type { CommandContext } from "../context.ts";
import { type Column } from "../table.ts";
import { showTime } from "../units.ts";

export interface Bucket {
  readonly name: string;
  readonly creation_date: string;
  readonly storage_class: string;
}

export const storageClasses = ["Standard", "InfrequentAccess"] as const;

/** Above all buckets of the account, or above one. */
export async function bucketPath(context: CommandContext, name?: string): Promise<string> {
  const { id } = await context.account();
  const all = `/accounts/${id}/storage/buckets`;
  return name === undefined ? all : `${all}/${encodeURIComponent(name)}`;
}

export async function allBuckets(context: CommandContext): Promise<Bucket[]> {
  const path = await bucketPath(context);
  const found: Bucket[] = [];
  for (let cursor: string | undefined; ;) {
    const query = { per_page: 1_000, cursor };
    const { result, info } = await context.api.request<{ buckets: Bucket[] }>("GET", path, {
      query,
    });
    found.push(...result.buckets);
    if (info.cursor === undefined) return found;
    cursor = info.cursor;
  }
}

export const bucketColumns: readonly Column<Bucket>[] = [
  { title: "NAME", show: ({ name }) => name, style: "cyan", flexible: true },
  { title: "CREATED", show: ({ creation_date }) => showTime(creation_date) },
  { title: "CLASS", show: ({ storage_class }) => storage_class },
];
