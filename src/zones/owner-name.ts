/** The owner name of a record: as clients write it, and as it is kept. */
import {
  isSubdomain,
  lowerName,
  NameFault,
  parseName,
  splitLabels,
  toAsciiName,
  withoutDot,
} from "#dns";
import { ZoneFault } from "./fault.ts";

/** Names that traffic goes to. The rule for their labels is the zone's name policy. */
const HOST_TYPES: ReadonlySet<string> = new Set(["A", "AAAA", "CNAME"]);

/**
 * Absolute, lower case, punycode, no dot at the end. What does not end in the zone's name is
 * relative to it, also when it looks like the name of another zone: clients rely on that.
 */
export function ownerName(given: string, zoneName: string): string {
  const zone = `${zoneName}.`;
  try {
    if (given.trim() === "") throw new NameFault("empty", "A name cannot be empty");
    const written = lowerName(toAsciiName(given.trim()));
    const absolute = parseName(
      written.endsWith(".") ? written : written === "@" ? zone : `${written}.`,
    );
    return withoutDot(
      isSubdomain(absolute, zone) ? absolute : parseName(withoutDot(absolute), zone),
    );
  } catch (error) {
    if (!(error instanceof NameFault)) throw error;
    throw new ZoneFault("bad-name", `DNS name is invalid: ${error.message}`, "/name");
  }
}

/** Why a record of this type may not have this name, or null when it may. */
export function nameFault(
  name: string,
  type: string,
  zoneName: string,
  policy: "strict" | "rfc1123",
): string | null {
  if (!HOST_TYPES.has(type)) return null;
  const below = name === zoneName ? "" : name.slice(0, -(zoneName.length + 1));
  const labels = below === "" ? [] : splitLabels(`${below}.`);
  for (const [i, label] of labels.entries()) {
    if (i === 0 && label === "*") continue;
    if (!/^[a-z0-9_-]+$/.test(label)) {
      return `The label "${label}" of ${type} name ${name} may hold only letters, digits, hyphens and underscores`;
    }
    if (!/[a-z0-9]$/.test(label))
      return `The label "${label}" of ${name} must end with a letter or digit`;
    if (label.startsWith("-")) return `The label "${label}" of ${name} must start with a letter`;
    if (/^[0-9]/.test(label) && policy === "strict") {
      return `The label "${label}" of ${name} starts with a digit; the zone setting name_policy "rfc1123" allows that`;
    }
  }
  return null;
}

/** Whether the name has an underscore where host names should have none. */
export function isDiscouraged(name: string, type: string): boolean {
  return HOST_TYPES.has(type) && name.includes("_");
}
