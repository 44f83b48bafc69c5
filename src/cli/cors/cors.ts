/** The CORS rules of a bucket as the API shows them. */
import { askBucket, isRefusal } from "../buckets/ask.ts";
import type { Keys } from "../buckets/rules-file.ts";
import type { CommandContext } from "../context.ts";
import type { Column } from "../table.ts";

export interface CorsRule {
  readonly id?: string;
  readonly allowed: {
    readonly origins: readonly string[];
    readonly methods: readonly string[];
    readonly headers?: readonly string[];
  };
  readonly exposeHeaders?: readonly string[];
  readonly maxAgeSeconds?: number;
}

export const corsKeys: Keys = {
  id: null,
  allowed: { origins: null, methods: null, headers: null },
  exposeHeaders: null,
  maxAgeSeconds: null,
};

const NOT_SET = 10_059;

/** None where none are set. */
export async function corsRules(
  context: CommandContext,
  bucket: string,
): Promise<readonly CorsRule[]> {
  try {
    return (await askBucket<{ rules: CorsRule[] }>(context, bucket, { place: "cors" })).rules;
  } catch (error) {
    if (isRefusal(error, NOT_SET)) return [];
    throw error;
  }
}

export const corsColumns: readonly Column<CorsRule>[] = [
  { title: "ID", show: ({ id }) => id ?? "-", style: "cyan", droppable: true },
  { title: "ORIGINS", show: ({ allowed }) => listed(allowed.origins), flexible: true },
  { title: "METHODS", show: ({ allowed }) => listed(allowed.methods) },
  { title: "HEADERS", show: ({ allowed }) => listed(allowed.headers), flexible: true },
  { title: "EXPOSED", show: ({ exposeHeaders }) => listed(exposeHeaders), flexible: true },
  { title: "MAX AGE", show: ({ maxAgeSeconds: age }) => (age === undefined ? "-" : `${age} s`) },
];

function listed(entries: readonly string[] = []): string {
  return entries.join(", ") || "-";
}
