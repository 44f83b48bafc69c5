/** Questions answered by our nameserver, beside the nameservers of Debian with the same zones. */
import type {
  Aim,
  Bench,
  BenchContext,
  Condition,
  Figures,
  Row,
  ShownFigure,
  Side,
} from "./kit/bench.ts";
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
import { fillSelvedge, selvedgeDns } from "./kit/dns-selvedge.ts";

const OURS = "selvedge";

/** Names of the zone that everything is measured with, and of the one for size. */
const NAMES = 100_000;
const MANY_NAMES = 1_000_000;

/** More would not fit into the memory of a small machine. */
const MOST_NAMES = 10_000_000;

const answerFigures: readonly ShownFigure[] = [
  { key: "rate", label: "queries/s", digits: 0 },
  { key: "perCore", label: "queries per CPU second", digits: 0 },
  { key: "cpuMicros", label: "CPU s per million queries", digits: 2 },
  { key: "octets", label: "octets of a response", digits: 0 },
  { key: "lostPercent", label: "lost, %", digits: 3 },
  { key: "serverShare", label: "server's use of a core", digits: 2 },
  { key: "loadShare", label: "dnsperf's use of a core", digits: 2 },
  { key: "othersShare", label: "others' use of a core", digits: 2 },
];

const loadFigures: readonly ShownFigure[] = [
  { key: "startMs", label: "spawn to answers, ms", digits: 0 },
  { key: "loadMs", label: "less a start without zones", digits: 0 },
  { key: "loadCpuMs", label: "the same in CPU time", digits: 0 },
  { key: "othersShare", label: "others' use of a core", digits: 2 },
];

const memoryFigures: readonly ShownFigure[] = [
  { key: "heldMiB", label: "MiB, each page once", digits: 1 },
  { key: "grownMiB", label: "less that without zones", digits: 1 },
  { key: "afterMiB", label: "MiB after the questions", digits: 1 },
  { key: "rssMiB", label: "VmRSS of all processes", digits: 1 },
];

/** A fifth of a core is what a desktop does by itself. */
const quiet: Condition = {
  otherwise: "other processes took more than 0.2 of a core meanwhile",
  key: "quiet",
  atLeast: 0.8,
};

const asFast = (times: number): Aim => ({
  text: `at least ${times === 1 ? "as many" : `${times} times as many`} queries per CPU second`,
  key: "perCore",
  ratioAtLeast: times,
});

/** What is aimed at beside each peer. */
const answerAims: Readonly<Record<string, readonly Aim[]>> = {
  nsd: [asFast(1), { text: "no more CPU a query", key: "cpuMicros", ratioAtMost: 1 }],
  knot: [asFast(1)],
  pdns: [asFast(2)],
};
const loadAims: Readonly<Record<string, readonly Aim[]>> = {
  knot: [{ text: "no slower", key: "loadMs", ratioAtMost: 1 }],
};
/** Of a million names; with few, what a server takes without any is most of it. */
const memoryAims: Readonly<Record<string, readonly Aim[]>> = {
  nsd: [
    { text: "no more in all", key: "heldMiB", ratioAtMost: 1 },
    { text: "no more for the zones", key: "grownMiB", ratioAtMost: 1 },
  ],
};

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
    if (!hasDnsperf())
      throw new Error(`This bench needs dnsperf: apt-get install ${DNSPERF_PACKAGE}`);
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
  return rowsOf(pairs, measured, names, asked);
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

/** A row for each thing measured and each peer; those of one thing stand together. */
function rowsOf(
  pairs: readonly DnsPair[],
  measured: readonly (readonly Figures[])[],
  names: number,
  asked: readonly Workload[],
): Row[] {
  const all = pairs.map(({ filled }, index) => ({ ...filled, rounds: measured[index]! }));
  const ours = all.find(({ key }) => key === OURS);
  const peers = all.filter(({ key }) => key !== OURS);
  const count = names.toLocaleString("en");
  const groups = [
    ...asked.map(({ key, name }) => ({
      key,
      name: `${name} (${count})`,
      shown: answerFigures,
      aims: answerAims,
      conditions: [quiet],
    })),
    {
      key: "load",
      name: `loading ${count} names`,
      shown: loadFigures,
      aims: loadAims,
      conditions: [quiet],
    },
    {
      key: "memory",
      name: `memory with ${count} names`,
      shown: memoryFigures,
      aims: names < MANY_NAMES ? {} : memoryAims,
      conditions: [],
    },
  ];
  return groups.flatMap(({ key, name, shown, aims, conditions }) =>
    peers.map((peer) => ({
      name,
      names: { ours: OURS, peer: peer.name },
      shown,
      aims: ours === undefined ? [] : (aims[peer.key] ?? []),
      conditions,
      rounds: peer.rounds.map((figures, index) => ({
        first: (index % 2 === 0 ? "ours" : "peer") satisfies Side,
        ours: ours === undefined ? unknown(figures, key) : figuresOf(ours.rounds[index]!, key),
        peer: figuresOf(figures, key),
      })),
    })),
  );
}

function figuresOf(figures: Figures, key: string): Figures {
  const own = Object.entries(figures).filter(([name]) => name.startsWith(`${key}.`));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(key.length + 1), value]));
}

function unknown(figures: Figures, key: string): Figures {
  return Object.fromEntries(Object.keys(figuresOf(figures, key)).map((name) => [name, Number.NaN]));
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
