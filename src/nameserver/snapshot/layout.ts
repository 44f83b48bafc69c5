/**
 * How the snapshot lies in shared memory.
 *
 * Memory is a list of segments of one size. An address is a number of octets over all of them; a block
 * begins at a multiple of 4, lies in one segment, and has its size in words as its first word. Blocks
 * that readers can reach never change, but for the few words that say so below.
 */

/** 64 MiB a segment: untouched pages cost nothing, and a block can hold what any zone needs. */
export const SEGMENT_BITS = 26;
export const SEGMENT_BYTES = 1 << SEGMENT_BITS;
export const SEGMENT_MASK = SEGMENT_BYTES - 1;

/** Addresses are 31-bit integers, so that they stay small integers in JavaScript: 2 GiB in all. */
export const MAX_SEGMENTS = 32;

/** Words of the control block. */
export const CONTROL = {
  /** Counts publications; never 0. */
  version: 0,
  /** The address of the root block. */
  root: 1,
  segments: 2,
  /** Where the hash of every name begins: random, so that nobody can prepare names that collide. */
  seed: 3,
  firstSlot: 16,
  /** A line of cache to each reader. */
  slotWords: 16,
} as const;

/** 1024 query threads and some to spare. */
export const MAX_READERS = 1100;

/** A reader's slot holds this while it reads nothing. */
export const IDLE = 0;

/** The root: where the maps begin. */
export const ROOT = { zones: 1, targets: 2, words: 3 } as const;

/**
 * A map is a directory of pages by the low bits of the hash (extendible hashing): a change copies one page
 * and the directory, however large the map is. Directory: size, depth, then the pages: a page begins at a
 * line of cache, and the six bits that this leaves free in its address hold the logarithm of its slots. So a
 * lookup need not read the page's head.
 */
export const DIRECTORY = { depth: 1, pages: 2 } as const;
export const LINE = 64;
export const PAGE_BITS = LINE - 1;

/**
 * Page: size, local depth, how many slots are taken, the last slot's number, then the slots: pairs of hash and
 * address with linear probing. Address 0 is an empty slot. No pair lies on two lines.
 */
export const PAGE = { depth: 1, used: 2, lastSlot: 3, slots: 4 } as const;

/** A page doubles until it has so many slots, then it is split. */
export const PAGE_SLOTS = 256;
export const SMALLEST_PAGE_SLOTS = 4;

/** Splitting ends here: names whose hashes agree so far share a page that grows. */
export const MAX_DEPTH = 22;

/**
 * An entry of a map: size, meta, a word of its kind's own, then the key's octets. What follows the key
 * belongs to the kind.
 */
export const ENTRY = { meta: 1, own: 2, key: 12 } as const;
export const KEY_SHIFT = 16;
export const KEY_MASK = 0x1ff;
export const SETS_SHIFT = 25;
export const FLAGS_MASK = 0xffff;

/** Flags of a name. Its own word counts the names right below it, and is only the writer's. */
export const NAME = {
  proxied: 1,
  ipv4Only: 2,
  ipv6Only: 4,
  /** Its CNAME is never shown. */
  flattened: 8,
  /** Below the apex and with NS: another server's from here on. */
  cut: 16,
  hasCname: 32,
} as const;

/** Flags of a zone. */
export const ZONE = {
  /** Proxied names answer with the edge's addresses. */
  proxies: 1,
  ipv6: 2,
  flattensAll: 4,
} as const;

/** Words of a zone after its key (padded to a word). Places of RRsets are octets from the block's begin, 0 for none. */
export const BODY = {
  directory: 0,
  /** How many of its names are cuts, and how many wildcards: without any, a query need not look. */
  cuts: 1,
  wildcards: 2,
  /** A block of counters, one word a reader slot; readers write it. */
  counters: 3,
  soa: 4,
  ns: 5,
  edgeA: 6,
  edgeAaaa: 7,
  edgeHttps: 8,
  /** The same for names that only give one kind of address. */
  edgeHttps4: 9,
  edgeHttps6: 10,
  words: 11,
} as const;

/**
 * An RRset: type, kind, count, TTL, octets of its records; then each record as RDLENGTH and RDATA. Big
 * endian, at any octet.
 */
export const SET = { type: 0, kind: 2, count: 3, ttl: 5, length: 9, records: 11 } as const;

/** Kinds of RRset: where in the RDATA a name stands that readers look at. */
export const KIND = {
  opaque: 0,
  /** NS, CNAME, PTR: the name is all. It may be cut short, see `CUT_SHORT`. */
  name: 1,
  /** MX: a preference, then the name, which may be cut short too. */
  mx: 2,
  /** SRV, SVCB, HTTPS: the name in full after 6 or 2 octets. */
  srv: 3,
  svcb: 4,
} as const;

/**
 * Set in the RDLENGTH of a name that ends in its zone's name, which is left out: two octets stand in its
 * place, for a pointer. Such RDATA is far shorter than this bit says.
 */
export const CUT_SHORT = 0x8000;

/** An address that became known of a name outside: words after the key. Readers write `asked`. */
export const TARGET = { asked: 0, expires: 1, state: 2, count: 3, addresses: 4 } as const;
/** In `state`: the low octet is the EDE code plus one, 0 for none. */
export const TARGET_FAILED = 0x100;
export const TARGET_STALE = 0x200;

/** How many words so many octets take. */
export function wordsFor(octets: number): number {
  return (octets + 3) >> 2;
}
