/** What a script's process and the edge know of each other's answers. */

/** Header of an answer whose body is to be taken from the store, by this name. */
export const LENT_BODY = "x-selvedge-body";
