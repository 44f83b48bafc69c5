/** The entity tags of If-Match and If-None-Match. RFC 9110 §8.8.3, read as the original's runtime does. */
import type { WireEtag } from "./protocol.ts";

const COMMA_EXPECTED = "Comma was expected to separate etags. Encountered a ";

/** Throws what is wrong with the list. A wildcard stands for all, and ends it. */
export function parseEtagHeader(text: string, header: "if-match" | "if-none-match"): WireEtag[] {
  const tags: WireEtag[] = [];
  let at = 0;
  let needsComma = false;
  for (;;) {
    while (text[at] === " " || text[at] === "\t") at++;
    const char = text[at];
    if (char === ",") {
      needsComma = false;
      at++;
      continue;
    }
    if (char === "*") {
      if (needsComma) throw new Error(`${COMMA_EXPECTED}wildcard character '*' instead.`);
      return [{ type: "wildcard" }];
    }
    if (char !== '"' && char !== "W") break; // Anything else ends the list in silence.
    if (needsComma) throw unseparated(char);
    const isWeak = char === "W";
    if (isWeak && (text[at + 1] !== "/" || text[at + 2] !== '"')) {
      throw new Error("Weak etags must start with W/ and their value must be quoted");
    }
    const start = at + (isWeak ? 3 : 1);
    const end = text.indexOf('"', start);
    if (end < 0) throw new Error("Unclosed double quote for Etag");
    tags.push({ type: isWeak ? "weak" : "strong", value: text.slice(start, end) });
    at = end + 1;
    needsComma = true;
  }
  if (tags.length === 0) throw new Error(`Invalid ETag in ${header} header`);
  return tags;
}

function unseparated(char: '"' | "W"): Error {
  const [what, kind] =
    char === '"'
      ? ["double quote character '\"'", "strong"]
      : ["weak quotation character 'W'", "weak"];
  return new Error(
    `${COMMA_EXPECTED}${what} instead. This would otherwise indicate the start of a new ${kind} etag.`,
  );
}
