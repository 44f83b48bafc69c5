/** Chance that is the same in every run. */

/** Gives whole numbers below a limit, by xorshift from the seed, which may not be 0. */
export function chanceFrom(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}
