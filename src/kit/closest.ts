/** Finds the known word that a mistyped one was probably meant to be. */

/** More edits than this, and the guess would puzzle more than help. */
const MAX_EDITS = 3;

export function closest(word: string, known: Iterable<string>): string | null {
  let best: string | null = null;
  let bestDistance = Math.min(MAX_EDITS, Math.floor(word.length / 2)) + 1;
  for (const candidate of known) {
    const distance = editDistance(word, candidate);
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** " Did you mean X?", or nothing where no known word is near. */
export function suggestion(word: string, known: Iterable<string>): string {
  const guess = closest(word, known);
  return guess === null ? "" : ` Did you mean ${guess}?`;
}

/** Levenshtein's distance, a row at a time. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const swap = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, swap));
    }
    row = next;
  }
  return row[b.length]!;
}
