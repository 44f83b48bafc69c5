/** Hides the password of a URL, so that the rest can be shown to people and logs. */
export function redactUrl(text: string): string {
  return text
    .replace(/(:\/\/[^:@/?\s]*):[^@/\s]*@/, "$1:***@")
    .replaceAll(/([?&](?:password|[a-z_-]*secret[a-z_-]*)=)[^&\s]*/gi, "$1***");
}
