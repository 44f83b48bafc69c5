/** Converts arguments as the original's runtime does, with its messages. No request is sent for what fails here. */

export type Fields = Readonly<Record<string, unknown>>;

/** `undefined`, `null` and any object or function are options; unknown fields do not matter. */
export function toOptions(
  value: unknown,
  struct: string,
  method: string,
  parameter: number,
  on = "StoreBucket",
): Fields {
  if (value === undefined || value === null) return {};
  if (isObject(value)) return value;
  throw wrongParameter(method, parameter, struct, on);
}

export function isObject(value: unknown): value is Fields {
  return (typeof value === "object" && value !== null) || typeof value === "function";
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
  return "".concat(value as string);
}

/** Text from anything but `undefined`, which is absent. */
export function coercedField(value: unknown): string | undefined {
  return value === undefined ? undefined : toText(value);
}

/** Text that is taken as it is, or not at all. */
export function textField(value: unknown, field: string, struct: string): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw wrongField(field, struct, "string");
}

const INT_MIN = -(2 ** 31);
const INT_MAX = 2 ** 31 - 1;

/** A 32-bit integer from anything that can be a number; what cannot is 0. */
export function toInt(value: unknown): number {
  const number = +(value as object);
  if (!Number.isFinite(number)) return 0;
  if (number >= INT_MIN && number <= INT_MAX) return Math.trunc(number);
  throw new TypeError(`Value out of range. Must be between ${INT_MIN} and ${INT_MAX} (inclusive).`);
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

/** A date in a header. One that cannot be read is the epoch, as in the original: it still counts. */
export function headerDate(headers: Headers, name: string): number | undefined {
  const text = headers.get(name);
  if (text === null) return undefined;
  const time = new Date(text).getTime();
  return Number.isNaN(time) ? 0 : time;
}

/** The octets of a buffer or view, as they are now; null for anything else. */
export function octetsOf(value: unknown): Uint8Array | null {
  if (ArrayBuffer.isView(value))
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  return value instanceof ArrayBuffer || isShared(value) ? new Uint8Array(value) : null;
}

export function isShared(value: unknown): value is SharedArrayBuffer {
  return typeof SharedArrayBuffer !== "undefined" && value instanceof SharedArrayBuffer;
}

export function toHex(octets: Uint8Array): string {
  let hex = "";
  for (const octet of octets) hex += octet.toString(16).padStart(2, "0");
  return hex;
}

/** The newest runtimes can do it themselves, four times as fast. */
const ownFromHex = (Uint8Array as { fromHex?: (hex: string) => Uint8Array<ArrayBuffer> }).fromHex;

export function fromHex(hex: string): ArrayBuffer {
  if (ownFromHex !== undefined) return ownFromHex.call(Uint8Array, hex).buffer;
  const octets = new Uint8Array(hex.length / 2);
  for (let i = 0; i < octets.length; i++)
    octets[i] = Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16);
  return octets.buffer;
}
