/** Remembers what a pure function has made of a text: for texts that come again and again, from strangers. */

/** Past this many all are forgotten; those in use come back. */
const MAX_TEXTS = 1_000;
/** What is longer is made each time, so that nobody can fill the memory. */
const MAX_LENGTH = 512;

export function remember<T>(make: (text: string) => T): (text: string) => T {
  const made = new Map<string, { readonly value: T }>();
  return (text) => {
    const known = made.get(text);
    if (known !== undefined) return known.value;
    const value = make(text);
    if (text.length > MAX_LENGTH) return value;
    if (made.size >= MAX_TEXTS) made.clear();
    made.set(text, { value });
    return value;
  };
}
