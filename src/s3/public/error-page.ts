/** What people see instead of an object. */
import { STATUS_CODES } from "#kit/node-http.ts";

/** A page for browsers, a line for others. Its text is our own, so nothing needs escaping. */
export function errorPage(
  status: number,
  message = "The request cannot be answered.",
  accept = "",
): { readonly type: string; readonly body: string } {
  const title = `${status} ${STATUS_CODES[status] ?? ""}`.trim();
  if (!/\btext\/html\b/.test(accept)) {
    return { type: "text/plain; charset=utf-8", body: `${title}: ${message}\n` };
  }
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${title}</title>
<style>
  body { font: 1rem/1.5 system-ui, sans-serif; max-width: 36rem; margin: 15vh auto; padding: 0 1.5rem; color: #222; background: #fff }
  h1 { font-size: 1.5rem; font-weight: 600 }
  @media (prefers-color-scheme: dark) { body { color: #ddd; background: #181818 } }
</style>
<h1>${title}</h1>
<p>${message}</p>
</html>
`;
  return { type: "text/html; charset=utf-8", body };
}
