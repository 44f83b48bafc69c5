/** XML as S3 writes it: documents of elements and text, in one string. */

const NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/";
export const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n';

/** A whole document. `inner` is XML already. */
export function xmlDocument(root: string, inner: string): string {
  return `${DECLARATION}<${root} xmlns="${NAMESPACE}">${inner}</${root}>`;
}

/** Errors have no namespace: clients do not find their elements in one. */
export function bareDocument(root: string, inner: string): string {
  return `${DECLARATION}<${root}>${inner}</${root}>`;
}

/** An element with text; nothing for what is not there. */
export function tag(name: string, text: string | number | boolean | null | undefined): string {
  if (text === null || text === undefined) return "";
  return `<${name}>${typeof text === "string" ? escapeText(text) : text}</${name}>`;
}

/** An element around others, which are XML already. */
export function group(name: string, inner: string): string {
  return `<${name}>${inner}</${name}>`;
}

/** `2026-11-15T00:32:08.077Z` */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

/** Beside the marks of XML itself, what XML 1.0 cannot hold, and the line ends that readers change. */
// oxlint-disable-next-line no-control-regex -- these are what it looks for
const SPECIAL = /[&<>"\u0000-\u0008\u000B-\u001F\uFFFE\uFFFF]/g;
// oxlint-disable-next-line no-control-regex -- the same, without a place of its own
const HAS_SPECIAL = /[&<>"\u0000-\u0008\u000B-\u001F\uFFFE\uFFFF]/;

const NAMED: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

/** What XML cannot hold is written as a number, as S3 does: `encoding-type=url` is for who cannot read that. */
function escapeText(text: string): string {
  if (!HAS_SPECIAL.test(text)) return text;
  return text.replaceAll(
    SPECIAL,
    (c) => NAMED[c] ?? `&#x${c.charCodeAt(0).toString(16).toUpperCase()};`,
  );
}
