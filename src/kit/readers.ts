/** Readers for the kinds of value that settings hold. */
import { isIP } from "node:net";
import { parseHostPort, type HostPort } from "./address.ts";
import { rangeFault } from "./cidr.ts";
import type { Reader } from "./settings.ts";

export const text: Reader<string> = (raw) => {
  if (typeof raw !== "string" || raw.trim() === "") throw new Error("expected text");
  return raw;
};

/** Null for `off`, else what the other reader reads. */
export function orOff<T>(read: Reader<T>): Reader<T | null> {
  return (raw) => (raw === "off" ? null : read(raw));
}

export const textOrOff = orOff(text);

/** HOST:PORT, or null for `off`. A scheme in front is tolerated: clients name the same address as a URL. */
export const listen: Reader<HostPort | null> = (raw) => {
  const given = text(raw);
  return given === "off"
    ? null
    : parseHostPort(given.replace(/^https?:\/\//, "").replace(/\/$/, ""));
};

export function integer(least: number, most: number): Reader<number> {
  return (raw) => {
    const value = typeof raw === "string" && /^-?\d{1,15}$/.test(raw) ? Number(raw) : raw;
    if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) {
      throw new Error(`expected a whole number from ${least} to ${most}`);
    }
    return value as number;
  };
}

export function oneOf<const C extends string>(...choices: readonly C[]): Reader<C> {
  return (raw) => {
    if (!choices.includes(raw as C)) throw new Error(`expected ${choices.join(" or ")}`);
    return raw as C;
  };
}

/** A TOML array, or words with commas between them. */
export function listOf<T>(read: Reader<T>): Reader<readonly T[]> {
  return (raw) => {
    const items = typeof raw === "string" ? raw.split(",").map((item) => item.trim()) : raw;
    if (!Array.isArray(items)) throw new Error("expected a list");
    return items.filter((item) => item !== "").map((item) => read(item));
  };
}

/** A list that must have something in it. */
export function someOf<T>(read: Reader<T>): Reader<readonly T[]> {
  return (raw) => {
    const items = listOf(read)(raw);
    if (items.length === 0) throw new Error("expected at least one");
    return items;
  };
}

export const ipAddress: Reader<string> = (raw) => {
  if (typeof raw !== "string" || isIP(raw) === 0)
    throw new Error(`"${String(raw)}" is not an IP address`);
  return raw;
};

export const addressRange: Reader<string> = (raw) => {
  const fault = rangeFault(String(raw));
  if (fault !== null) throw new Error(fault);
  return raw as string;
};

/** An IP address with an optional port: `9.9.9.9`, `127.0.0.1:5300`, `[::1]:53`. */
export const serverAddress: Reader<string> = (raw) => {
  const given = text(raw);
  if (isIP(given) === 0 && isIP(parseHostPort(given).host) === 0) {
    throw new Error(`"${given}" is not an IP address with an optional port`);
  }
  return given;
};

/** A host name: labels of letters, digits, hyphens and underscores. RFC 1035 §2.3.4 for the lengths. */
export const hostname: Reader<string> = (raw) => {
  const name = text(raw).toLowerCase().replace(/\.$/, "");
  const label = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;
  if (name.length > 253 || !name.split(".").every((part) => label.test(part))) {
    throw new Error(`"${String(raw)}" is not a host name`);
  }
  return name;
};

/** A URL with one of the given schemes. */
export function url(...schemes: readonly string[]): Reader<string> {
  return (raw) => {
    const given = text(raw);
    const scheme = /^([a-z0-9+.-]+):/i.exec(given)?.[1]?.toLowerCase();
    if (scheme === undefined || !schemes.includes(scheme)) {
      throw new Error(
        `expected a URL that starts with ${schemes.map((s) => `${s}:`).join(" or ")}`,
      );
    }
    return given;
  };
}
