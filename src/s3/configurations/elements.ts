/** Reads the elements of a configuration strictly: what is not known, or stands twice, is refused. */
import type { XmlElement } from "#kit/xml.ts";
import { S3Fault } from "../fault.ts";

/** The children by name; those that `known` does not name are refused. */
export class Elements {
  readonly #of: XmlElement;

  constructor(element: XmlElement, known: readonly string[]) {
    this.#of = element;
    for (const { name } of element.children) {
      if (!known.includes(name)) throw malformed(`<${element.name}> may not have <${name}>`);
    }
    if (element.text.trim() !== "") throw malformed(`<${element.name}> may not have text`);
  }

  all(name: string): XmlElement[] {
    return this.#of.children.filter((child) => child.name === name);
  }

  one(name: string): XmlElement | null {
    const [first = null, second] = this.all(name);
    if (second !== undefined) throw malformed(`<${this.#of.name}> may have one <${name}>`);
    return first;
  }

  texts(name: string): string[] {
    return this.all(name).map(textOf);
  }

  text(name: string): string | null {
    const found = this.one(name);
    return found === null ? null : textOf(found);
  }

  needed(name: string): string {
    const text = this.text(name);
    if (text === null) throw malformed(`<${this.#of.name}> needs <${name}>`);
    return text;
  }

  /** A whole number; what else it must be is for the core to say. */
  number(name: string): number | null {
    const text = this.text(name);
    if (text !== null && !/^\s*-?\d{1,15}\s*$/.test(text)) {
      throw malformed(`<${name}> must be a whole number`);
    }
    return text === null ? null : Number(text);
  }
}

function textOf({ name, children, text }: XmlElement): string {
  if (children.length > 0) throw malformed(`<${name}> may have text only`);
  return text;
}

export function malformed(why: string): S3Fault {
  return new S3Fault(
    "MalformedXML",
    `The XML you provided was not well-formed or did not follow its schema: ${why}.`,
  );
}
