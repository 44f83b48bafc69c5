/**
 * SPF: who may send mail for a domain. RFC 7208. An API type; on the wire it is TXT, for the type of
 * number 99 was given up (§3.1). Its `data` is `{ "version": "spf1", "terms": ["mx", "-all"] }`.
 */
import { parseIpv4, parseIpv6 } from "../address.ts";
import { ownValue } from "../api.ts";
import { characterStrings } from "../character-strings.ts";
import { quote, RecordFault } from "../fault.ts";
import { checkText, policyApi } from "../mail-policy.ts";
import { defineRecord } from "../record.ts";

/** More lookups than this make a receiver fail the check. RFC 7208 §4.6.4. */
const MAX_LOOKUPS = 10;

export const SPF = defineRecord({
  type: "SPF",
  code: 16,
  wireType: "TXT",
  rdata: characterStrings,
  check: checkText(checkPolicy),
  api: policyApi(["version", "terms"], toData, toText, { version: "spf1" }),
});

function toData(text: string) {
  const [version = "", ...terms] = text.split(" ").filter((term) => term !== "");
  return { version: version.replace(/^v=/i, ""), terms };
}

function toText(data: Readonly<Record<string, unknown>>): string {
  const version = ownValue(data, "version");
  const terms = ownValue(data, "terms");
  if (terms === undefined || terms === null) {
    throw new RecordFault(
      "missing-data-field",
      "terms",
      "terms must be in the data of an SPF record",
    );
  }
  const isTerm = (term: unknown) => typeof term === "string" && /^\S+$/.test(term);
  if (typeof version !== "string" || !Array.isArray(terms) || !terms.every(isTerm)) {
    throw badTerm(`${quote(terms)} is not a list of terms`);
  }
  return [`v=${version}`, ...(terms as string[])].join(" ");
}

function checkPolicy(text: string): void {
  if (!/^v=spf1(?: |$)/i.test(text)) throw badTerm('An SPF policy begins with "v=spf1"', "version");
  const terms = text
    .slice("v=spf1".length)
    .split(" ")
    .filter((term) => term !== "");
  const lookups = terms.filter(checkTerm).length;
  if (lookups > MAX_LOOKUPS) {
    throw badTerm(`The policy needs ${lookups} DNS lookups; ${MAX_LOOKUPS} are the limit`);
  }
  for (const modifier of ["redirect=", "exp="]) {
    if (terms.filter((term) => term.toLowerCase().startsWith(modifier)).length > 1) {
      throw badTerm(`${quote(modifier)} is there twice`);
    }
  }
}

/** Throws when the term is not one; tells whether it costs a receiver a lookup. */
function checkTerm(term: string): boolean {
  const modifier = /^([a-z][\w.-]*)=(.*)$/i.exec(term);
  if (modifier !== null) {
    const name = modifier[1]!.toLowerCase();
    const known = name === "redirect" || name === "exp";
    if (known ? isDomainSpec(modifier[2]!) : hasMacrosOnly(modifier[2]!))
      return name === "redirect";
    throw badTerm(`${quote(term)} is not an SPF modifier`);
  }
  const match = /^[-+?~]?([a-z0-9]+)([:/].*)?$/i.exec(term);
  const mechanism = match === null ? undefined : MECHANISMS.get(match[1]!.toLowerCase());
  if (mechanism?.takes(match![2] ?? "") !== true)
    throw badTerm(`${quote(term)} is not an SPF mechanism`);
  return mechanism.looksUp;
}

interface Mechanism {
  readonly looksUp: boolean;
  /** Whether what follows the name is right. */
  takes(rest: string): boolean;
}

/** An optional domain, then optional lengths of prefix for both families: `:example.com/24//64`. */
const hosts = (rest: string) => {
  const prefixes = /(?:\/(\d{1,2}))?(?:\/\/(\d{1,3}))?$/.exec(rest)!;
  const domain = rest.slice(0, prefixes.index);
  const [, v4 = "32", v6 = "128"] = prefixes;
  return (domain === "" || required(domain)) && isPrefix(v4, 32) && isPrefix(v6, 128);
};

const network = (parse: (text: string) => Uint8Array | null, longest: number) => (rest: string) => {
  const match = /^:([^/]+)(?:\/(\d{1,3}))?$/.exec(rest);
  return match !== null && parse(match[1]!) !== null && isPrefix(match[2] ?? "0", longest);
};

const required = (rest: string) => rest.startsWith(":") && isDomainSpec(rest.slice(1));

const MECHANISMS: ReadonlyMap<string, Mechanism> = new Map([
  ["all", { looksUp: false, takes: (rest) => rest === "" }],
  ["include", { looksUp: true, takes: required }],
  ["a", { looksUp: true, takes: hosts }],
  ["mx", { looksUp: true, takes: hosts }],
  ["ptr", { looksUp: true, takes: (rest) => rest === "" || required(rest) }],
  ["ip4", { looksUp: false, takes: network(parseIpv4, 32) }],
  ["ip6", { looksUp: false, takes: network(parseIpv6, 128) }],
  ["exists", { looksUp: true, takes: required }],
]);

function isPrefix(text: string, longest: number): boolean {
  return /^(?:0|[1-9]\d*)$/.test(text) && Number(text) <= longest;
}

/** Text and macros that end in a macro or in a top label, which is not only digits. RFC 7208 §7.1. */
function isDomainSpec(text: string): boolean {
  return (
    hasMacrosOnly(text) &&
    /(?:%\{[^}]*\}|%[%_-]|\.(?!\d+\.?$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.?)$/i.test(text)
  );
}

/** Printable text in which each `%` begins a macro. */
function hasMacrosOnly(text: string): boolean {
  return /^(?:[!-$&-~]|%%|%_|%-|%\{[slodiphcrtv]\d*r?[-.+,/_=]*\})*$/i.test(text);
}

function badTerm(message: string, field = "terms"): RecordFault {
  return new RecordFault("bad-field", field, message);
}
