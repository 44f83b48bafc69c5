/** Shows results as a table, and keeps them as JSON. */
import { mkdir, writeFile } from "node:fs/promises";
import type { Cores } from "./cores.ts";
import type { Bench, Row, ShownFigure } from "./bench.ts";
import type { Machine } from "./machine.ts";
import { type Ratio, summarize, type SummarizedRow } from "./summary.ts";

export interface Report {
  readonly bench: string;
  readonly summary: string;
  readonly date: string;
  readonly machine: Machine;
  /** The cores, or why nothing was pinned. */
  readonly pinned: Cores | string;
  readonly parameters: Readonly<Record<string, string | number | null>>;
  readonly rows: readonly SummarizedRow[];
}

const FOLDER = new URL("../results/", import.meta.url);

export function reportOf(
  { name, summary, parameters }: Bench,
  rows: readonly Row[],
  run: Pick<Report, "date" | "machine" | "pinned"> & { rounds: number; seconds: number | null },
): Report {
  const { rounds, seconds, date, machine, pinned } = run;
  return {
    bench: name,
    summary,
    date,
    machine,
    pinned,
    parameters: { rounds, seconds, ...parameters },
    rows: rows.map(summarize),
  };
}

/** Writes `bench/results/<name>.json`, over the one before. */
export async function keepReport(report: Report): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  await writeFile(new URL(`${report.bench}.json`, FOLDER), `${JSON.stringify(report, null, 2)}\n`);
}

export function printReport({ bench, summary, machine, pinned, parameters, rows }: Report): string {
  const { cores, cpu, node, loadBefore } = machine;
  const set = Object.entries(parameters).filter(([, value]) => value !== null);
  return [
    `${bench}: ${summary}`,
    `  ${cores} cores, ${cpu}, Node ${node}, load before ${loadBefore}; ${printPinned(pinned)}`,
    `  ${set.map(([key, value]) => `${key} ${value}`).join(", ")}`,
    ...groupsOf(rows).flatMap((group) => ["", ...printGroup(group)]),
    "",
  ].join("\n");
}

function printPinned(pinned: Cores | string): string {
  return typeof pinned === "string"
    ? `not pinned: ${pinned}`
    : `server on core ${pinned.server}, generator on core ${pinned.load}`;
}

/** Rows of one name that follow each other are one table, with the peers side by side. */
function groupsOf(rows: readonly SummarizedRow[]): SummarizedRow[][] {
  const groups: SummarizedRow[][] = [];
  for (const row of rows) {
    const last = groups.at(-1);
    if (last?.[0]!.name === row.name) last.push(row);
    else groups.push([row]);
  }
  return groups;
}

function printGroup(rows: readonly SummarizedRow[]): string[] {
  const [first] = rows as [SummarizedRow];
  const alone = rows.length === 1;
  const cells = ({ medians, ratios }: SummarizedRow, { key, digits }: ShownFigure) => {
    const [ratio, range] = printRatio(ratios[key]!);
    // The ranges of many peers would not fit on a line; they are in the file.
    return [print(medians.peer[key]!, digits), ratio, ...(alone ? [range] : [])];
  };
  const heads = rows.flatMap(({ names }) => [
    names.peer,
    "ratio",
    ...(alone ? ["of single rounds"] : []),
  ]);
  const figures = first.shown.map((figure) => [
    figure.label,
    print(first.medians.ours[figure.key]!, figure.digits),
    ...rows.flatMap((row) => cells(row, figure)),
  ]);
  const to = ({ names }: SummarizedRow) => (alone ? "" : `${names.peer}: `);
  return [
    ...table([[first.name, first.names.ours, ...heads], ...figures]),
    ...rows.flatMap((row) =>
      row.aims.map(({ text, verdict }) => `  aim: ${to(row)}${text}: ${verdict.toUpperCase()}`),
    ),
    ...printDoubts(rows),
  ];
}

/** Each doubt once, with the peers whose ratios it is about. */
function printDoubts(rows: readonly SummarizedRow[]): string[] {
  const doubts = [...new Set(rows.flatMap((row) => row.doubts))];
  return doubts.map((doubt) => {
    const peers = rows.filter((row) => row.doubts.includes(doubt)).map(({ names }) => names.peer);
    return `  doubt: ${rows.length === 1 ? "" : `${peers.join(", ")}: `}${doubt}`;
  });
}

/** A ratio to nothing, such as CPU time below a tick, is none. */
function printRatio({ median, least, greatest }: Ratio): [string, string] {
  if (![median, least, greatest].every(Number.isFinite)) return ["-", "-"];
  return [print(median, 2), `${print(least, 2)} to ${print(greatest, 2)}`];
}

function print(value: number, digits: number): string {
  if (!Number.isFinite(value)) return "-";
  return value.toLocaleString("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

/** The first column to the left, the others to the right. */
function table(lines: readonly (readonly string[])[]): string[] {
  const widths = lines[0]!.map((_, column) =>
    Math.max(...lines.map((line) => line[column]!.length)),
  );
  return lines.map((line) => {
    const cells = line.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!),
    );
    return `  ${cells.join("  ")}`;
  });
}
