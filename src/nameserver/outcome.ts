/** What answering comes to when it is not an RCODE. */

/** A name outside must be known first. */
export const NEEDS_OUTSIDE = -1;
/** The name's CNAME was written: its target is to be looked up. */
export const FOLLOW = -2;
/** A flattened name leads to no such address. */
export const LEADS_NOWHERE = -3;
