/** CAA: who may issue certificates for a name. RFC 8659 §4. */
import { dataApi } from "../api.ts";
import { quote, RecordFault, WireFault } from "../fault.ts";
import { type Field, stringField, stringToEnd, u8 } from "../fields.ts";
import { defineRecord } from "../record.ts";

/** The property's name: a length octet and ASCII letters and digits, in any case. */
const tag: Field<string> = {
  read: (wire) => {
    const text = Buffer.from(wire.bytes(wire.u8())).toString("latin1");
    if (!isTag(text)) throw new WireFault("A CAA tag is 1 to 255 letters and digits");
    return text.toLowerCase();
  },
  write: (wire, value) => {
    wire.u8(value.length);
    wire.bytes(Buffer.from(value, "latin1"));
  },
  parse: (text, name) => checkedTag(text.word(name), name),
  print: (value) => value,
  take: (json, name) => checkedTag(stringField(json, name).trim(), name),
  give: (value) => value,
};

function isTag(text: string): boolean {
  return /^[A-Za-z0-9]{1,255}$/.test(text);
}

function checkedTag(text: string, name: string): string {
  if (isTag(text)) return text.toLowerCase();
  throw new RecordFault("bad-field", name, `The ${name} ${quote(text)} is not letters and digits`);
}

const fields = { flags: u8, tag, value: stringToEnd };

export const CAA = defineRecord({ type: "CAA", code: 257, fields, api: dataApi(fields) });
