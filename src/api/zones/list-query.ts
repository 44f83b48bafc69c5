/** Filters of the list of zones: a plain value, or an operator in front of it. */
import { z } from "zod";
import { pageQuery } from "../shapes.ts";

export const zonesQuery = pageQuery.extend({
  name: z.string().max(300).optional(),
  status: z.string().optional(),
  type: z.string().optional(),
  "account.id": z.string().optional(),
  "account.name": z.string().optional(),
  order: z.enum(["name", "status", "account.id", "account.name", "plan.id"]).default("name"),
  match: z.enum(["any", "all"]).default("all"),
});

const operators: Readonly<Record<string, (text: string, value: string) => boolean>> = {
  equal: (text, value) => text === value,
  not_equal: (text, value) => text !== value,
  starts_with: (text, value) => text.startsWith(value),
  ends_with: (text, value) => text.endsWith(value),
  contains: (text, value) => text.includes(value),
};

/** `contains:.org`, `starts_with_case_sensitive:Dev`, or a value to be equal to. */
export function textMatches(text: string, filter: string): boolean {
  const match = /^([a-z_]+?)(_case_sensitive)?:(.*)$/s.exec(filter);
  const operator = match === null ? undefined : operators[match[1]!];
  if (operator === undefined) return text.toLowerCase() === filter.toLowerCase();
  const value = match![3]!;
  return match![2] === undefined
    ? operator(text.toLowerCase(), value.toLowerCase())
    : operator(text, value);
}
