/** An S3 key as the API shows it, where it is found, and how the command line says what it opens. */
import type { CommandContext } from "../context.ts";
import type { Column } from "../table.ts";
import { showTime } from "../units.ts";

export interface S3Key {
  readonly access_key_id: string;
  readonly name: string;
  readonly permission: string;
  readonly buckets: readonly Opened[] | null;
  readonly created_on: string;
  readonly expires_on: string | null;
  readonly last_used_on: string | null;
}

interface Opened {
  readonly name: string;
  readonly prefixes: readonly string[];
}

export const permissions = ["read-only", "read-write", "admin-read-only", "admin"] as const;

/** Above all keys of the account, or one of them. */
export async function keyPath(context: CommandContext, id?: string): Promise<string> {
  const { id: account } = await context.account();
  const all = `/accounts/${account}/storage/keys`;
  return id === undefined ? all : `${all}/${encodeURIComponent(id)}`;
}

/** The server keeps at most a thousand. */
export async function allKeys(context: CommandContext): Promise<S3Key[]> {
  return context.api.get<S3Key[]>(await keyPath(context), { per_page: 1_000 });
}

/** `photos`, or `photos/2026/` for what begins so; what is said of one bucket in several words is one. */
export function readBuckets(given: readonly string[]): readonly Opened[] | null {
  if (given.length === 0) return null;
  const opened = new Map<string, string[] | null>();
  for (const text of given) {
    const slash = text.indexOf("/");
    const name = slash === -1 ? text : text.slice(0, slash);
    const prefix = slash === -1 ? "" : text.slice(slash + 1);
    const before = opened.get(name);
    if (prefix === "" || before === null) opened.set(name, null);
    else opened.set(name, [...(before ?? []), prefix]);
  }
  return [...opened].map(([name, prefixes]) => ({ name, prefixes: prefixes ?? [] }));
}

export function showBuckets({ buckets }: S3Key): string {
  if (buckets === null) return "all";
  return buckets
    .flatMap(({ name, prefixes }) =>
      prefixes.length === 0 ? [name] : prefixes.map((prefix) => `${name}/${prefix}`),
    )
    .join(", ");
}

/** `-` for what is not. */
export function showMoment(time: string | null): string {
  return time === null ? "-" : showTime(time);
}

export const keyColumns: readonly Column<S3Key>[] = [
  { title: "ACCESS KEY", show: ({ access_key_id }) => access_key_id, style: "cyan" },
  { title: "NAME", show: ({ name }) => name, flexible: true },
  { title: "MAY", show: ({ permission }) => permission },
  { title: "BUCKETS", show: showBuckets, flexible: true },
  { title: "EXPIRES", show: ({ expires_on }) => showMoment(expires_on) },
  { title: "LAST USED", show: ({ last_used_on }) => showMoment(last_used_on), droppable: true },
];
