/** From what was measured of nameservers to rows: what is shown of each, and what is aimed at. */
import type { Aim, Condition, Figures, Row, ShownFigure, Side } from "./bench.ts";
import type { Workload } from "./dns-measure.ts";
import { OURS } from "./dns-selvedge.ts";

/** A server with its figures, a set for each round; the order turned with every round. */
export interface MeasuredServer {
  readonly key: string;
  readonly name: string;
  readonly rounds: readonly Figures[];
}

const A_MILLION = 1_000_000;

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
export const quiet: Condition = {
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

/** A row for each thing measured and each peer; those of one thing stand together. */
export function dnsRows(
  servers: readonly MeasuredServer[],
  names: number,
  asked: readonly Workload[],
): Row[] {
  const some = servers.find(({ key }) => key === OURS) ?? servers[0];
  if (some === undefined) return [];
  const nobody = { key: "", name: "(none)", rounds: some.rounds.map(unknown) };
  const ours = some.key === OURS ? some : nobody;
  const others = servers.filter(({ key }) => key !== OURS);
  const peers = others.length === 0 ? [nobody] : others;
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
      aims: names < A_MILLION ? {} : memoryAims,
      conditions: [],
    },
  ];
  return groups.flatMap(({ key, name, shown, aims, conditions }) =>
    peers.map((peer) => ({
      name,
      names: { ours: ours.name, peer: peer.name },
      shown,
      aims: ours === nobody ? [] : (aims[peer.key] ?? []),
      conditions,
      rounds: peer.rounds.map((figures, index) => ({
        first: (index % 2 === 0 ? "ours" : "peer") satisfies Side,
        ours: figuresOf(ours.rounds[index]!, key),
        peer: figuresOf(figures, key),
      })),
    })),
  );
}

function figuresOf(figures: Figures, key: string): Figures {
  const own = Object.entries(figures).filter(([name]) => name.startsWith(`${key}.`));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(key.length + 1), value]));
}

/** For a side that was not measured. */
function unknown(figures: Figures): Figures {
  return Object.fromEntries(Object.keys(figures).map((name) => [name, Number.NaN]));
}
