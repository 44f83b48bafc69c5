/** The record types, each by its name and its number. A new type is a file here and a line below. */
import type { AnyRecordType } from "../record.ts";
import { AAAA } from "./aaaa.ts";
import { A } from "./a.ts";
import { CAA } from "./caa.ts";
import { CDNSKEY } from "./cdnskey.ts";
import { CDS } from "./cds.ts";
import { CERT } from "./cert.ts";
import { CNAME } from "./cname.ts";
import { DKIM } from "./dkim.ts";
import { DMARC } from "./dmarc.ts";
import { DNSKEY } from "./dnskey.ts";
import { DS } from "./ds.ts";
import { HTTPS } from "./https.ts";
import { LOC } from "./loc.ts";
import { MX } from "./mx.ts";
import { NAPTR } from "./naptr.ts";
import { NS } from "./ns.ts";
import { opaqueType } from "./opaque.ts";
import { OPENPGPKEY } from "./openpgpkey.ts";
import { PTR } from "./ptr.ts";
import { SMIMEA } from "./smimea.ts";
import { SOA } from "./soa.ts";
import { SPF } from "./spf.ts";
import { SRV } from "./srv.ts";
import { SSHFP } from "./sshfp.ts";
import { SVCB } from "./svcb.ts";
import { TLSA } from "./tlsa.ts";
import { TXT } from "./txt.ts";
import { URI } from "./uri.ts";

const TYPES: readonly AnyRecordType[] = [
  A,
  AAAA,
  CNAME,
  MX,
  TXT,
  SPF,
  DKIM,
  DMARC,
  CAA,
  SRV,
  SVCB,
  HTTPS,
  PTR,
  SOA,
  NS,
  DS,
  DNSKEY,
  URI,
  NAPTR,
  SSHFP,
  TLSA,
  SMIMEA,
  CERT,
  LOC,
  OPENPGPKEY,
  CDS,
  CDNSKEY,
];

/** Every type that is described, by its name. */
export const recordTypes: ReadonlyMap<string, AnyRecordType> = new Map(
  TYPES.map((type) => [type.type, type]),
);

/** By number on the wire, where SPF, DKIM and DMARC are TXT. */
const byCode: ReadonlyMap<number, AnyRecordType> = new Map(
  TYPES.filter((type) => type.wireType === type.type).map((type) => [type.code, type]),
);

/** The type of this name, in any case, or `TYPE731`; null when no record can have it. */
export function recordType(name: string): AnyRecordType | null {
  const upper = name.toUpperCase();
  const known = recordTypes.get(upper);
  if (known !== undefined) return known;
  const number = /^TYPE(0|[1-9]\d{0,4})$/.exec(upper)?.[1];
  return number === undefined ? null : recordTypeByCode(Number(number));
}

/** The type of this number; one of opaque data when nobody has described it. */
export function recordTypeByCode(code: number): AnyRecordType | null {
  return byCode.get(code) ?? (holdsData(code) ? opaqueType(code) : null);
}

/** Not the numbers that are questions, or that stand for something else. RFC 6895 §3.1. */
function holdsData(code: number): boolean {
  const OPT = 41;
  return code > 0 && code < 0xffff && code !== OPT && !(code >= 128 && code <= 255);
}
