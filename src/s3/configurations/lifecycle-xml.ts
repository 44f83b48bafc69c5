/** A bucket's lifecycle rules as S3 spells them. */
import { randomId } from "#kit/random.ts";
import type { XmlElement } from "#kit/xml.ts";
import type { LifecycleFilter, LifecycleRule, LifecycleTime, LifecycleTransition } from "#objects";
import { S3Fault } from "../fault.ts";
import { Elements, malformed } from "./elements.ts";
import { readTags } from "./tagging-xml.ts";

export const LIFECYCLE_ROOT = "LifecycleConfiguration";
/** The one class that objects can be moved to. */
export const MOVED_CLASS = "STANDARD_IA";

const FIELDS = [
  "ID",
  "Prefix",
  "Filter",
  "Status",
  "Expiration",
  "Transition",
  "NoncurrentVersionExpiration",
  "NoncurrentVersionTransition",
  "AbortIncompleteMultipartUpload",
];

export function readLifecycle(root: XmlElement): LifecycleRule[] {
  return new Elements(root, ["Rule"]).all("Rule").map(readRule);
}

function readRule(element: XmlElement): LifecycleRule {
  const rule = new Elements(element, FIELDS);
  const expiration = readExpiration(rule.one("Expiration"));
  const abort = rule.one("AbortIncompleteMultipartUpload");
  const days = abort && new Elements(abort, ["DaysAfterInitiation"]).number("DaysAfterInitiation");
  if (abort !== null && days === null)
    throw malformed(`<${abort.name}> needs <DaysAfterInitiation>`);
  const forVersions = { ...expiration.forVersions, ...readForVersions(rule) };
  return {
    id: rule.text("ID") || randomId(),
    enabled: readStatus(rule.needed("Status")),
    filter: readFilter(rule),
    ...(expiration.when && { expiration: expiration.when }),
    transitions: rule.all("Transition").map(readTransition),
    ...(days !== null && { abortUploadsAfterDays: days }),
    ...(Object.keys(forVersions).length > 0 && { forVersions }),
  };
}

function readStatus(status: string): boolean {
  if (status !== "Enabled" && status !== "Disabled") {
    throw malformed("<Status> must be Enabled or Disabled");
  }
  return status === "Enabled";
}

function readFilter(rule: Elements): LifecycleFilter {
  const prefix = rule.text("Prefix");
  const filter = rule.one("Filter");
  if (filter === null && prefix !== null) return { form: "rule", prefix };
  // Without either the rule would be for everything, which nobody has said.
  if (filter === null || prefix !== null)
    throw malformed("<Rule> needs either <Filter> or <Prefix>");
  const and = new Elements(filter, [...CONDITIONS, "And"]).one("And");
  if (filter.children.length > 1) throw malformed("<Filter> has one condition, or <And>");
  return and === null
    ? { form: "filter", ...readConditions(filter) }
    : { form: "and", ...readConditions(and) };
}

const CONDITIONS = ["Prefix", "Tag", "ObjectSizeGreaterThan", "ObjectSizeLessThan"];

function readConditions(element: XmlElement): Omit<LifecycleFilter, "form"> {
  const conditions = new Elements(element, CONDITIONS);
  const prefix = conditions.text("Prefix");
  const tags = conditions.all("Tag");
  const largerThan = conditions.number("ObjectSizeGreaterThan");
  const smallerThan = conditions.number("ObjectSizeLessThan");
  return {
    ...(prefix !== null && { prefix }),
    ...(tags.length > 0 && { tags: readTags(tags) }),
    ...(largerThan !== null && { largerThan }),
    ...(smallerThan !== null && { smallerThan }),
  };
}

function readExpiration(element: XmlElement | null): {
  readonly when?: LifecycleTime;
  readonly forVersions?: LifecycleRule["forVersions"];
} {
  if (element === null) return {};
  const fields = new Elements(element, ["Days", "Date", "ExpiredObjectDeleteMarker"]);
  const marker = fields.text("ExpiredObjectDeleteMarker");
  if (marker === null) return { when: readTime(fields, "Expiration") };
  if (element.children.length > 1 || !/^(true|false)$/.test(marker)) {
    throw malformed("<ExpiredObjectDeleteMarker> stands alone, and is true or false");
  }
  return { forVersions: { expiredDeleteMarker: marker === "true" } };
}

function readTransition(element: XmlElement): LifecycleTransition {
  const fields = new Elements(element, ["Days", "Date", "StorageClass"]);
  return { when: readTime(fields, "Transition"), ...readClass(fields) };
}

function readClass(fields: Elements): Pick<LifecycleTransition, "storageClass"> {
  const given = fields.needed("StorageClass");
  if (given === MOVED_CLASS) return { storageClass: "InfrequentAccess" };
  const message = `Objects can be moved to ${MOVED_CLASS}, not to ${given.slice(0, 40)}`;
  throw new S3Fault("InvalidStorageClass", message);
}

function readTime(fields: Elements, name: string): LifecycleTime {
  const days = fields.number("Days");
  const date = fields.text("Date");
  if ((days === null) === (date === null)) throw malformed(`<${name}> needs <Days> or <Date>`);
  return days === null ? { date: readDate(date!) } : { days };
}

/** ISO 8601, of a day or a moment of it; NaN for what is none. */
function readDate(text: string): number {
  const isDate = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(text);
  return isDate ? Date.parse(text) : Number.NaN;
}

function readForVersions(rule: Elements): LifecycleRule["forVersions"] {
  const expiration = rule.one("NoncurrentVersionExpiration");
  const transitions = rule.all("NoncurrentVersionTransition");
  const readAge = (element: XmlElement) => {
    const fields = new Elements(element, [
      "NoncurrentDays",
      "NewerNoncurrentVersions",
      "StorageClass",
    ]);
    const days = fields.number("NoncurrentDays");
    if (days === null) throw malformed(`<${element.name}> needs <NoncurrentDays>`);
    const kept = fields.number("NewerNoncurrentVersions");
    return { fields, age: { days, ...(kept !== null && { kept }) } };
  };
  return {
    ...(expiration && { expiration: readAge(expiration).age }),
    ...(transitions.length > 0 && {
      transitions: transitions.map((element) => {
        const { fields, age } = readAge(element);
        return { ...age, ...readClass(fields) };
      }),
    }),
  };
}
