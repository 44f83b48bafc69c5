/** A record in the API's spelling. */
import { z } from "zod";
import {
  dataOf,
  type RecordChange,
  type RecordFields,
  type Shadow,
  typeOf,
  type Zone,
  type ZoneRecord,
} from "#zones";
import { ApiError } from "../errors.ts";
import { showTime } from "../shapes.ts";

/** Neither null nor absent, it must be a boolean; clients know the error of its own that it has. */
const proxied = z
  .unknown()
  .transform((value): boolean | undefined => {
    if (value === null || value === undefined) return undefined;
    if (typeof value === "boolean") return value;
    const message = "Invalid 'proxied' value, must be a boolean";
    throw new ApiError(400, [{ code: 9003, message, source: { pointer: "/proxied" } }]);
  })
  .optional();

const fields = z.object({
  type: z.string().max(20).optional(),
  name: z.string().max(1_024).optional(),
  content: z.string().max(16_384).nullish(),
  data: z.record(z.string(), z.unknown()).nullish(),
  priority: z
    .union([
      z.number(),
      z
        .string()
        .regex(/^\d{1,5}$/)
        .transform(Number),
    ])
    .nullish(),
  ttl: z.number().int().nullish(),
  proxied,
  comment: z.string().nullish(),
  // cloudflare-go v0 sends null for "leave them".
  tags: z.array(z.string().max(300)).nullish(),
  settings: z.record(z.string(), z.boolean().nullish()).nullish(),
});

/** What a create, an overwrite and an edit take; keys that are the server's are passed over. */
export const recordInput = fields.transform(fieldsOf);

export const batchInput = z.object({
  deletes: z.array(z.object({ id: z.string() })).nullish(),
  patches: z.array(fields.extend({ id: z.string() }).transform(withId)).nullish(),
  puts: z.array(fields.extend({ id: z.string() }).transform(withId)).nullish(),
  posts: z.array(recordInput).nullish(),
});

/** Where records are shown: whether their `meta` tells what delegations do to them. */
export const shadowQuery = z.object({ include_shadow_metadata: z.stringbool().default(false) });

/** On every write: check it, show what it would change, and leave all as it is. */
export const changeQuery = z.object({ dry_run: z.stringbool().default(false) });

/** On writes that answer with the records they made. */
export const writeQuery = changeQuery.extend(shadowQuery.shape);

type Given = z.output<typeof fields>;

function withId(given: Given & { id: string }): RecordFields & { id: string } {
  return { ...fieldsOf(given), id: given.id };
}

function fieldsOf(given: Given): RecordFields {
  const { type, name, content, data, priority, ttl, comment, tags, settings } = given;
  return {
    ...(type !== undefined && { type }),
    ...(name !== undefined && { name: name || nameFromData(data) }),
    ...(name === undefined && data?.["service"] !== undefined && { name: nameFromData(data) }),
    input: {
      ...(content !== undefined && content !== null && { content }),
      ...(data !== undefined && data !== null && { data }),
      ...(priority !== undefined && priority !== null && { priority }),
    },
    ...(ttl !== undefined && ttl !== null && { ttl: ttl === 0 ? 1 : ttl }),
    ...(given.proxied !== undefined && { proxied: given.proxied }),
    ...(comment !== undefined && { comment }),
    ...(tags !== undefined && tags !== null && { tags }),
    ...(settings !== undefined && settings !== null && { settings: onlySet(settings) }),
  };
}

/** Older clients give an SRV's name in parts: `_sip`, `_tcp` and the host. */
function nameFromData(data: Readonly<Record<string, unknown>> | null | undefined): string {
  const parts = [data?.["service"], data?.["proto"], data?.["name"]];
  return parts.filter((part) => typeof part === "string" && part !== "" && part !== "@").join(".");
}

function onlySet(
  settings: Readonly<Record<string, boolean | null | undefined>>,
): Record<string, boolean> {
  const set = Object.entries(settings).filter(
    (entry): entry is [string, boolean] => entry[1] === true,
  );
  return Object.fromEntries(set);
}

export function showRecord(zone: Zone, record: ZoneRecord, shadow: Shadow | null = null): object {
  const type = typeOf(record);
  const { data } = type.api.show(dataOf(record));
  const { comment, commentModifiedAt, tags, tagsModifiedAt, settings } = record.extra ?? {};
  return {
    id: record.id,
    zone_id: zone.id,
    zone_name: zone.name,
    name: record.name,
    type: record.type,
    content: record.content,
    ...(record.priority !== null && { priority: record.priority }),
    proxiable: type.proxiable,
    proxied: record.proxied,
    ttl: record.ttl,
    ...(data !== undefined && { data }),
    settings: settings ?? {},
    locked: false,
    meta: {
      auto_added: false,
      managed_by_apps: false,
      managed_by_argo_tunnel: false,
      source: "primary",
      ...(shadow !== null && showShadow(shadow)),
    },
    comment: comment ?? null,
    tags: tags ?? [],
    created_on: showMoment(record.createdAt),
    modified_on: showMoment(record.modifiedAt),
    ...(commentModifiedAt !== undefined && { comment_modified_on: showMoment(commentModifiedAt) }),
    ...(tagsModifiedAt !== undefined && { tags_modified_on: showMoment(tagsModifiedAt) }),
  };
}

/** What is not so is left out. */
function showShadow({ shadowedBy, isGlue, isDeadGlue, shadows }: Shadow): object {
  return {
    ...(shadowedBy.length > 0 && { shadowed_by: shadowedBy }),
    ...(isGlue && { is_glue: true }),
    ...(isDeadGlue && { dead_glue: true }),
    ...(shadows > 0 && { shadowed_records_count: shadows }),
  };
}

/** The length of `2026-11-15T05:00:00Z`. */
const WHOLE_SECONDS = 20;

/** Records show fractional seconds always. */
function showMoment(milliseconds: number): string {
  const shown = showTime(milliseconds);
  return shown.length === WHOLE_SECONDS ? `${shown.slice(0, -1)}.0Z` : shown;
}

export function showChange(zone: Zone, { before, after }: RecordChange): object {
  return {
    action: before === null ? "create" : after === null ? "delete" : "update",
    before: before === null ? null : showRecord(zone, before),
    after: after === null ? null : showRecord(zone, after),
  };
}
