/** `$GENERATE 1-254 host-$ A 192.0.2.$`: many records from one line, as BIND has it. */
import { quote, RecordFault } from "../fault.ts";
import type { Token } from "../text.ts";

/** All directives of a file together: a reverse zone for a /16. One short line must not fill memory. */
export const MAX_GENERATED_RECORDS = 65_536;

/** The text of all records that they make, for the same reason; that /16 needs a third of it. */
export const MAX_GENERATED_CHARACTERS = 8 << 20;

/** Padding wider than a name can be is a mistake or worse. */
const MAX_WIDTH = 255;

/** The values that a range `start-stop[/step]` runs through. */
export function parseRange(text: string, most: number): number[] {
  const match = /^(\d{1,10})-(\d{1,10})(?:\/(\d{1,10}))?$/.exec(text);
  const [start, stop, step] = [Number(match?.[1]), Number(match?.[2]), Number(match?.[3] ?? 1)];
  if (match === null || start > stop || step === 0) {
    throw new RecordFault("bad-text", null, `${quote(text)} is not a range like 1-10 or 0-20/2`);
  }
  const count = Math.floor((stop - start) / step) + 1;
  if (count > most) {
    throw new RecordFault(
      "too-long",
      null,
      `$GENERATE makes ${count} records; ${MAX_GENERATED_RECORDS} in a file are the limit`,
    );
  }
  return Array.from({ length: count }, (_, i) => start + i * step);
}

/** The words of one record: `$` stands for the value, `${offset,width,base}` for a form of it. */
export function generateTokens(tokens: readonly Token[], value: number): Token[] {
  return tokens.map((token) =>
    token.text.includes("$") ? { ...token, text: substitute(token.text, value) } : token,
  );
}

function substitute(text: string, value: number): string {
  return text.replaceAll(/\\[^]|\$\$|\$(?:\{([^}]*)\})?/g, (found, form: string | undefined) => {
    if (found.startsWith("\\")) return found;
    if (found === "$$") return "\\$"; // BIND's older way to write the mark itself.
    return form === undefined ? String(value) : formatted(form, value);
  });
}

function formatted(form: string, value: number): string {
  const match = /^(-?\d{1,10})(?:,(\d{1,3})(?:,([doxXnN]))?)?$/.exec(form);
  const shifted = value + Number(match?.[1]);
  const width = Number(match?.[2] ?? 0);
  if (match === null || width > MAX_WIDTH || shifted < 0) {
    throw new RecordFault("bad-text", null, `$GENERATE cannot make a number of \${${form}}`);
  }
  const base = match[3] ?? "d";
  const radix = base === "d" ? 10 : base === "o" ? 8 : 16;
  const digits = shifted.toString(radix);
  const text = base.toLowerCase() === "n" ? nibbles(digits, width) : digits.padStart(width, "0");
  return base === "X" || base === "N" ? text.toUpperCase() : text;
}

/** Hex digits from the right with dots between them, as in ip6.arpa; the width counts the dots. */
function nibbles(digits: string, width: number): string {
  const count = Math.max(digits.length, Math.ceil(width / 2));
  return digits.padStart(count, "0").split("").toReversed().join(".");
}
