/** Values in Cap'n Proto's text format, in which workerd reads its configuration. */

/** A value as it stands in the text; made only by the functions here, so that what is in it was escaped. */
export interface CapnpText {
  readonly capnp: string;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;
const LAST_PRINTABLE = 0x7e;

/** Text of any content: octets that are not plain ASCII are written as numbers. */
export function text(value: string): CapnpText {
  let escaped = "";
  for (const octet of Buffer.from(value)) {
    if (octet === QUOTE || octet === BACKSLASH) escaped += `\\${String.fromCharCode(octet)}`;
    else if (octet >= FIRST_PRINTABLE && octet <= LAST_PRINTABLE)
      escaped += String.fromCharCode(octet);
    else escaped += `\\x${octet.toString(16).padStart(2, "0")}`;
  }
  return { capnp: `"${escaped}"` };
}

/** The content of a file beside the configuration, as text or as octets. */
export function embed(fileName: string): CapnpText {
  return { capnp: `embed ${text(fileName).capnp}` };
}

export const TRUE: CapnpText = { capnp: "true" };
/** The style of requests that name whole URLs. */
export const PROXY: CapnpText = { capnp: "proxy" };

export function list(values: readonly CapnpText[]): CapnpText {
  return { capnp: `[${values.map(({ capnp }) => capnp).join(", ")}]` };
}

/** Fields that are undefined are left out. The names are the schema's, never a user's. */
export function struct(fields: Readonly<Record<string, CapnpText | undefined>>): CapnpText {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { capnp: `(${given.map(([name, value]) => `${name} = ${value!.capnp}`).join(", ")})` };
}
