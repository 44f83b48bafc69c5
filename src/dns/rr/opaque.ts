/** Types that nobody has described here: their data travels as bytes. RFC 3597. */
import { contentApi } from "../api.ts";
import { quote, RecordFault } from "../fault.ts";
import { defineRecord, parseOpaque, printOpaque, type RecordType } from "../record.ts";
import { contentReader } from "../text.ts";

export interface OpaqueData {
  readonly octets: Uint8Array;
}

/** A type by its number alone. */
export function opaqueType(code: number): RecordType<OpaqueData> {
  return defineRecord({
    type: `TYPE${code}`,
    code,
    rdata: {
      read: (wire) => ({ octets: wire.bytes() }),
      write: (wire, data) => wire.bytes(data.octets),
      // What begins with `\#` never comes here.
      parse: (text) => notOpaque(text.peek()?.text ?? ""),
      print: (data) => printOpaque(data.octets),
      bulk: (data) => data.octets.length,
    },
    api: contentApi("octets", parseContent, printOpaque),
  });
}

function parseContent(content: string): Uint8Array {
  const text = contentReader(content);
  if (text.peek()?.text !== "\\#") return notOpaque(content);
  return parseOpaque(text);
}

function notOpaque(text: string): never {
  throw new RecordFault("bad-text", "content", `${quote(text)} is not of the form \\# LENGTH HEX`);
}
