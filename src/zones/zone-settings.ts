/** Settings of a zone: which there are, what each may hold, and its default. */
import { ZoneFault } from "./fault.ts";

interface ZoneSetting {
  readonly fallback: unknown;
  /** Why a value cannot be, or null when it can. */
  readonly refuse: (value: unknown) => string | null;
}

const oneOf = (...choices: readonly unknown[]) => ({
  refuse: (value: unknown) =>
    choices.includes(value) ? null : `must be one of ${choices.map(String).join(", ")}`,
});
const onOff = (fallback: "on" | "off"): ZoneSetting => ({ fallback, ...oneOf("on", "off") });
const choice = (fallback: string, ...others: string[]): ZoneSetting => ({
  fallback,
  ...oneOf(fallback, ...others),
});
const wholeNumber = (fallback: number, least: number, most: number): ZoneSetting => ({
  fallback,
  refuse: (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most
      ? null
      : `must be a whole number from ${least} to ${most}`,
});

/** HSTS is one object under one id. */
const securityHeader: ZoneSetting = {
  fallback: {
    strict_transport_security: {
      enabled: false,
      max_age: 0,
      include_subdomains: false,
      preload: false,
      nosniff: false,
    },
  },
  refuse: (value) => {
    const hsts = (value as { strict_transport_security?: unknown } | null)
      ?.strict_transport_security;
    if (typeof hsts !== "object" || hsts === null || Array.isArray(hsts)) {
      return "must be an object with strict_transport_security";
    }
    const isRight = ([name, one]: [string, unknown]) =>
      name === "max_age" ? Number.isInteger(one) && (one as number) >= 0 : typeof one === "boolean";
    return Object.entries(hsts).every(isRight) ? null : "must have booleans, and a whole max_age";
  },
};

/** By id, in the order they are listed. */
export const zoneSettings = {
  "0rtt": onOff("off"),
  always_use_https: onOff("off"),
  automatic_https_rewrites: onOff("on"),
  brotli: onOff("on"),
  // Differs from the original, where it is 14400: what the origin says holds until this says otherwise.
  browser_cache_ttl: wholeNumber(0, 0, 31_536_000),
  // Differs from the original, where it is aggressive: nothing is cached until this says so.
  cache_level: choice("bypass", "basic", "simplified", "aggressive"),
  // The older name of dns_settings.flatten_all_cnames; the two mirror each other.
  cname_flattening: choice("flatten_at_root", "flatten_all"),
  development_mode: onOff("off"),
  early_hints: onOff("off"),
  http2: onOff("on"),
  http3: onOff("off"),
  ipv6: onOff("on"),
  min_tls_version: choice("1.0", "1.1", "1.2", "1.3"),
  // Ours: which names A, AAAA and CNAME records may have.
  name_policy: choice("strict", "rfc1123"),
  opportunistic_encryption: onOff("on"),
  security_header: securityHeader,
  security_level: choice("medium", "off", "essentially_off", "low", "high", "under_attack"),
  ssl: choice("full", "off", "flexible", "strict"),
  tls_1_3: choice("on", "off", "zrt"),
  // Ours: the least TTL that a record may have.
  ttl_floor: wholeNumber(60, 30, 60),
  websockets: onOff("on"),
} as const satisfies Record<string, ZoneSetting>;

export type ZoneSettingId = keyof typeof zoneSettings;

/** What a zone has set, by id; the rest is at its default. */
export type ZoneSettingValues = Readonly<
  Partial<Record<ZoneSettingId, { readonly value: unknown; readonly modifiedOn: number }>>
>;

export function isZoneSetting(id: string): id is ZoneSettingId {
  return Object.hasOwn(zoneSettings, id);
}

/** Throws unless there is such a setting and it may hold the value. */
export function checkZoneSetting(id: string, value: unknown): asserts id is ZoneSettingId {
  if (!isZoneSetting(id)) throw new ZoneFault("no-such-setting", `There is no zone setting ${id}`);
  const why = zoneSettings[id].refuse(value);
  if (why !== null) throw new ZoneFault("bad-setting", `${id} ${why}`, "/value");
}

export function zoneSettingOf(values: ZoneSettingValues, id: ZoneSettingId): unknown {
  return values[id]?.value ?? zoneSettings[id].fallback;
}

/** It ends by itself, so that nobody leaves it on. */
const DEVELOPMENT_MODE_MS = 3 * 3600 * 1000;

/** When the zone's development mode ends or has ended; 0 when it was never on, or was switched off. */
export function developmentModeEnds({ development_mode: mode }: ZoneSettingValues): number {
  return mode?.value === "on" ? mode.modifiedOn + DEVELOPMENT_MODE_MS : 0;
}
