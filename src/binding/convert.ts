/** Converts arguments as the original's runtime does, with its messages. No request is sent for what fails here. */

/** `undefined`, `null` and any object or function are options; unknown fields do not matter. */
export function toOptions(
  value: unknown,
  struct: string,
  method: string,
  parameter: number,
  on = "StoreBucket",
): Record<string, unknown> {
  if (value === undefined || value === null) return {};
  if (typeof value === "object" || typeof value === "function") {
    return value as Record<string, unknown>;
  }
  throw wrongParameter(method, parameter, struct, on);
}

export function wrongParameter(
  method: string,
  parameter: number,
  type: string,
  on = "StoreBucket",
): TypeError {
  return new TypeError(
    `Failed to execute '${method}' on '${on}': parameter ${parameter} is not of type '${type}'.`,
  );
}

export function wrongField(field: string, struct: string, type: string): TypeError {
  return new TypeError(
    `Incorrect type for the '${field}' field on '${struct}': the provided value is not of type '${type}'.`,
  );
}

export function wrongElement(index: number, type: string): TypeError {
  return new TypeError(
    `Incorrect type for array element ${index}: the provided value is not of type '${type}'.`,
  );
}

/** As JavaScript makes text of anything; what `toString` throws passes through. */
export function toText(value: unknown): string {
  return `${value as string}`;
}

/** Text that is taken as it is, or not at all. */
export function textField(value: unknown, field: string, struct: string): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw wrongField(field, struct, "string");
}

const INT_LIMIT = 2 ** 31;

/** A 32-bit integer from anything that can be a number; what cannot is 0. */
export function toInt(value: unknown): number {
  const number = Math.trunc(+(value as number));
  if (!Number.isFinite(number)) return 0;
  if (number >= -INT_LIMIT && number < INT_LIMIT) return number;
  throw new TypeError(
    "Value out of range. Must be between -2147483648 and 2147483647 (inclusive).",
  );
}

/** A date, or milliseconds. */
export function dateField(value: unknown, field: string, struct: string): number | undefined {
  if (value === undefined) return undefined;
  const isDate = value instanceof Date;
  if (!isDate && typeof value !== "number") throw wrongField(field, struct, "date");
  const time = isDate ? value.getTime() : new Date(value).getTime();
  if (Number.isNaN(time)) {
    throw new TypeError("The value cannot be converted because it is not a valid Date.");
  }
  return time;
}

/** The octets of a buffer or view, as they are now. */
export function octetsOf(value: unknown): Uint8Array | null {
  if (ArrayBuffer.isView(value))
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  const isShared = typeof SharedArrayBuffer !== "undefined" && value instanceof SharedArrayBuffer;
  return value instanceof ArrayBuffer || isShared ? new Uint8Array(value as ArrayBuffer) : null;
}

export function toHex(octets: Uint8Array): string {
  let hex = "";
  for (const octet of octets) hex += octet.toString(16).padStart(2, "0");
  return hex;
}

export function fromHex(hex: string): ArrayBuffer {
  const octets = new Uint8Array(hex.length / 2);
  for (let i = 0; i < octets.length; i++)
    octets[i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return octets.buffer;
}
