/** Holds input against its shape and says of each field what is wrong. */
import type { z } from "zod";
import { type ApiError, invalidFields } from "./errors.ts";

/** Enough to mend a request by; a body of a thousand faults must not become a book. */
const MAX_REPORTED = 20;

export function checkShape<S extends z.ZodType>(shape: S, value: unknown): z.output<S> {
  const checked = shape.safeParse(value);
  if (checked.success) return checked.data;
  throw faultOf(checked.error.issues);
}

function faultOf(issues: readonly z.core.$ZodIssue[]): ApiError {
  return invalidFields(
    issues.slice(0, MAX_REPORTED).map((issue) => {
      const field = issue.path.join(".");
      const missing = issue.code === "invalid_type" && issue.message.endsWith("received undefined");
      const why = issue.message.replace(/^Invalid input: /, "");
      return {
        pointer: `/${issue.path.map(String).map(escapePointer).join("/")}`,
        message: missing
          ? `${field} is a required field.`
          : `${field === "" ? "body" : field}: ${why}`,
      };
    }),
  );
}

/** RFC 6901 §3. */
function escapePointer(part: string): string {
  return part.replaceAll("~", "~0").replaceAll("/", "~1");
}
