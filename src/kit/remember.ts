/** Remembers what a pure function has made of a text: for texts that come again and again, from strangers. */

/** Past this many all are forgotten; those in use come back. */
const MAX_TEXTS = 1_000;
/** What is longer is made each time, so that nobody can fill the memory. */
export const REMEMBERED_LENGTH = 512;

export function remember<T>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, { readonly value: T }>();
  return (text) => {
    const known = made.get(text);
    if (known !== undefined) return known.value;
    if (text.length > REMEMBERED_LENGTH) return make(text);
    const own = copyOf(text);
    const value = make(own);
    if (made.size >= MAX_TEXTS) made.clear();
    made.set(own, { value });
    return value;
  };
}

/** A slice of a text keeps all of that text in memory. */
function copyOf(text: string): string {
  return JSON.parse(JSON.stringify(text)) as string;
}
