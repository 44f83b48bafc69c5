/**
 * A strict reader for small XML documents of elements and text. XML 1.0 without DTDs, so without
 * entities but the five that are built in. Attributes are checked and left out.
 */

export interface XmlElement {
  /** Without a namespace prefix. */
  readonly name: string;
  readonly children: readonly XmlElement[];
  /** Empty where there are children. */
  readonly text: string;
}

export class XmlFault extends Error {
  override readonly name = "XmlFault";
}

/** Documents of the kind that is read here have four levels. */
const MAX_DEPTH = 32;

export function parseXml(source: string): XmlElement {
  const lines = source.replace(/^\uFEFF/, "").replaceAll(/\r\n?/g, "\n");
  if (NOT_XML.test(lines)) throw new XmlFault("it has a character that XML cannot hold");
  return new Reader(lines).document();
}

/** The text of a child, or null without one. */
export function childText(element: XmlElement, name: string): string | null {
  return element.children.find((child) => child.name === name)?.text ?? null;
}

/** For text and attributes. */
export function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

/** XML 1.0 §2.2. */
// oxlint-disable-next-line no-control-regex -- these are what it looks for
const NOT_XML = /[^\t\n\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;

const NAME = String.raw`[A-Za-z_][\w.-]*`;
const QNAME = `(?:${NAME}:)?(${NAME})`;
const DECLARATION = /<\?xml\s[^?<>]*\?>/y;
const MISC = /(?:\s+|<!--(?:(?!--)[^])*-->)*/y;
const ATTRIBUTE = String.raw`\s+${QNAME}\s*=\s*(?:"[^"<]*"|'[^'<]*')`;
const OPENING = new RegExp(String.raw`<((?:${NAME}:)?${NAME})((?:${ATTRIBUTE})*)\s*(/?)>`, "y");
const CLOSING = new RegExp(String.raw`</((?:${NAME}:)?${NAME})\s*>`, "y");
const TEXT = /[^<]+|<!\[CDATA\[((?:(?!\]\]>)[^])*)\]\]>|<!--(?:(?!--)[^])*-->/y;

class Reader {
  readonly #source: string;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  document(): XmlElement {
    this.#take(DECLARATION);
    this.#take(MISC);
    const root = this.#element(1);
    this.#take(MISC);
    if (this.#at < this.#source.length) throw this.#fault("something follows the root element");
    return root;
  }

  #element(depth: number): XmlElement {
    const opening = this.#take(OPENING);
    if (opening === null) throw this.#fault("expected an element");
    if (depth > MAX_DEPTH) throw this.#fault("elements are nested too deep");
    const [, qname = "", , , isEmpty] = opening;
    const name = qname.slice(qname.indexOf(":") + 1);
    if (isEmpty === "/") return { name, children: [], text: "" };
    const children: XmlElement[] = [];
    let text = "";
    for (;;) {
      text += this.#text();
      const closing = this.#take(CLOSING);
      if (closing === null) children.push(this.#element(depth + 1));
      else if (closing[1] === qname) break;
      else throw this.#fault(`</${closing[1]}> closes <${qname}>`);
    }
    if (children.length === 0) return { name, children, text };
    if (text.trim() !== "") throw this.#fault(`<${qname}> has text beside its elements`);
    return { name, children, text: "" };
  }

  #text(): string {
    let text = "";
    for (let found = this.#take(TEXT); found !== null; found = this.#take(TEXT)) {
      if (found[1] !== undefined) text += found[1];
      else if (!found[0].startsWith("<")) text += this.#unescape(found[0]);
    }
    return text;
  }

  #unescape(text: string): string {
    if (text.includes("]]>")) throw this.#fault("]]> stands in text");
    return text.replaceAll(/&([^;&]*;)?/g, (whole, reference?: string) => {
      const meant = reference === undefined ? null : characterOf(reference.slice(0, -1));
      if (meant === null) throw this.#fault(`"${whole.slice(0, 12)}" stands for nothing`);
      return meant;
    });
  }

  #take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }

  #fault(why: string): XmlFault {
    const line = this.#source.slice(0, this.#at).split("\n").length;
    return new XmlFault(`${why} (line ${line})`);
  }
}

const BUILT_IN: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/**
 * What a reference stands for. Differs from XML 1.0: control characters and NUL may be referred to, since
 * S3 writes keys that have them so.
 */
function characterOf(reference: string): string | null {
  const number = /^#(?:x([0-9a-fA-F]{1,6})|(\d{1,7}))$/.exec(reference);
  if (number === null) return Object.hasOwn(BUILT_IN, reference) ? BUILT_IN[reference]! : null;
  const code = Number.parseInt(number[1] ?? number[2]!, number[1] === undefined ? 10 : 16);
  const isCharacter = code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : null;
}
