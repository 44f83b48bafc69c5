/**
 * An upload by form: fields, then a file that flows. multipart/form-data, RFC 7578 on RFC 2046 §5.1. What follows
 * the file is passed over, as S3 does.
 */
import { dispositionOf, partHeaders } from "#kit/form-headers.ts";
import { S3Fault } from "../fault.ts";

export interface FormUpload {
  /** Those before the file; names in lower case. */
  readonly fields: Map<string, string>;
  /** As the sender's machine has it, without folders. */
  readonly filename: string;
  readonly body: AsyncIterable<Uint8Array>;
}

/** All that comes before the file, as S3 has it. */
const MAX_FIELD_BYTES = 20 * 1024;
/** What comes after it and is not worth closing the connection for. */
const MAX_LEFT_OVER_BYTES = 64 * 1024;

const CRLF = "\r\n";

export async function readForm(
  octets: AsyncIterable<Uint8Array> | Uint8Array,
  boundary: string,
): Promise<FormUpload> {
  const source = new Source(octets, boundary);
  const fields = new Map<string, string>();
  await source.upToDelimiter(); // What stands before the first is nobody's.
  while (!(await source.isOver())) {
    const headers = partHeaders((await source.upTo(CRLF + CRLF)).toString());
    const disposition = headers && dispositionOf(headers);
    const name = disposition?.get("name")?.toLowerCase();
    if (name === undefined) throw malformed("A part of the form has no name.");
    if (name === "file") {
      const filename = disposition!.get("filename")?.replace(/^.*[/\\]/, "") ?? "";
      return { fields, filename, body: source.rest() };
    }
    if (fields.has(name)) throw malformed(`The form has two fields ${name.slice(0, 80)}.`);
    fields.set(name, (await source.upToDelimiter()).toString());
  }
  throw new S3Fault("IncorrectNumberOfFilesInPostRequest");
}

/** The octets of the form, of which only as many are held as are needed to tell what they are. */
class Source {
  readonly #octets: AsyncIterator<Uint8Array> | Iterator<Uint8Array>;
  readonly #delimiter: Buffer;
  /** The first delimiter may stand at the very beginning, where no line ends. */
  #held: Buffer = Buffer.from(CRLF);
  #taken = 0;

  constructor(octets: AsyncIterable<Uint8Array> | Uint8Array, boundary: string) {
    this.#octets =
      octets instanceof Uint8Array ? [octets].values() : octets[Symbol.asyncIterator]();
    this.#delimiter = Buffer.from(`${CRLF}--${boundary}`);
  }

  upToDelimiter(): Promise<Buffer> {
    return this.upTo(this.#delimiter);
  }

  /** What comes before the mark, which is passed as well. */
  async upTo(mark: Buffer | string): Promise<Buffer> {
    let end = this.#held.indexOf(mark);
    while (end === -1) {
      this.#checkRoom(this.#held.length);
      await this.#need();
      end = this.#held.indexOf(mark);
    }
    const before = this.#held.subarray(0, end);
    this.#pass(end + mark.length);
    return before;
  }

  /** After a delimiter: whether it was the last, or a part begins. */
  async isOver(): Promise<boolean> {
    while (this.#held.length < 2) await this.#need();
    if (this.#held.toString("latin1", 0, 2) === "--") return true;
    const blanks = await this.upTo(CRLF);
    if (/[^ \t]/.test(blanks.toString("latin1")))
      throw malformed("A line that divides it has more on it.");
    return false;
  }

  /** What comes before the next delimiter, as it comes. */
  async *rest(): AsyncGenerator<Uint8Array> {
    const delimiter = this.#delimiter;
    for (;;) {
      const end = this.#held.indexOf(delimiter);
      const safe = end === -1 ? this.#held.length - delimiter.length + 1 : end;
      if (safe > 0) {
        const some = this.#held.subarray(0, safe);
        this.#held = this.#held.subarray(safe);
        yield some;
      }
      if (end !== -1) break;
      await this.#need();
    }
    for (let over = 0; over < MAX_LEFT_OVER_BYTES;) {
      const step = await this.#octets.next();
      if (step.done === true) return;
      over += step.value.length;
    }
    await this.#octets.return?.();
  }

  async #need(): Promise<void> {
    const step = await this.#octets.next();
    if (step.done === true) throw malformed("The form has no end.");
    this.#held = Buffer.concat([this.#held, step.value]);
  }

  #pass(octets: number): void {
    this.#taken += octets;
    this.#checkRoom(0);
    this.#held = this.#held.subarray(octets);
  }

  #checkRoom(waiting: number): void {
    if (this.#taken + waiting <= MAX_FIELD_BYTES) return;
    const message = `The fields before the file may take ${MAX_FIELD_BYTES} bytes together.`;
    throw new S3Fault("MaxMessageLengthExceeded", message);
  }
}

function malformed(why: string): S3Fault {
  return new S3Fault(
    "MalformedPOSTRequest",
    `The body of your POST request is not well-formed multipart/form-data. ${why}`,
  );
}
