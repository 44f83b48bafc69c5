/** The data of TXT and of what is TXT on the wire: one or more character strings. RFC 1035 §3.3.14. */
import type { Codec } from "./codec.ts";
import { quote, RecordFault, WireFault } from "./fault.ts";
import { characterString, MAX_STRING_OCTETS, showText } from "./fields.ts";
import { printQuoted, printQuotedUnicode, tokenize, unescapeText } from "./text.ts";

export interface TextData {
  readonly strings: readonly Uint8Array[];
}

export const characterStrings: Codec<TextData> = {
  read: (wire) => {
    const strings: Uint8Array[] = [];
    while (wire.left > 0) strings.push(characterString.read(wire, "content"));
    if (strings.length === 0) throw new WireFault("TXT data has no string");
    return { strings };
  },
  write: (wire, { strings }) => {
    for (const string of strings) characterString.write(wire, string);
  },
  parse: (text) => {
    const tokens = [text.next("content"), ...text.rest()];
    // BIND refuses a string that is too long; here it becomes several.
    return { strings: tokens.flatMap((token) => splitString(unescapeText(token.text))) };
  },
  print: ({ strings }) => strings.map(printQuoted).join(" "),
  bulk: ({ strings }) => strings.length * (MAX_STRING_OCTETS + 1),
};

/** Cuts octets into strings of the size that DNS allows. */
export function splitString(octets: Uint8Array): Uint8Array[] {
  const strings = [octets.subarray(0, MAX_STRING_OCTETS)];
  for (let at = MAX_STRING_OCTETS; at < octets.length; at += MAX_STRING_OCTETS) {
    strings.push(octets.subarray(at, at + MAX_STRING_OCTETS));
  }
  return strings;
}

/** Reads `content`: strings in quotes, or text without any quotes, which is taken as it stands. */
export function acceptText(content: string): TextData {
  const strings = content.includes('"')
    ? quotedStrings(content).flatMap(splitString)
    : splitString(Buffer.from(content.trim(), "utf8"));
  if (strings.every((string) => string.length === 0)) {
    throw new RecordFault("bad-text", "content", "The text is empty");
  }
  return { strings };
}

function quotedStrings(content: string): Uint8Array[] {
  const tokens = tokenizeQuoted(content);
  if (!tokens.every((token) => token.quoted)) {
    throw new RecordFault(
      "bad-text",
      "content",
      `${quote(content)} is partly in quotes: put all of it in quotes, or nothing`,
    );
  }
  return tokens.map((token) => unescapeText(token.text));
}

function tokenizeQuoted(content: string): ReturnType<typeof tokenize> {
  try {
    return tokenize(content);
  } catch (error) {
    if (!(error instanceof RecordFault)) throw error;
    const message = `${quote(content)} has quotes that do not pair up, or text outside of them`;
    throw new RecordFault("bad-text", "content", message, { cause: error });
  }
}

/** The content as the API returns it: in quotes, with the letters of all scripts as they are. */
export function showStrings({ strings }: TextData): string {
  return strings.map(printQuotedUnicode).join(" ");
}

/** All strings as one text, as SPF, DKIM and DMARC read them. */
export function joinedText({ strings }: TextData): string {
  return showText(Buffer.concat(strings));
}

/** The text of a content without its quoting: what filters and duplicate checks compare. */
export function plainText(content: string): string {
  if (!content.includes('"')) return content;
  try {
    return showText(Buffer.concat(quotedStrings(content)));
  } catch (error) {
    if (error instanceof RecordFault) return content; // Not quoting, so just text.
    throw error;
  }
}
