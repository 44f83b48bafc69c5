/** NAPTR: rewrites a name into a URI or into another name. RFC 3403 §4. */
import { dataApi } from "../api.ts";
import { RecordFault } from "../fault.ts";
import { characterString, domainName, u16 } from "../fields.ts";
import { defineRecord } from "../record.ts";

const fields = {
  order: u16,
  preference: u16,
  flags: characterString,
  service: characterString,
  regex: characterString,
  replacement: domainName(),
};

export const NAPTR = defineRecord({
  type: "NAPTR",
  code: 35,
  fields,
  // Flag "a" leads on to addresses. RFC 3404 §4.3.
  additional: (data) =>
    data.replacement !== "." && /^a$/i.test(Buffer.from(data.flags).toString("latin1"))
      ? [data.replacement]
      : [],
  check: (data) =>
    data.regex.length > 0 && data.replacement !== "."
      ? new RecordFault("bad-field", "regex", "A NAPTR has a regex or a replacement, not both")
      : checkFlags(data.flags),
  api: dataApi(fields),
});

function checkFlags(flags: Uint8Array): RecordFault | null {
  return /^[A-Za-z0-9]*$/.test(Buffer.from(flags).toString("latin1"))
    ? null
    : new RecordFault("bad-field", "flags", "The flags of a NAPTR are letters and digits");
}
