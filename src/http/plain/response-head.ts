/** The text of an answer's head, and what it says of the body behind it. RFC 9112 §4, §6. */
import { remember } from "#kit/remember.ts";
import { TOKEN } from "./head.ts";

/** As Node takes them: one after another, or by name. */
export type FieldsGiven =
  | readonly string[]
  | Readonly<Record<string, string | number | readonly string[]>>;

/** What would end a line before its time, or cannot be sent as an octet. */
const FORBIDDEN = /[^\t\x20-\x7e\x80-\xff]/;

const ORDINARY = 0;
const DATE = 1;
const CONNECTION = 2;
const LENGTH = 3;
const CODING = 4;
const INVALID = 5;

const KINDS: ReadonlyMap<string, number> = new Map([
  ["date", DATE],
  ["connection", CONNECTION],
  ["content-length", LENGTH],
  ["transfer-encoding", CODING],
]);

const kindOf = remember((name): number =>
  TOKEN.test(name) ? (KINDS.get(name.toLowerCase()) ?? ORDINARY) : INVALID,
);

export class ResponseHead {
  text: string;
  hasDate = false;
  hasConnection = false;
  /** It says that the connection ends with the answer. */
  isLast = false;
  isChunked = false;
  /** The octets that it announces. */
  length: number | null = null;

  /** Throws where a text could be taken for more than it is. */
  constructor(status: number, reason: string, fields: FieldsGiven) {
    if (FORBIDDEN.test(reason))
      throw new TypeError("The reason of an answer has a forbidden character");
    this.text = `HTTP/1.1 ${status} ${reason}\r\n`;
    if (Array.isArray(fields)) {
      const list = fields as readonly string[];
      for (let i = 0; i < list.length; i += 2) this.#add(list[i]!, list[i + 1]!);
    } else this.#addAll(fields as Exclude<FieldsGiven, readonly string[]>);
  }

  #addAll(fields: Exclude<FieldsGiven, readonly string[]>): void {
    for (const name in fields) {
      const value = fields[name]!;
      if (typeof value === "object") for (const one of value) this.#add(name, one);
      else this.#add(name, String(value));
    }
  }

  #add(name: string, value: string): void {
    const kind = kindOf(name);
    if (kind === INVALID || FORBIDDEN.test(value)) {
      throw new TypeError(
        `The header ${JSON.stringify(name)} of an answer has a forbidden character`,
      );
    }
    if (kind !== ORDINARY) this.#note(kind, value);
    this.text += `${name}: ${value}\r\n`;
  }

  #note(kind: number, value: string): void {
    if (kind === DATE) this.hasDate = true;
    else if (kind === LENGTH) this.length = Number(value);
    else if (kind === CODING) this.isChunked = /\bchunked\b/i.test(value);
    else {
      this.hasConnection = true;
      this.isLast = /\bclose\b/i.test(value);
    }
  }
}
