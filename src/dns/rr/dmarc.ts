/**
 * DMARC: what to do with mail that fails SPF and DKIM, and where to report it. RFC 7489 §6.3. An API
 * type; on the wire it is TXT. Its `data` has a key for each tag: `{ "v": "DMARC1", "p": "reject",
 * "pct": 100, "rua": "mailto:a@example.com,mailto:b@example.com" }`, and unknown tags under `other`.
 */
import { characterStrings } from "../character-strings.ts";
import { quote, RecordFault } from "../fault.ts";
import {
  badTag,
  checkText,
  checkWord,
  checkWords,
  dataToTags,
  parseTags,
  policyApi,
  type Tags,
  tagsToData,
} from "../mail-policy.ts";
import { defineRecord } from "../record.ts";

/** In the order in which they are written; `np`, `psd` and `t` are newer than RFC 7489. */
const TAGS = "v p sp np adkim aspf pct fo rf ri rua ruf psd t".split(" ");
const NUMBERS = ["pct", "ri"];
const POLICIES = ["none", "quarantine", "reject"];

export const DMARC = defineRecord({
  type: "DMARC",
  code: 16,
  wireType: "TXT",
  rdata: characterStrings,
  check: checkText(checkPolicy),
  api: policyApi(
    TAGS,
    (text) => tagsToData(parseTags(text), TAGS, NUMBERS),
    (data) => dataToTags(data, TAGS),
    { v: "DMARC1" },
  ),
});

function checkPolicy(text: string): void {
  const tags = parseTags(text);
  if (tags.get("v") !== "DMARC1" || [...tags.keys()][0] !== "v") {
    throw badTag("v", "A DMARC policy begins with v=DMARC1");
  }
  if (!tags.has("p")) {
    throw new RecordFault("missing-data-field", "p", "A DMARC policy needs the tag p");
  }
  for (const name of ["p", "sp", "np"]) checkWord(tags, name, POLICIES);
  for (const name of ["adkim", "aspf"]) checkWord(tags, name, ["r", "s"]);
  checkWord(tags, "psd", ["y", "n", "u"]);
  checkWord(tags, "t", ["y", "n"]);
  checkWords(tags, "fo", /^[01ds]$/i);
  checkWords(tags, "rf", /^[a-z][a-z0-9-]*$/i);
  checkNumber(tags, "pct", 100);
  checkNumber(tags, "ri", 0xffff_ffff);
  for (const name of ["rua", "ruf"]) checkUris(tags, name);
}

function checkNumber(tags: Tags, name: string, most: number): void {
  const value = tags.get(name);
  if (value === undefined || (/^\d{1,10}$/.test(value) && Number(value) <= most)) return;
  throw badTag(name, `The tag ${name} is ${quote(value)}, not a whole number from 0 to ${most}`);
}

/** URIs with commas between them, each with an optional limit of size: `mailto:a@example.com!10m`. */
function checkUris(tags: Tags, name: string): void {
  for (const part of tags.get(name)?.split(",") ?? []) {
    const uri = part.trim();
    const match = /^([a-z][a-z0-9+.-]*):([^\s,!;]+)(?:!\d{1,10}[kmgt]?)?$/i.exec(uri);
    const isMail = match?.[1]!.toLowerCase() === "mailto";
    if (match === null || (isMail && !/^[^@]+@[^@]+$/.test(match[2]!))) {
      throw badTag(name, `${quote(uri)} in the tag ${name} is not a URI`);
    }
  }
}
