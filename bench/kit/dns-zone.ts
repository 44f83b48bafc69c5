/**
 * The zones that all nameservers are measured with, made from a number: what stands at the n-th name
 * follows from n alone, so that questions and their right answers need no copy of the zone.
 */

/** A record as a line of a zone file has it; the names in it end with a dot. */
export interface Rr {
  readonly name: string;
  readonly type: string;
  readonly data: string;
}

export interface Question {
  readonly name: string;
  readonly type: string;
}

/** A question with what every server has to answer. */
export interface Sample extends Question {
  readonly rcode: "NOERROR" | "NXDOMAIN";
  readonly answer: readonly Rr[];
}

export const ORIGIN = "bench.example.";
export const WILD_ORIGIN = "wild.example.";
export const TTL_SECONDS = 3_600;

/** What stands at a name. Of each hundred names, as many as the number says are of the kind. */
const KINDS = [
  ["address", 58], // First: others point to the addresses of their own hundred.
  ["both", 14],
  ["address6", 4],
  ["alias", 8],
  ["mail", 6],
  ["text", 5],
  ["service", 4],
  ["delegation", 1],
] as const;
const HUNDRED = KINDS.flatMap(([kind, count]) => Array.from({ length: count }, () => kind));
const ADDRESSES = KINDS[0][1];

const WILDCARD: readonly Omit<Rr, "name">[] = [
  { type: "A", data: "192.0.2.80" },
  { type: "TXT", data: '"any name will do"' },
];

/** All records at the n-th name, and of a delegation the glue below it. */
export function recordsOf(n: number): Rr[] {
  const name = nameOf(n);
  const neighbour = nameOf(n - (n % 100) + (mix(n, 1) % ADDRESSES));
  switch (kindOf(n)) {
    case "address":
      return [{ name, type: "A", data: ipv4(n) }];
    case "both":
      return [
        { name, type: "A", data: ipv4(n) },
        { name, type: "AAAA", data: ipv6(n) },
      ];
    case "address6":
      return [{ name, type: "AAAA", data: ipv6(n) }];
    case "alias":
      return [{ name, type: "CNAME", data: neighbour }];
    case "mail":
      return [{ name, type: "MX", data: `10 ${neighbour}` }];
    case "text":
      return [{ name, type: "TXT", data: `"v=bench1 id=${mix(n, 2).toString(36)} note=text"` }];
    case "service":
      return [{ name, type: "SRV", data: `10 5 5060 ${neighbour}` }];
    default: // A delegation.
      return ["ns1", "ns2"].flatMap((host, index) => [
        { name, type: "NS", data: `${host}.${name}` },
        { name: `${host}.${name}`, type: "A", data: ipv4(n + index) },
      ]);
  }
}

/** A question about the n-th name that finds something; `pick` chooses where there are several. */
export function questionOf(n: number, pick: number): Question {
  const name = nameOf(n);
  switch (kindOf(n)) {
    case "alias":
      return { name, type: "A" };
    case "delegation":
      return { name: `www.${name}`, type: "A" };
    default: {
      const records = recordsOf(n);
      return { name, type: records[pick % records.length]!.type };
    }
  }
}

export function sampleOf(n: number, pick: number): Sample {
  const question = questionOf(n, pick);
  return { ...question, rcode: "NOERROR", answer: answerTo(question, n) };
}

function answerTo({ type }: Question, n: number): Rr[] {
  const records = recordsOf(n);
  switch (kindOf(n)) {
    case "delegation":
      return []; // A referral: the name servers stand in the authority section.
    case "alias":
      return [...records, ...recordsOf(n - (n % 100) + (mix(n, 1) % ADDRESSES))];
    default:
      return records.filter((record) => record.type === type);
  }
}

/** The n-th of the names that are not there; none of the zone's begins with this letter. */
export function missing(n: number): Sample {
  return { name: `x${label(n)}.${ORIGIN}`, type: "A", rcode: "NXDOMAIN", answer: [] };
}

/** The n-th name that only the wildcard answers for. */
export function wild(n: number): Sample {
  const { type, data } = WILDCARD[n % 8 === 0 ? 1 : 0]!;
  const name = `w${label(n)}.${WILD_ORIGIN}`;
  return { name, type, rcode: "NOERROR", answer: [{ name, type, data }] };
}

/** The records of the wildcard's zone below its apex. */
export const wildRecords: readonly Rr[] = WILDCARD.map((record) => ({
  name: `*.${WILD_ORIGIN}`,
  ...record,
}));

/** Records of the apex, and the addresses they need; Selvedge makes its own. */
export function apexOf(origin: string): Rr[] {
  const hosts = ["ns1", "ns2"].map((host) => `${host}.${origin}`);
  return [
    { name: origin, type: "SOA", data: `${hosts[0]} hostmaster.${origin} 1 7200 3600 1209600 300` },
    ...hosts.map((data) => ({ name: origin, type: "NS", data })),
    ...hosts.map((name) => ({ name, type: "A", data: "192.0.2.53" })),
  ];
}

export function line({ name, type, data }: Rr): string {
  return `${name} ${TTL_SECONDS} IN ${type} ${data}\n`;
}

function kindOf(n: number) {
  return HUNDRED[n % 100]!;
}

function nameOf(n: number): string {
  return `${kindOf(n) === "service" ? "_sip._tcp." : ""}h${label(n)}.${ORIGIN}`;
}

/** Another for each n, in no order: an odd factor turns the 32-bit numbers around, each once. */
function label(n: number): string {
  return (Math.imul(n, 0x9e3779b1) >>> 0).toString(36);
}

function ipv4(n: number): string {
  return `10.${(n >> 16) & 0xff}.${(n >> 8) & 0xff}.${n & 0xff}`;
}

/** No group is zero, so there is one way to write it. */
function ipv6(n: number): string {
  const group = (salt: number) => (1 + (mix(n, salt) % 0xffff)).toString(16);
  return `2001:db8:${[3, 4, 5, 6, 7, 8].map(group).join(":")}`;
}

/** A number that looks random, the same for the same arguments. The finaliser of MurmurHash3. */
export function mix(n: number, salt: number): number {
  let hash = Math.imul(n + 1, 0x9e3779b1) ^ Math.imul(salt, 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
