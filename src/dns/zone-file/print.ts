/** Prints records for a zone file: one line each, nothing relative, nothing left out. */
import { recordType } from "../rr/index.ts";
import { printTrailer, type Trailer } from "./trailer.ts";

export interface PrintableRecord {
  readonly owner: string;
  readonly ttl: number;
  readonly type: string;
  readonly data: object;
}

/** `owner TTL IN TYPE rdata`, with tabs between them, and the comment and tags that it may have. */
export function printRecordLine(record: PrintableRecord, trailer?: Trailer): string {
  const type = recordType(record.type);
  if (type === null) throw new Error(`Cannot print a record of the type "${record.type}"`);
  const words = [record.owner, record.ttl, "IN", type.wireType, type.print(record.data)];
  const rest = trailer === undefined ? "" : printTrailer(trailer);
  return words.join("\t") + (rest === "" ? "" : ` ; ${rest}`);
}
