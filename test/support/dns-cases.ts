/**
 * Reads the files of `test/conformance/dns/`: zones, questions, and what must be answered.
 *
 *     # A comment names the cases that follow it.
 *     %zone example.test.            A zone; the lines below are its zone file, up to the next # % ? !
 *     %set ipv6 off                  a zone setting
 *     %dns {"ns_ttl":600}            DNS settings
 *     %paused                        or %pending: not active
 *     www 300 A 192.0.2.1            `; cf_tags=cf-proxied:true` and the like say what else there is
 *
 *     ? www.example.test. A do       A question. Words: tcp rd cd ad do edns edns=SIZE nsid cookie=HEX|ours
 *                                    opt=CODE:HEX class=CH opcode=N flags=HEX eflags=HEX repeat=N
 *     ! beef 0100 … example. 61*63   A raw message: hex, names, an octet times a count; lines that begin
 *                                    with a space go on with it. `!tcp` goes over TCP. `;` begins a remark.
 *     = NOERROR AA                   What comes. RCODE, or several with | between them, or `none`, `closed`.
 *                                    Words: AA AA? TC opt noopt opt? ede=N ede?=N nsid cookie keepalive
 *                                    expire=N bytes=N atmost=N never=TEXT (in no record)
 *                                    varies stable (the order of the answer, when repeated)
 *     www.example.test. 300 IN A …   The answer section, RRset by RRset. A SOA without data is the zone's own.
 *     authority:                     The next section. Sections that are not there are empty; `*` is
 *     additional:                    anything, `* one rrset` is one RRset whichever it is.
 *     hex: beef 8400 .. ..           The octets from the start, `..` is any, a last `*` any number.
 *
 * Questions that stand below each other have the same answer. A blank line ends a case.
 */
import assert from "node:assert/strict";

export interface CaseFile {
  readonly zones: ZoneSetUp[];
  readonly cases: Case[];
}

export interface ZoneSetUp {
  readonly name: string;
  readonly settings: [id: string, value: unknown][];
  dnsSettings: object | null;
  paused: boolean;
  pending: boolean;
  text: string;
}

export interface Case {
  readonly line: number;
  readonly title: string;
  /** The line itself, for messages. */
  readonly text: string;
  readonly raw: boolean;
  readonly words: readonly string[];
  readonly expected: Expected;
}

export interface Expected {
  words: readonly string[];
  hex: string | null;
  readonly answer: string[];
  readonly authority: string[];
  readonly additional: string[];
}

export type SectionName = "answer" | "authority" | "additional";

export function parseCases(text: string): CaseFile {
  const reader = new CaseReader();
  for (const [i, line] of text.split("\n").entries()) reader.line(line, i + 1);
  return reader.end();
}

class CaseReader {
  readonly #file: CaseFile = { zones: [], cases: [] };
  #title = "";
  #zone: ZoneSetUp | null = null;
  /** Questions that wait for their expectation. */
  #asked: { line: number; text: string }[] = [];
  #expected: Expected | null = null;
  #section: SectionName = "answer";

  line(line: string, number: number): void {
    const sign = line[0] ?? "";
    if (sign === "#") this.#comment(line.slice(1).trim());
    else if (sign === "%") this.#directive(line.slice(1).trim());
    else if (sign === "?" || sign === "!") this.#question(line, number);
    else if (sign === "=") this.#expectation(line.slice(1).trim());
    else if (this.#zone !== null) this.#zone.text += `${line}\n`;
    else if (this.#expected !== null) this.#record(line.trim());
    else if (sign === " ") this.#asked.at(-1)!.text += withoutRemark(line);
    else assert.equal(line.trim(), "", `line ${number} belongs to nothing`);
  }

  end(): CaseFile {
    assert.deepEqual(this.#asked, [], "questions without an expectation");
    return this.#file;
  }

  #comment(text: string): void {
    this.#title = text;
    this.#zone = null;
    this.#expected = null;
  }

  #directive(text: string): void {
    const [word = "", ...rest] = text.split(/\s+/);
    const zone = this.#file.zones.at(-1);
    if (word === "zone") {
      const settings: ZoneSetUp["settings"] = [];
      const made = { name: rest[0]!, settings, dnsSettings: null, paused: false, pending: false };
      this.#file.zones.push({ ...made, text: "" });
    } else if (word === "set") zone!.settings.push([rest[0]!, valueOf(rest[1]!)]);
    else if (word === "dns") zone!.dnsSettings = JSON.parse(rest.join(" ")) as object;
    else if (word === "paused" || word === "pending") zone![word] = true;
    else assert.fail(`There is no directive ${word}`);
    this.#zone = this.#file.zones.at(-1)!;
    this.#expected = null;
  }

  #question(line: string, number: number): void {
    this.#zone = null;
    this.#expected = null;
    this.#asked.push({ line: number, text: withoutRemark(line) });
  }

  #expectation(text: string): void {
    const words = text.split(/\s+/);
    const expected: Expected = { words, hex: null, answer: [], authority: [], additional: [] };
    for (const { line, text: asked } of this.#asked) {
      const [sign, ...rest] = asked.trim().split(/\s+/);
      const raw = sign!.startsWith("!");
      const all = raw && sign !== "!" ? [sign!.slice(1), ...rest] : rest;
      const title = this.#title;
      this.#file.cases.push({ line, title, text: asked, raw, words: all, expected });
    }
    this.#asked = [];
    this.#expected = expected;
    this.#section = "answer";
  }

  #record(line: string): void {
    const expected = this.#expected!;
    const [, section, rest] = /^(answer|authority|additional|hex):\s*(.*)$/.exec(line) ?? [];
    if (line === "") this.#expected = null;
    else if (section === "hex") expected.hex = rest!;
    else if (section === undefined) expected[this.#section].push(line);
    else {
      this.#section = section as SectionName;
      if (rest !== "") expected[this.#section].push(rest!);
    }
  }
}

function withoutRemark(line: string): string {
  return line.replace(/\s;.*$/, "");
}

function valueOf(text: string): unknown {
  return /^\d+$/.test(text) ? Number(text) : text;
}

/** The octets that tokens stand for: hex, a name with its last dot, or an octet times a count. */
export function octetsOf(tokens: readonly string[]): Buffer {
  return Buffer.concat(
    tokens.map((token) => {
      const [, octet, count] = /^([0-9a-f]{2})\*(\d+)$/.exec(token) ?? [];
      if (octet !== undefined) return Buffer.alloc(Number(count), Number.parseInt(octet, 16));
      if (token.endsWith(".")) return nameOctets(token);
      assert.match(token, /^(?:[0-9a-f]{2})+$/, `"${token}" is neither hex nor a name`);
      return Buffer.from(token, "hex");
    }),
  );
}

function nameOctets(name: string): Buffer {
  const labels = name.split(".").filter((label) => label !== "");
  return Buffer.from(
    `${labels.map((label) => String.fromCharCode(label.length) + label).join("")}\0`,
    "latin1",
  );
}
