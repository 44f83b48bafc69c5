/** From what was measured of stores to rows: what is shown of each, and what is aimed at. */
import type { Aim, Figures, Row, ShownFigure, Side } from "./bench.ts";
import {
  type HolderKind,
  keyOf,
  type Operation,
  operations,
  plainOperations,
} from "./objects-measure.ts";

const loadFigures: readonly ShownFigure[] = [
  { key: "rate", label: "a second", digits: 0 },
  { key: "p50Micros", label: "p50 µs", digits: 0 },
  { key: "p99Micros", label: "p99 µs", digits: 0 },
  { key: "cpuMicros", label: "CPU µs each", digits: 1 },
  { key: "share", label: "use of a core", digits: 2 },
  { key: "othersShare", label: "others' use of a core", digits: 2 },
];
const memoryFigures: readonly ShownFigure[] = [
  { key: "idle", label: "MiB, opened", digits: 1 },
  { key: "after", label: "MiB after everything", digits: 1 },
];

type Measured = ReadonlyMap<string, readonly Figures[]>;

/** Ours beside each peer, row by row. */
export function peerRows(
  ours: HolderKind,
  peers: readonly HolderKind[],
  measured: Measured,
): Row[] {
  const each = (key: string, name: string, shown: readonly ShownFigure[], aims: readonly Aim[]) =>
    peers.map((peer): Row => rowOf({ key, name, shown, aims }, ours, peer, measured));
  const faster: Aim = { text: "at least 5 times its rate", key: "rate", ratioAtLeast: 5 };
  return [
    ...operations.flatMap(({ key, name }) => each(key, name, loadFigures, [faster])),
    ...each("memory", "memory of all its processes", memoryFigures, []),
  ];
}

const MIB = 1024 ** 2;

/** What the disk alone does, and how much of it we must reach. */
export const limits: readonly { operation: Operation; name: string; least: number | null }[] = [
  {
    operation: operationOf(keyOf("put", 1024, 1)),
    name: "put 1 KiB, 1 at a time, beside an append and fdatasync each",
    least: null,
  },
  {
    operation: operationOf(keyOf("put", 1024, 32)),
    name: "put 1 KiB, 32 at a time, beside SQLite with 32 rows a commit",
    least: 0.5,
  },
  ...[1, 32].flatMap((concurrency) => [
    {
      operation: operationOf(keyOf("get", 10 * MIB, concurrency)),
      name: `get 10 MiB, ${concurrency} at a time, beside streams of plain files`,
      least: 0.7,
    },
    {
      operation: operationOf(keyOf("put", 10 * MIB, concurrency)),
      name: `put 10 MiB, ${concurrency} at a time, beside a write and fdatasync of plain files`,
      least: null,
    },
  ]),
];

export function limitRows(ours: HolderKind, disk: HolderKind, measured: Measured): Row[] {
  return [...besideDisk(ours, disk, measured), ...besideFiles(ours, measured)];
}

/** Plain files in our own process: octets that come into the same memory, with the same garbage to collect. */
function besideFiles(ours: HolderKind, measured: Measured): Row[] {
  const files = { ...ours, name: "plain files" };
  return plainOperations.map(({ key: peerKey, name, job }) => {
    const key = keyOf(job.action, job.octets, job.concurrency);
    const aims = reaches(job.action === "get" ? 0.7 : null);
    const row = { name: `${name} in the same process`, shown: loadFigures, aims };
    return rowOf({ ...row, key, peerKey }, ours, files, measured);
  });
}

function reaches(least: number | null): Aim[] {
  if (least === null) return [];
  return [{ text: `at least ${least * 100} % of it`, key: "rate", ratioAtLeast: least }];
}

function besideDisk(ours: HolderKind, disk: HolderKind, measured: Measured): Row[] {
  return limits.map(({ operation: { key }, name, least }) => {
    const aims = reaches(least);
    return rowOf({ key, name, shown: loadFigures, aims }, ours, disk, measured);
  });
}

function operationOf(key: string): Operation {
  return operations.find((operation) => operation.key === key)!;
}

function rowOf(
  asked: Pick<Row, "name" | "shown" | "aims"> & { key: string; peerKey?: string },
  ours: HolderKind,
  peer: HolderKind,
  measured: Measured,
): Row {
  const { key, peerKey = key, name, shown, aims } = asked;
  const peerRounds = measured.get(peer.key)!;
  return {
    name,
    names: { ours: ours.name, peer: peer.name },
    shown,
    aims,
    conditions: [],
    rounds: measured.get(ours.key)!.map((figures, round) => ({
      first: (round % 2 === 0 ? "ours" : "peer") satisfies Side,
      ours: figuresOf(figures, key),
      peer: figuresOf(peerRounds[round]!, peerKey),
    })),
  };
}

function figuresOf(figures: Figures, key: string): Figures {
  const own = Object.entries(figures).filter(([name]) => name.startsWith(`${key}.`));
  return Object.fromEntries(own.map(([name, value]) => [name.slice(key.length + 1), value]));
}
