/** Filters of lists by text: a plain value, or an operator in front of it. */
import { NameFault, toAsciiName } from "#dns";

const operators: Readonly<Record<string, (text: string, value: string) => boolean>> = {
  equal: (text, value) => text === value,
  not_equal: (text, value) => text !== value,
  starts_with: (text, value) => text.startsWith(value),
  ends_with: (text, value) => text.endsWith(value),
  contains: (text, value) => text.includes(value),
};

/**
 * `contains:.org`, `starts_with_case_sensitive:Dev`, or a value to be equal to. `kept` gives the value
 * the form in which the text is kept.
 */
export function textMatches(
  text: string,
  filter: string,
  kept: (value: string) => string = (value) => value,
): boolean {
  const match = /^([a-z_]+?)(_case_sensitive)?:(.*)$/s.exec(filter);
  const operator = match === null ? undefined : operators[match[1]!];
  if (operator === undefined) return text.toLowerCase() === kept(filter).toLowerCase();
  const value = kept(match![3]!);
  return match![2] === undefined
    ? operator(text.toLowerCase(), value.toLowerCase())
    : operator(text, value);
}

/**
 * A name in a filter as names are kept: labels of other scripts as punycode, no dot at the end. What
 * has no such form stays as it is, and no name is equal to it.
 */
export function nameInFilter(text: string): string {
  const written = text.replace(/\.$/, "");
  try {
    return toAsciiName(written);
  } catch (error) {
    if (error instanceof NameFault) return written;
    throw error;
  }
}
