/** Which records may stand at one name together. */
import { plainText } from "#dns";
import { ZoneFault } from "./fault.ts";
import { MAX_RRSET_CHARACTERS } from "./limits.ts";
import type { ZoneRecord } from "./record.ts";

const ADDRESSES: ReadonlySet<string> = new Set(["A", "AAAA"]);

/** Throws unless the record may join the others at its name. */
export function checkCoexistence(
  record: ZoneRecord,
  others: readonly ZoneRecord[],
  isApex: boolean,
): void {
  const has = (types: ReadonlySet<string>) => others.some(({ type }) => types.has(type));
  const { type } = record;
  if (others.some((other) => identityOf(other) === identityOf(record))) {
    throw new ZoneFault("identical-record", "An identical record already exists.");
  }
  if (type === "CNAME" && has(new Set(["A", "AAAA", "CNAME"]))) {
    throw new ZoneFault(
      "host-exists",
      "An A, AAAA, or CNAME record with that host already exists.",
    );
  }
  if (ADDRESSES.has(type) && has(new Set(["CNAME"]))) {
    throw new ZoneFault("cname-exists", "A CNAME record with that host already exists.");
  }
  // The apex has its name servers by itself; a delegation below leaves no room for other data.
  if (!isApex) checkDelegation(type, others);
  const characters = others
    .filter((other) => other.type === type)
    .reduce((sum, { content }) => sum + content.length, record.content.length);
  if (characters > MAX_RRSET_CHARACTERS) {
    const message = `The ${type} records of this name may have ${MAX_RRSET_CHARACTERS} characters together`;
    throw new ZoneFault("too-large", message, "/content");
  }
}

/** Throws when what is left at a name cannot stand without the record that goes. */
export function checkRemoval(removed: ZoneRecord, left: readonly ZoneRecord[]): void {
  const types = new Set(left.map(({ type }) => type));
  if (removed.type === "NS" && types.has("DS") && !types.has("NS")) {
    throw new ZoneFault(
      "ds-needs-ns",
      "The DS records of this name must be deleted before its NS records",
    );
  }
}

/** In which order records can be added: a DS needs the NS records of its name. Removed in reverse. */
export function byNeed(a: { readonly type: string }, b: { readonly type: string }): number {
  const rank = ({ type }: { readonly type: string }) => (type === "NS" ? 0 : type === "DS" ? 2 : 1);
  return rank(a) - rank(b);
}

function checkDelegation(type: string, others: readonly ZoneRecord[]): void {
  const types = new Set(others.map((other) => other.type));
  if (type === "DS") {
    if (types.has("NS")) return;
    throw new ZoneFault(
      "ds-needs-ns",
      "A DS record needs NS records at the same name, made before it",
    );
  }
  if (type !== "NS" && types.has("NS")) {
    throw new ZoneFault("ns-exists", "NS records with that host already exist.");
  }
  if (type === "NS" && [...types].some((other) => other !== "NS" && other !== "DS")) {
    const message =
      "Records with that host already exist; NS records cannot share a name with other types.";
    throw new ZoneFault("ns-needs-name-alone", message);
  }
}

/** What makes two records the same: name, type and data. The quoting of text does not count. */
export function identityOf({ name, type, content, priority }: ZoneRecord): string {
  return JSON.stringify([name, type, plainText(content), priority]);
}
