/** Record data as a whole: its fields in wire order, each in the forms that a field has. */
import type { Field } from "./fields.ts";
import type { TextReader } from "./text.ts";
import type { WireReader, WireWriter } from "./wire.ts";

/** How the data of a type stands on the wire and in presentation text. */
export interface Codec<Data> {
  read(this: void, wire: WireReader): Data;
  write(this: void, wire: WireWriter, data: Data): void;
  parse(this: void, text: TextReader): Data;
  print(this: void, data: Data): string;
  /** How many octets the parts take that have no limit of their own. */
  bulk(this: void, data: Data): number;
}

// The parameter is never looked at: it only lets fields of every kind stand in one record.
// oxlint-disable-next-line no-explicit-any
export type Fields = Readonly<Record<string, Field<any>>>;

export type DataOf<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never;
};

/** The codec of fields that text has in the same order as the wire. */
export function inOrder<F extends Fields>(fields: F): Codec<DataOf<F>> {
  const entries = Object.entries(fields).map(([key, field]) => ({
    key,
    field,
    name: apiName(key),
  }));
  const collect = (value: (entry: (typeof entries)[number]) => unknown) => {
    const data: Record<string, unknown> = {};
    for (const entry of entries) data[entry.key] = value(entry);
    return data as DataOf<F>;
  };
  const last = entries.at(-1); // Nothing can follow what takes all that is left.
  return {
    read: (wire) => collect(({ field, name }) => field.read(wire, name)),
    write: (wire, data) => {
      for (const { key, field } of entries) field.write(wire, data[key]);
    },
    parse: (text) => collect(({ field, name }) => field.parse(text, name)),
    print: (data) => entries.map(({ key, field }) => field.print(data[key])).join(" "),
    bulk: (data) => (last?.field.bulk === undefined ? 0 : last.field.bulk(data[last.key])),
  };
}

/** A field's name as the API spells it: `keyTag` is `key_tag`. */
export function apiName(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
