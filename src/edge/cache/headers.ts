/** Header fields as they travel: a list of name, value, name, value. RFC 9110 §5. */

export type RawHeaders = readonly string[];

/** A request's fields as Node has parsed them: lower-case names, lines of one name joined. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The value of a field, its lines joined as RFC 9110 §5.3 has it; null when it is absent. */
export function fieldOf(headers: RawHeaders, name: string): string | null {
  let value: string | null = null;
  for (let i = 0; i < headers.length; i += 2) {
    if (isNamed(headers[i]!, name)) {
      value = value === null ? headers[i + 1]! : `${value}, ${headers[i + 1]!}`;
    }
  }
  return value;
}

/** Without the fields of these lower-case names. */
export function withoutFields(headers: RawHeaders, names: ReadonlySet<string>): string[] {
  const kept: string[] = [];
  for (let i = 0; i < headers.length; i += 2) {
    if (!names.has(headers[i]!.toLowerCase())) kept.push(headers[i]!, headers[i + 1]!);
  }
  return kept;
}

/** A request's field in one text. */
export function requestField(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "object" ? value.join(", ") : value;
}

/** The members of a list, trimmed, without empty ones. */
export function membersOf(list: string): string[] {
  return list
    .split(",")
    .map((member) => member.trim())
    .filter((member) => member !== "");
}

function isNamed(given: string, name: string): boolean {
  return given.length === name.length && (given === name || given.toLowerCase() === name);
}
