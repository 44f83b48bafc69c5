/** What this part will not read or write, in its own terms; each door words it. */

export type NameFaultKind =
  | "empty"
  | "empty-label"
  | "label-too-long"
  | "name-too-long"
  | "bad-escape"
  | "bad-character";

/** A text that is not a domain name. */
export class NameFault extends Error {
  override readonly name = "NameFault";
  readonly kind: NameFaultKind;
  constructor(kind: NameFaultKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Bytes that are not what the protocol says they are, or that end too soon. */
export class WireFault extends Error {
  override readonly name = "WireFault";
}

export type RecordFaultKind =
  /** Not an IPv4 address, in the data of an A record. */
  | "bad-address-v4"
  /** Not an IPv6 address, in the data of an AAAA record. */
  | "bad-address-v6"
  /** Not a host name, or an address where a name belongs. */
  | "bad-target"
  /** `content`, `priority` or a word of the presentation text is absent. */
  | "missing-field"
  /** A key of the API's `data` object is absent. */
  | "missing-data-field"
  /** A field is there and its value is wrong. */
  | "bad-field"
  /** Quotes, escapes or parentheses that do not add up; words left over. */
  | "bad-text"
  | "too-long"
  /** A type that cannot hold data or that nobody has defined. */
  | "bad-type";

/** Record data that is not valid for its type. */
export class RecordFault extends Error {
  override readonly name = "RecordFault";
  readonly kind: RecordFaultKind;
  /** The fields concerned, in the API's spelling; several only when several are missing. */
  readonly fields: readonly string[];

  constructor(
    kind: RecordFaultKind,
    fields: string | readonly string[] | null,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.kind = kind;
    this.fields = fields === null ? [] : typeof fields === "string" ? [fields] : fields;
  }

  /** The first field concerned, or null when it is the record as a whole. */
  get field(): string | null {
    return this.fields[0] ?? null;
  }
}

/** A value as it stands in a message: in quotes, and not longer than a line. */
export function quote(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  const LONGEST = 80;
  return `"${text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text}"`;
}

/** Whether it is one of this part's own refusals, and not a bug. */
export function isDnsFault(error: unknown): error is NameFault | WireFault | RecordFault {
  return error instanceof RecordFault || error instanceof NameFault || error instanceof WireFault;
}
