/** Numbers of the protocol that the nameserver itself looks at. IANA's DNS parameters. */

export const TYPE = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  HINFO: 13,
  MX: 15,
  TXT: 16,
  KEY: 25,
  AAAA: 28,
  SRV: 33,
  OPT: 41,
  DS: 43,
  RRSIG: 46,
  NSEC: 47,
  SVCB: 64,
  HTTPS: 65,
  /** Says of a name that it does not exist; only ever an answer. RFC 9824. */
  NXNAME: 128,
  TKEY: 249,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  MAILB: 253,
  MAILA: 254,
  ANY: 255,
} as const;

export const CLASS = { IN: 1, CH: 3, ANY: 255 } as const;

export const OPCODE = { QUERY: 0, NOTIFY: 4 } as const;

export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  NOTAUTH: 9,
  BADVERS: 16,
} as const;

/** EDNS options. */
export const OPTION = {
  NSID: 3,
  ECS: 8,
  EXPIRE: 9,
  COOKIE: 10,
  KEEPALIVE: 11,
  PADDING: 12,
  EDE: 15,
} as const;

/** Extended errors; -1 is none. RFC 8914. */
export const EDE = {
  NONE: -1,
  OTHER: 0,
  STALE_ANSWER: 3,
  NOT_AUTHORITATIVE: 20,
  NO_REACHABLE_AUTHORITY: 22,
  NETWORK_ERROR: 23,
  INVALID_QUERY_TYPE: 30,
} as const;
