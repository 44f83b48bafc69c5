/** Lifecycle rules in the original's spelling: ages in seconds, though only whole days are kept. */
import { z } from "zod";
import type { LifecycleForVersions, LifecycleRule, LifecycleTime } from "#objects";
import { showTime } from "../shapes.ts";

const DAY_SECONDS = 86_400;

const age = z.object({
  type: z.literal("Age"),
  maxAge: z
    .number()
    .multipleOf(DAY_SECONDS, `must be whole days: a multiple of ${DAY_SECONDS} seconds`)
    .transform((seconds) => seconds / DAY_SECONDS),
});
const date = z.object({
  type: z.literal("Date"),
  date: z
    .union([z.iso.date(), z.iso.datetime({ offset: true })])
    .transform((text) => Date.parse(text)),
});
const time = z
  .discriminatedUnion("type", [age, date])
  .transform((given): LifecycleTime =>
    given.type === "Age" ? { days: given.maxAge } : { date: given.date },
  );

/** Tags and sizes, and below what is for versions, are not of the original: S3 sets them, and none may get lost. */
const conditions = z.object({
  prefix: z.string().default(""),
  tags: z.record(z.string(), z.string()).optional(),
  objectSizeGreaterThan: z.number().optional(),
  objectSizeLessThan: z.number().optional(),
});

const moved = z.literal("InfrequentAccess");
const aged = { days: z.number(), kept: z.number().optional() };

const rule = z.object({
  id: z.string(),
  enabled: z.boolean(),
  conditions: conditions.prefault({}),
  deleteObjectsTransition: z.object({ condition: time }).nullish(),
  storageClassTransitions: z.array(z.object({ condition: time, storageClass: moved })).nullish(),
  abortMultipartUploadsTransition: z.object({ condition: age }).nullish(),
  forVersions: z
    .object({
      expiredDeleteMarker: z.boolean().optional(),
      expiration: z.object(aged).optional(),
      transitions: z.array(z.object({ ...aged, storageClass: moved })).optional(),
    })
    .nullish(),
});

export const lifecycleInput = z.object({ rules: z.array(rule.transform(readRule)).default([]) });

function readRule(given: z.output<typeof rule>): LifecycleRule {
  const { id, enabled, deleteObjectsTransition: expire, forVersions } = given;
  const { abortMultipartUploadsTransition: abort, storageClassTransitions: moves } = given;
  return {
    id,
    enabled,
    filter: readConditions(given.conditions),
    ...(expire && { expiration: expire.condition }),
    transitions: (moves ?? []).map(({ condition, storageClass }) => ({
      when: condition,
      storageClass,
    })),
    ...(abort && { abortUploadsAfterDays: abort.condition.maxAge }),
    // What JSON has is either there or not: never there and undefined.
    ...(forVersions && { forVersions: forVersions as LifecycleForVersions }),
  };
}

function readConditions(given: z.output<typeof conditions>): LifecycleRule["filter"] {
  const { prefix, tags, objectSizeGreaterThan, objectSizeLessThan } = given;
  const others = {
    ...(tags && { tags }),
    ...(objectSizeGreaterThan !== undefined && { largerThan: objectSizeGreaterThan }),
    ...(objectSizeLessThan !== undefined && { smallerThan: objectSizeLessThan }),
  };
  const isMany = Object.keys(others).length > 0;
  return { form: isMany ? "and" : "filter", prefix, ...others };
}

export function showLifecycleRule(rule: LifecycleRule): object {
  const { id, enabled, filter, expiration, transitions, abortUploadsAfterDays } = rule;
  const { prefix = "", tags, largerThan, smallerThan } = filter;
  return {
    id,
    enabled,
    conditions: {
      prefix,
      ...(tags && { tags }),
      ...(largerThan !== undefined && { objectSizeGreaterThan: largerThan }),
      ...(smallerThan !== undefined && { objectSizeLessThan: smallerThan }),
    },
    ...(expiration && { deleteObjectsTransition: { condition: showWhen(expiration) } }),
    ...(transitions.length > 0 && {
      storageClassTransitions: transitions.map(({ when, storageClass }) => ({
        condition: showWhen(when),
        storageClass,
      })),
    }),
    ...(abortUploadsAfterDays !== undefined && {
      abortMultipartUploadsTransition: { condition: showWhen({ days: abortUploadsAfterDays }) },
    }),
    ...(rule.forVersions && { forVersions: rule.forVersions }),
  };
}

function showWhen(when: LifecycleTime): object {
  return "days" in when
    ? { type: "Age", maxAge: when.days * DAY_SECONDS }
    : { type: "Date", date: showTime(when.date) };
}
