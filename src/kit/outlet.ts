/** What whoever takes octets may offer to whoever has them. */

export interface Outlet {
  /** Where octets may be put that pass through memory. */
  readonly room: () => Uint8Array;
  /**
   * Moves octets of an open file, from a place on, to where they go. Returns how many went; none where that would have
   * to wait, or cannot be done.
   */
  readonly move: (fd: number, at: number, most: number) => number;
}

/** Room alone, or also a way past it. */
export type Offer = Uint8Array | Outlet;
