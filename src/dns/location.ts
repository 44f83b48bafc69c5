/** A place on the earth as LOC has it: thousandths of arc seconds, and centimetres. RFC 1876 §2, §3. */
import { quote, RecordFault } from "./fault.ts";
import type { TextReader } from "./text.ts";

export interface Location {
  /** Thousandths of an arc second, north and east positive. */
  readonly latitude: number;
  readonly longitude: number;
  readonly altitudeCm: number;
  readonly sizeCm: number;
  readonly precisionHorzCm: number;
  readonly precisionVertCm: number;
}

const DEGREE = 3_600_000;
export const MAX_LATITUDE = 90 * DEGREE;
export const MAX_LONGITUDE = 180 * DEGREE;
/** Altitudes count from 100 km below the WGS 84 spheroid. */
export const ALTITUDE_BASE_CM = 10_000_000;
export const MAX_ALTITUDE_CM = 0xffff_ffff - ALTITUDE_BASE_CM;
export const MAX_SIZE_CM = 9_000_000_000;

/** `42 21 54 N 71 06 18 W -24m 30m`; what is left out has the defaults of RFC 1876 §3. */
export function parseLocation(text: TextReader): Location {
  const latitude = parseAngle(text, "lat", "NS", MAX_LATITUDE);
  const longitude = parseAngle(text, "long", "EW", MAX_LONGITUDE);
  const metres = (name: string, least: number, most: number, standard?: number) => {
    if (text.left === 0 && standard !== undefined) return standard;
    const word = text.word(name);
    const number = /^-?\d{1,8}(?:\.\d{1,2})?(?=m?$)/i.exec(word)?.[0];
    return checkRange(
      number === undefined ? Number.NaN : Number(number) * 100,
      least,
      most,
      name,
      word,
    );
  };
  return {
    latitude,
    longitude,
    altitudeCm: metres("altitude", -ALTITUDE_BASE_CM, MAX_ALTITUDE_CM),
    sizeCm: representable(metres("size", 0, MAX_SIZE_CM, 100)),
    precisionHorzCm: representable(metres("precision_horz", 0, MAX_SIZE_CM, 1_000_000)),
    precisionVertCm: representable(metres("precision_vert", 0, MAX_SIZE_CM, 1000)),
  };
}

function parseAngle(text: TextReader, prefix: string, letters: string, most: number): number {
  const parts: string[] = [];
  for (;;) {
    const word = text.word(`${prefix}_direction`);
    if (word.length === 1 && letters.includes(word.toUpperCase())) {
      return angle(prefix, parts, word.toUpperCase(), most);
    }
    parts.push(word);
    if (parts.length > 3) throw badPlace(`${prefix}_direction`, word, `one of ${letters}`);
  }
}

function angle(prefix: string, parts: readonly string[], direction: string, most: number): number {
  const [degrees, minutes = "0", seconds = "0"] = parts;
  if (degrees === undefined || !/^\d{1,3}$/.test(degrees)) {
    throw badPlace(`${prefix}_degrees`, degrees ?? "", "a number of degrees");
  }
  if (!/^\d{1,2}$/.test(minutes))
    throw badPlace(`${prefix}_minutes`, minutes, "a number of minutes");
  if (!/^\d{1,2}(?:\.\d{1,3})?$/.test(seconds)) {
    throw badPlace(`${prefix}_seconds`, seconds, "a number of seconds");
  }
  return composeAngle(prefix, Number(degrees), Number(minutes), Number(seconds), direction, most);
}

/** An angle from its parts, signed by its direction. */
export function composeAngle(
  prefix: string,
  degrees: number,
  minutes: number,
  seconds: number,
  direction: string,
  most: number,
): number {
  checkRange(degrees, 0, most / DEGREE, `${prefix}_degrees`, degrees);
  checkRange(minutes, 0, 59, `${prefix}_minutes`, minutes);
  const thousandths = checkRange(seconds * 1000, 0, 59_999, `${prefix}_seconds`, seconds);
  const sum = degrees * DEGREE + minutes * 60_000 + thousandths;
  checkRange(sum, 0, most, `${prefix}_degrees`, `${degrees} ${minutes} ${seconds}`);
  return direction === "S" || direction === "W" ? 0 - sum : sum;
}

/** The nearest whole number, when it lies within the limits. */
export function checkRange(
  value: number,
  least: number,
  most: number,
  field: string,
  given: unknown,
): number {
  const whole = Math.round(value);
  if (whole >= least && whole <= most) return whole === 0 ? 0 : whole; // Never minus zero.
  throw badPlace(field, given, "within its range");
}

function badPlace(field: string, given: unknown, wanted: string): RecordFault {
  return new RecordFault("bad-field", field, `The ${field} ${quote(given)} is not ${wanted}`);
}

/** The largest size not above this one that a digit and a power of ten can say. RFC 1876 §2. */
export function representable(cm: number): number {
  return decodeSize(encodeSize(cm))!;
}

export function encodeSize(cm: number): number {
  const exponent = cm < 1 ? 0 : String(Math.floor(cm)).length - 1;
  return (Math.floor(cm / 10 ** exponent) << 4) | exponent;
}

/** Null when a half of the octet is not a digit. */
export function decodeSize(octet: number): number | null {
  const exponent = octet & 15;
  const mantissa = octet >> 4;
  return exponent > 9 || mantissa > 9 ? null : mantissa * 10 ** exponent;
}

/** Degrees, minutes and seconds; the seconds with their thousandths. */
export function angleParts(
  thousandths: number,
): [degrees: number, minutes: number, seconds: number] {
  const size = Math.abs(thousandths);
  return [Math.floor(size / DEGREE), Math.floor((size % DEGREE) / 60_000), (size % 60_000) / 1000];
}

/** Presentation text; the API's content leaves the unit off. */
export function printLocation(place: Location, unit: "m" | ""): string {
  const angle = (value: number, letters: readonly [string, string]) => {
    const [degrees, minutes, seconds] = angleParts(value);
    return `${degrees} ${minutes} ${seconds.toFixed(3)} ${letters[value < 0 ? 1 : 0]}`;
  };
  const metres = (cm: number) => `${(cm / 100).toFixed(2)}${unit}`;
  return [
    angle(place.latitude, ["N", "S"]),
    angle(place.longitude, ["E", "W"]),
    metres(place.altitudeCm),
    metres(place.sizeCm),
    metres(place.precisionHorzCm),
    metres(place.precisionVertCm),
  ].join(" ");
}
