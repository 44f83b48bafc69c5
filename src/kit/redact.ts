/** Hides the password of a URL, so that the rest can be shown to people and logs. */
export function redactUrl(text: string): string {
  return (
    text
      // To the last @, for people forget to escape what a password may hold.
      .replace(/(:\/\/[^:@/?#\s]*):\S*@/, "$1:***@")
      .replaceAll(/([?&][a-z_-]*(?:password|secret)[a-z_-]*=)[^&\s]*/gi, "$1***")
  );
}
