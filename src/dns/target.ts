/** What the types that point at a host share. */
import { contentApi, type ApiForm } from "./api.ts";
import { quote, RecordFault } from "./fault.ts";
import { hostField } from "./fields.ts";
import { isAddressLike } from "./host.ts";
import { withoutDot } from "./name.ts";

/** Refuses an address where a name belongs; no resolver would ever find it. RFC 1123 §2.1. */
export function addressAsTarget(target: string, field = "target"): RecordFault | null {
  if (!isAddressLike(target)) return null;
  return new RecordFault(
    "bad-target",
    field,
    `${quote(withoutDot(target))} is an address; the ${field} must be a host name`,
  );
}

/** Refuses the root as a target, for types to which it means nothing. */
export function rootAsTarget(target: string): RecordFault | null {
  if (target !== ".") return null;
  return new RecordFault("bad-target", "target", "The target cannot be the root");
}

/** The API's form of a type that is one host name: `content`, without the last dot. */
export const targetApi: ApiForm<{ readonly target: string }> = contentApi(
  "target",
  (content, name) => hostField(content, name),
  withoutDot,
);
