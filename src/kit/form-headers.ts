/** The headers that hold a form together: multipart/form-data, RFC 7578. */

/** What divides the parts, as the Content-Type of a form names it; null when it does not. */
export function boundaryOf(contentType: string): string | null {
  const match = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))(?:\s*;|\s*$)/i.exec(contentType);
  return match?.[1] ?? match?.[2] ?? null;
}

/** The headers of a part, names in lower case; null when a line has no name. */
export function partHeaders(text: string): Map<string, string> | null {
  const headers = new Map<string, string>();
  for (const line of text.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon < 1) return null;
    headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return headers;
}

/** What a part's disposition says. Quotes and line breaks within are escaped as browsers do it. */
export function dispositionOf(headers: ReadonlyMap<string, string>): Map<string, string> {
  const disposition = headers.get("content-disposition") ?? "";
  const found = new Map<string, string>();
  const [start] = /^form-data/i.exec(disposition) ?? [];
  if (start === undefined) return found;
  const next = /\s*;\s*([\w*-]+)=(?:"([^"]*)"|([^\s;"]+))/gy;
  next.lastIndex = start.length;
  for (let match = next.exec(disposition); match !== null; match = next.exec(disposition)) {
    const [, name = "", quoted, bare = ""] = match;
    const value = (quoted ?? bare).replaceAll(/%(?:0A|0D|22)/gi, decodeURIComponent);
    found.set(name.toLowerCase(), value);
  }
  return found;
}
