/** LOC: where on the earth a host stands. RFC 1876. */
import { contentOf, isAbsent, isTelling, ownValue, type RecordInput } from "../api.ts";
import type { Codec } from "../codec.ts";
import { quote, RecordFault, WireFault } from "../fault.ts";
import {
  ALTITUDE_BASE_CM,
  angleParts,
  checkRange,
  composeAngle,
  decodeSize,
  encodeSize,
  type Location,
  MAX_ALTITUDE_CM,
  MAX_LATITUDE,
  MAX_LONGITUDE,
  MAX_SIZE_CM,
  parseLocation,
  printLocation,
  representable,
} from "../location.ts";
import { defineRecord } from "../record.ts";
import { contentReader } from "../text.ts";
import type { WireReader } from "../wire.ts";

/** The equator and the prime meridian on the wire. */
const ZERO_ANGLE = 0x8000_0000;

const rdata: Codec<Location> = {
  read: (wire) => {
    if (wire.u8() !== 0) throw new WireFault("A LOC of a version other than 0");
    const [sizeCm, precisionHorzCm, precisionVertCm] = [
      readSize(wire),
      readSize(wire),
      readSize(wire),
    ];
    const latitude = readAngle(wire, MAX_LATITUDE);
    const longitude = readAngle(wire, MAX_LONGITUDE);
    const altitudeCm = wire.u32() - ALTITUDE_BASE_CM;
    return { latitude, longitude, altitudeCm, sizeCm, precisionHorzCm, precisionVertCm };
  },
  write: (wire, place) => {
    wire.u8(0);
    for (const cm of [place.sizeCm, place.precisionHorzCm, place.precisionVertCm]) {
      wire.u8(encodeSize(cm));
    }
    wire.u32(ZERO_ANGLE + place.latitude);
    wire.u32(ZERO_ANGLE + place.longitude);
    wire.u32(ALTITUDE_BASE_CM + place.altitudeCm);
  },
  parse: parseLocation,
  print: (place) => printLocation(place, "m"),
  bulk: () => 0,
};

function readSize(wire: WireReader): number {
  const size = decodeSize(wire.u8());
  if (size === null) throw new WireFault("A LOC size that is not a digit and a power of ten");
  return size;
}

function readAngle(wire: WireReader, most: number): number {
  const angle = wire.u32() - ZERO_ANGLE;
  if (Math.abs(angle) > most) throw new WireFault("A LOC angle that no place has");
  return angle;
}

export const LOC = defineRecord({
  type: "LOC",
  code: 29,
  rdata,
  api: { show, accept },
});

function show(place: Location) {
  const [latDegrees, latMinutes, latSeconds] = angleParts(place.latitude);
  const [longDegrees, longMinutes, longSeconds] = angleParts(place.longitude);
  return {
    content: printLocation(place, ""),
    data: {
      lat_degrees: latDegrees,
      lat_minutes: latMinutes,
      lat_seconds: latSeconds,
      lat_direction: place.latitude < 0 ? "S" : "N",
      long_degrees: longDegrees,
      long_minutes: longMinutes,
      long_seconds: longSeconds,
      long_direction: place.longitude < 0 ? "W" : "E",
      altitude: place.altitudeCm / 100,
      size: place.sizeCm / 100,
      precision_horz: place.precisionHorzCm / 100,
      precision_vert: place.precisionVertCm / 100,
    },
  };
}

const REQUIRED = ["lat_degrees", "lat_direction", "long_degrees", "long_direction"] as const;

function accept(input: RecordInput): Location {
  const given = (key: string) => ownValue(input.data, key);
  if (!REQUIRED.some((key) => isTelling(given(key))) && isTelling(input.content)) {
    return acceptContent(contentOf(input));
  }
  const missing = REQUIRED.filter((key) => isAbsent(given(key)));
  if (missing.length > 0) {
    const message = `${missing.join(", ")} must be in the data of a LOC`;
    throw new RecordFault("missing-data-field", missing, message);
  }
  const angle = (prefix: "lat" | "long", letters: string, most: number) => {
    const [degrees, minutes, seconds] = ["degrees", "minutes", "seconds"].map((part) =>
      decimal(given(`${prefix}_${part}`) ?? 0, `${prefix}_${part}`),
    ) as [number, number, number];
    const direction = letter(given(`${prefix}_direction`), `${prefix}_direction`, letters);
    for (const [part, value] of [
      ["degrees", degrees],
      ["minutes", minutes],
    ] as const) {
      if (!Number.isInteger(value)) {
        throw new RecordFault("bad-field", `${prefix}_${part}`, `${value} ${part} are not whole`);
      }
    }
    return composeAngle(prefix, degrees, minutes, seconds, direction, most);
  };
  const metres = (key: string, least: number, most: number) => {
    const value = decimal(given(key) ?? 0, key);
    return checkRange(value * 100, least, most, key, value);
  };
  return {
    latitude: angle("lat", "NS", MAX_LATITUDE),
    longitude: angle("long", "EW", MAX_LONGITUDE),
    altitudeCm: metres("altitude", -ALTITUDE_BASE_CM, MAX_ALTITUDE_CM),
    sizeCm: representable(metres("size", 0, MAX_SIZE_CM)),
    precisionHorzCm: representable(metres("precision_horz", 0, MAX_SIZE_CM)),
    precisionVertCm: representable(metres("precision_vert", 0, MAX_SIZE_CM)),
  };
}

function acceptContent(content: string): Location {
  const text = contentReader(content);
  const place = parseLocation(text);
  text.end();
  return place;
}

function decimal(value: unknown, field: string): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  if (typeof value === "string" && /^-?\d{1,9}(?:\.\d{1,9})?$/.test(value.trim()))
    return Number(value);
  throw new RecordFault("bad-field", field, `The ${field} ${quote(value)} is not a number`);
}

function letter(value: unknown, field: string, letters: string): string {
  const text = typeof value === "string" ? value.trim().toUpperCase() : "";
  if (text.length === 1 && letters.includes(text)) return text;
  throw new RecordFault(
    "bad-field",
    field,
    `The ${field} ${quote(value)} is not one of ${letters}`,
  );
}
