/**
 * The DNS protocol as pure functions: names, record types, presentation text, wire form, zone files.
 *
 * A name is text in one form (`name.ts`): absolute, with its last dot. A record type is one file under
 * `rr/`; `recordTypes` lists them, and each knows its data in every form: presentation text, wire, and
 * the management API's JSON. What cannot be read is thrown as a `NameFault`, `RecordFault` or
 * `WireFault`; anything else that is thrown is a bug.
 */
export type { RecordInput, ShownRecord } from "./api.ts";
export { plainText } from "./character-strings.ts";
export {
  isDnsFault,
  NameFault,
  type NameFaultKind,
  RecordFault,
  type RecordFaultKind,
  WireFault,
} from "./fault.ts";
export { parseHost, toAsciiName } from "./host.ts";
export {
  compareNames,
  isSubdomain,
  labelOctets,
  lowerName,
  MAX_LABEL_OCTETS,
  MAX_NAME_OCTETS,
  parentName,
  parseName,
  sameName,
  splitLabels,
  wireLength,
  withDot,
  withoutDot,
} from "./name.ts";
export { type AnyRecordType, MAX_RDATA_OCTETS, type RecordType } from "./record.ts";
export { recordType, recordTypeByCode, recordTypes } from "./rr/index.ts";
export { A } from "./rr/a.ts";
export { AAAA } from "./rr/aaaa.ts";
export { CNAME } from "./rr/cname.ts";
export { NS } from "./rr/ns.ts";
export { SOA } from "./rr/soa.ts";
export { TXT } from "./rr/txt.ts";
export { MAX_TTL_SECONDS, parseTtl } from "./ttl.ts";
export { decodeName, encodeName, WireReader, WireWriter } from "./wire.ts";
export {
  parseZoneFile,
  type ZoneError,
  type ZoneErrorKind,
  type ZoneFile,
  type ZoneRecord,
} from "./zone-file/parse.ts";
export { type PrintableRecord, printRecordLine } from "./zone-file/print.ts";
export { parseTrailer, printTrailer, type Tag, type Trailer } from "./zone-file/trailer.ts";
