/** Questions answered by our nameserver, beside the nameservers of Debian with the same zones. */
import type { Bench, BenchContext, Figures, Row } from "./kit/bench.ts";
import { runBenches } from "./kit/command.ts";
import { type DnsFiles, writeDnsFiles } from "./kit/dns-files.ts";
import { dnsPeer } from "./kit/dns-launch.ts";
import {
  dnsParameters,
  type DnsPair,
  measureDns,
  type Workload,
  workloads,
} from "./kit/dns-measure.ts";
import { dnsPeers } from "./kit/dns-peers.ts";
import { DNSPERF_PACKAGE, hasDnsperf } from "./kit/dns-perf.ts";
import { dnsRows } from "./kit/dns-rows.ts";
import { fillSelvedge, selvedgeDns } from "./kit/dns-selvedge.ts";

/** Names of the zone that everything is measured with, and of the one for size. */
const NAMES = 100_000;
const MANY_NAMES = 1_000_000;

/** More would not fit into the memory of a small machine. */
const MOST_NAMES = 10_000_000;

export const dns: Bench = {
  name: "dns",
  summary: "questions to the nameserver, zones loaded",
  defaults: { rounds: 3, seconds: 3 },
  pinned: true,
  parameters: dnsParameters,
  flags: {
    peers: {
      value: "LIST",
      help: `some of ${dnsPeers.map(({ key }) => key).join(",")}; all that are installed by default`,
      check: (value) => void keysOf(value),
    },
    names: {
      value: "N",
      help: `names of the zone; by default ${NAMES}, then ${MANY_NAMES} with fewer rows`,
      check: (value) => void namesOf(value),
    },
    "peers-only": { help: "without our own server" },
  },
  async run(context) {
    if (!hasDnsperf()) throw new Error(`dnsperf is needed: apt-get install ${DNSPERF_PACKAGE}`);
    const { names } = context.flags;
    if (typeof names === "string") return await measureZone(context, namesOf(names), workloads);
    const [first] = workloads;
    return [
      ...(await measureZone(context, NAMES, workloads)),
      ...(await measureZone(context, MANY_NAMES, [first!])),
    ];
  },
};

/** All rows of a zone with so many names. */
async function measureZone(
  context: BenchContext,
  names: number,
  asked: readonly Workload[],
): Promise<Row[]> {
  const { leftovers, note, rounds } = context;
  note(`writing a zone of ${names} names`);
  const folder = await leftovers.folder();
  const files = writeDnsFiles(folder, names);
  const pairs = [...(await oursOf(context, files)), ...peersOf(context, files)];
  const measured = pairs.map((): Figures[] => []);
  for (let round = 0; round < rounds; round++) {
    // Whoever went last goes first in the next round, and so back through all.
    const order = [...pairs.entries()];
    if (round % 2 === 1) order.reverse();
    for (const [index, pair] of order) {
      note(`${names} names: round ${round + 1} of ${rounds}, ${pair.filled.name}`);
      measured[index]!.push(await measureDns(context, pair, files, asked));
    }
  }
  await leftovers.remove(folder);
  const servers = pairs.map(({ filled }, index) => ({ ...filled, rounds: measured[index]! }));
  return dnsRows(servers, names, asked);
}

async function oursOf(context: BenchContext, files: DnsFiles): Promise<DnsPair[]> {
  const { leftovers, flags } = context;
  if (flags["peers-only"] === true) return [];
  const data = await fillSelvedge(context, files);
  const empty = selvedgeDns(leftovers, { data: await leftovers.folder(), files: null });
  // The first start makes the database and its keys.
  await (await empty.start())[Symbol.asyncDispose]();
  return [{ filled: selvedgeDns(leftovers, { data, files }), empty }];
}

function peersOf({ leftovers, flags, note }: BenchContext, files: DnsFiles): DnsPair[] {
  const keys = typeof flags["peers"] === "string" ? keysOf(flags["peers"]) : null;
  const chosen = dnsPeers.filter(({ key }) => keys === null || keys.includes(key));
  return chosen.flatMap((peer) => {
    const name = peer.name();
    if (name !== null) {
      return {
        filled: dnsPeer(leftovers, { peer, name, files }),
        empty: dnsPeer(leftovers, { peer, name, files: null }),
      };
    }
    note(`${peer.key} is not installed (apt-get install ${peer.packages}) and is left out`);
    return [];
  });
}

function keysOf(list: string): string[] {
  const keys = list.split(",");
  const odd = keys.find((key) => !dnsPeers.some((peer) => peer.key === key));
  if (odd === undefined) return keys;
  const known = dnsPeers.map(({ key }) => key).join(", ");
  throw new Error(`--peers takes a list of ${known}; "${odd}" is none of them.`);
}

function namesOf(text: string): number {
  const names = Number(text);
  if (Number.isInteger(names) && names >= 100 && names <= MOST_NAMES) return names;
  throw new Error(`--names takes a whole number from 100 to ${MOST_NAMES}, not "${text}".`);
}

if (import.meta.main) await runBenches([dns]);
