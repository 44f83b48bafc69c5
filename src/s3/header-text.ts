/** Text in headers: ASCII as it stands, anything else as UTF-8 or in the encoded words of RFC 2047. */

const PLAIN = /^[\x20-\x7e\t]*$/;
const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

/** Node reads octets as Latin-1. What is UTF-8 shall be text; what is neither stays as it is. */
export function fromHeader(value: string): string {
  if (PLAIN.test(value)) return value;
  try {
    return strictUtf8.decode(Buffer.from(value, "latin1"));
  } catch {
    return value;
  }
}

/** Metadata that did not come in headers may hold what these cannot. */
export function toHeader(text: string): string {
  return PLAIN.test(text) ? text : Buffer.from(text.replaceAll(/\p{Cc}/gu, " ")).toString("latin1");
}

const ENCODED_WORD = /=\?([\w-]+)\?([bq])\?([^?\s]*)\?=/gi;

/** The text of a header's encoded words, and what stands between them. Those of other charsets stay as they are. */
export function decodeWords(value: string): string {
  if (!value.includes("=?")) return fromHeader(value);
  // Blanks between two encoded words belong to neither. RFC 2047 §6.2.
  const joined = value.replaceAll(/(\?=)\s+(?==\?)/g, "$1");
  return fromHeader(joined).replaceAll(
    ENCODED_WORD,
    (word: string, charset: string, encoding: string, text: string) => {
      const octets =
        encoding.toLowerCase() === "b" ? Buffer.from(text, "base64") : quotedPrintable(text);
      if (/^(?:iso-8859-1|latin1)$/i.test(charset)) return octets.toString("latin1");
      if (!/^(?:utf-?8|us-ascii)$/i.test(charset)) return word;
      try {
        return strictUtf8.decode(octets);
      } catch {
        return word;
      }
    },
  );
}

/** An encoded word where the text is not ASCII, or would be taken for one. */
export function encodeWords(text: string): string {
  const isPlain = PLAIN.test(text) && !text.includes("=?") && text === text.trim();
  return isPlain ? text : `=?UTF-8?B?${Buffer.from(text).toString("base64")}?=`;
}

/** RFC 2047 §4.2. */
function quotedPrintable(text: string): Buffer {
  const octets = text
    .replaceAll("_", " ")
    .replaceAll(/=([0-9a-f]{2})/gi, (_, hex: string) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
  return Buffer.from(octets, "latin1");
}
