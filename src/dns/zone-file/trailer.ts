/**
 * What follows a record in an export of Cloudflare's API: `; <comment> cf_tags=<tag>,<tag>:<value>`. Names
 * that begin with `cf-` are not the user's tags but the record's settings: `cf-proxied:true`,
 * `cf-flatten-cname`.
 */

export interface Tag {
  readonly name: string;
  /** Empty when the tag is a name alone. */
  readonly value: string;
}

export interface Trailer {
  readonly comment: string | null;
  readonly tags: readonly Tag[];
}

const MARK = "cf_tags=";

/** Reads the comment of a record's line, without its `;`. */
export function parseTrailer(text: string | null): Trailer {
  const line = text?.trim() ?? "";
  // From the right, for a comment may hold the mark too; then the real one follows it. A mark inside
  // a quoted value is passed over, because what follows it is no list of tags.
  for (
    let at = line.lastIndexOf(MARK);
    at !== -1;
    at = at === 0 ? -1 : line.lastIndexOf(MARK, at - 1)
  ) {
    const tags =
      at === 0 || /\s/.test(line[at - 1]!) ? parseTags(line.slice(at + MARK.length)) : null;
    if (tags !== null) return { comment: line.slice(0, at).trim() || null, tags };
  }
  return { comment: line || null, tags: [] };
}

const TAG = /([A-Za-z0-9_-]+)(?::("(?:[^"\\]|\\.)*"|[^",=\\]*))?(,|$)/y;

/** Null when it is not a list of tags. */
function parseTags(text: string): Tag[] | null {
  const tags: Tag[] = [];
  if (text.trim() === "") return tags;
  for (let at = 0; ;) {
    TAG.lastIndex = at;
    const match = TAG.exec(text);
    const value = match === null ? null : parseValue(match[2] ?? "");
    if (match === null || value === null) return null;
    tags.push({ name: match[1]!, value });
    at += match[0].length;
    if (match[3] === "") return tags;
  }
}

function parseValue(text: string): string | null {
  if (!text.startsWith('"')) return text.trim();
  try {
    return JSON.parse(text) as string;
  } catch {
    return null;
  }
}

/** The comment and the tags as they stand behind a record, without the `;`; empty when there are none. */
export function printTrailer({ comment, tags }: Trailer): string {
  const words = comment === null ? [] : [comment.replaceAll(/[\r\n]+/g, " ").trim()];
  // A comment that holds the mark needs another behind it, or it would be read as tags.
  if (tags.length > 0 || comment?.includes(MARK) === true) {
    words.push(MARK + tags.map(printTag).join(","));
  }
  return words.join(" ").trim();
}

function printTag({ name, value }: Tag): string {
  if (value === "") return name;
  const needsQuotes = /["=,\\]|^\s|\s$/.test(value);
  return `${name}:${needsQuotes ? JSON.stringify(value) : value}`;
}
