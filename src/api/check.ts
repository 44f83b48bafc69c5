/** Holds input against its shape and says of each field what is wrong. */
import type { z } from "zod";
import { jsonPointer } from "#kit/json-pointer.ts";
import { shorten } from "#kit/shorten.ts";
import { type ApiError, invalidFields } from "./errors.ts";

/** Enough to mend a request by; a body of a thousand faults must not become a book. */
const MAX_REPORTED = 20;

export function checkShape<S extends z.ZodType>(shape: S, value: unknown): z.output<S> {
  const checked = shape.safeParse(value);
  if (checked.success) return checked.data;
  throw faultOf(checked.error.issues);
}

/** One entry a field: what else is wrong with it shows when the first fault is mended. */
function faultOf(issues: readonly z.core.$ZodIssue[]): ApiError {
  const faults = new Map<string, string>();
  for (const issue of issues) {
    const pointer = jsonPointer(issue.path);
    if (!faults.has(pointer)) faults.set(pointer, messageOf(issue));
    if (faults.size === MAX_REPORTED) break;
  }
  return invalidFields([...faults].map(([pointer, message]) => ({ pointer, message })));
}

function messageOf(issue: z.core.$ZodIssue): string {
  const field = issue.path.length === 0 ? "body" : issue.path.map(String).map(shorten).join(".");
  const isMissing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
  if (isMissing) return `${field} is a required field.`;
  return `${field}: ${issue.message.replace(/^Invalid input: /, "")}`;
}
