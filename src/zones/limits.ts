/** Limits of zones and records. */

/** Wire size of one record's data: what answers can carry without trouble. */
export const MAX_RECORD_OCTETS = 4_096;
/** Characters of content that records of one name and type may have together. */
export const MAX_RRSET_CHARACTERS = 8_192;
export const MAX_COMMENT = 500;
export const MAX_TAGS = 20;
export const MAX_TAG_NAME = 32;
export const MAX_TAG_VALUE = 100;
/** Changes of one batch: one transaction, held in memory whole. */
export const MAX_BATCH = 3_500;
export const AUTOMATIC_TTL = 1;
export const MAX_TTL = 86_400;
/** CNAMEs that are followed from one to the next; resolvers give up at about as many. */
export const MAX_CNAME_CHAIN = 16;
