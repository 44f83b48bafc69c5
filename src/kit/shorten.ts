/** Text from strangers, cut to what fits into a sentence. */
const MOST = 100;

export function shorten(text: string): string {
  return text.length <= MOST ? text : `${text.slice(0, MOST)}…`;
}
