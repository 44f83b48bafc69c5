/**
 * The DNS protocol as pure functions: names, record types, presentation text, wire form, zone files.
 *
 * A name is text in one form (`name.ts`): absolute, with its last dot. A record type is one file under
 * `rr/`; `recordType` finds them by name, and each knows its data in every form: presentation text, wire, and
 * the management API's JSON. What cannot be read is thrown as a `NameFault`, `RecordFault` or
 * `WireFault`; anything else that is thrown is a bug.
 */
export { parseIpv4, parseIpv6 } from "./address.ts";
export type { RecordInput } from "./api.ts";
export { plainText } from "./character-strings.ts";
export { isDnsFault, NameFault, RecordFault, type RecordFaultKind, WireFault } from "./fault.ts";
export { parseHost, toAsciiName } from "./host.ts";
export { isSubdomain, lowerName, parseName, splitLabels, withoutDot } from "./name.ts";
export type { AnyRecordType } from "./record.ts";
export { recordType, recordTypeByCode } from "./rr/index.ts";
export { decodeName, encodeName, WireReader, WireWriter } from "./wire.ts";
export { readZoneFile, type ZoneError, type ZoneRecord } from "./zone-file/parse.ts";
export { printRecordLine } from "./zone-file/print.ts";
export { parseTrailer, type Tag } from "./zone-file/trailer.ts";
