/** The hash of names: label by label from the root, so that one pass gives those of all ancestors. */

const PRIME = 0x0100_0193;

/** The hash of a name from its parent's and the octets of its first label, which must be lower case. */
export function hashLabel(parent: number, octets: Uint8Array, at: number): number {
  const end = at + octets[at]!;
  let hash = Math.imul(parent ^ octets[at]!, PRIME);
  for (let i = at + 1; i <= end; i++) hash = Math.imul(hash ^ octets[i]!, PRIME);
  // Multiplying only carries upwards; without this the low bits, which choose the page, stay poor.
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d);
  return hash ^ (hash >>> 13);
}

/** The hash of `*` below a name. */
export function hashWildcard(parent: number): number {
  return hashLabel(parent, WILDCARD, 0);
}

export const WILDCARD = Uint8Array.of(1, 0x2a);
