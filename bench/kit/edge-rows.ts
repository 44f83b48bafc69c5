/** From what was measured of edges to rows: what is shown of each, and what is aimed at. */
import type { Aim, Condition, Figures, Row, ShownFigure, Side } from "./bench.ts";
import { quiet } from "./dns-rows.ts";
import { ALONE, type EdgeFigures, HANDSHAKES, idleKeys, workloads } from "./edge-measure.ts";
import { OURS } from "./edge-selvedge.ts";

/** A server with its figures, a set for each round; the order turned with every round. */
export interface MeasuredEdge {
  readonly key: string;
  readonly name: string;
  readonly rounds: readonly EdgeFigures[];
}

const PROXIED_RATIO = 0.5;
const CACHED_RATIO = 0.6;
const ADDED_MICROS = 300;
const IDLE_MIB = 200;

const shares: readonly ShownFigure[] = [
  { key: "serverShare", label: "server's use of a core", digits: 2 },
  { key: "loadShare", label: "generator's use of a core", digits: 2 },
  { key: "originShare", label: "origin's use of a core", digits: 2 },
  { key: "othersShare", label: "others' use of a core", digits: 2 },
];

export const loadFigures = (what: string): readonly ShownFigure[] => [
  { key: "rate", label: `${what}s/s`, digits: 0 },
  { key: "perCore", label: `${what}s per CPU second`, digits: 0 },
  { key: "cpuMicros", label: `server CPU µs/${what}`, digits: 1 },
  { key: "p50Micros", label: "p50 µs", digits: 0 },
  { key: "p99Micros", label: "p99 µs", digits: 0 },
  ...shares,
];

const aloneFigures: readonly ShownFigure[] = [
  { key: "added", label: "p50 µs beyond the origin's own", digits: 0 },
  ...loadFigures("request"),
];

const idleFigures: readonly ShownFigure[] = [
  { key: "heldMiB", label: "MiB, each page once", digits: 1 },
  { key: "eachKiB", label: "of these, KiB a connection", digits: 1 },
  { key: "rssMiB", label: "VmRSS of all processes", digits: 1 },
  { key: "openingSeconds", label: "s to open them", digits: 1 },
];

interface Group {
  readonly key: string;
  readonly name: string;
  readonly shown: readonly ShownFigure[];
  /** Beside nginx, which is what is aimed at. */
  readonly aims: readonly Aim[];
  readonly conditions: readonly Condition[];
}

const groups: readonly Group[] = [
  ...workloads.map(({ key, name, kind }) => ({
    key,
    name,
    shown: key === ALONE ? aloneFigures : loadFigures("request"),
    aims: [
      key === ALONE
        ? { text: "under 0.3 ms added at p50", key: "added", below: ADDED_MICROS }
        : perCoreAim(kind === "cached" ? CACHED_RATIO : PROXIED_RATIO),
    ],
    conditions: [quiet],
  })),
  {
    key: HANDSHAKES,
    name: "full TLS 1.3 handshakes",
    shown: loadFigures("handshake"),
    aims: [],
    conditions: [],
  },
  ...Object.entries(idleKeys).map(([scheme, key]) => ({
    key,
    name: `10,000 idle connections, ${scheme === "http" ? "HTTP" : "HTTPS"}`,
    shown: idleFigures,
    aims: [{ text: `under ${IDLE_MIB} MiB`, key: "heldMiB", below: IDLE_MIB }],
    conditions: [],
  })),
];

function perCoreAim(ratioAtLeast: number): Aim {
  return {
    text: `at least ${ratioAtLeast * 100} % of nginx's requests per CPU second`,
    key: "perCore",
    ratioAtLeast,
  };
}

/** A row for each thing measured and each peer; those of one thing stand together. */
export function edgeRows(servers: readonly MeasuredEdge[]): Row[] {
  const ours = servers.find(({ key }) => key === OURS)!;
  const others = servers.filter(({ key }) => key !== OURS);
  const nobody = { key: "", name: "(none)", rounds: null };
  const peers = others.length === 0 ? [nobody] : others;
  return groups.flatMap(({ key, name, shown, aims, conditions }) =>
    peers.map((peer, at) => ({
      name,
      names: { ours: ours.name, peer: peer.name },
      shown,
      // What needs no peer is said once.
      aims: aims.filter((aim) => ("below" in aim ? at === 0 : peer.key === "nginx")),
      conditions: peer.rounds === null ? [] : conditions,
      rounds: ours.rounds.map((figures, index) => ({
        first: (index % 2 === 0 ? "ours" : "peer") satisfies Side,
        ours: figures[key]!,
        peer: peer.rounds?.[index]![key] ?? unknown(figures[key]!),
      })),
    })),
  );
}

/** For a side that was not measured. */
function unknown(figures: Figures): Figures {
  return Object.fromEntries(Object.keys(figures).map((name) => [name, Number.NaN]));
}
