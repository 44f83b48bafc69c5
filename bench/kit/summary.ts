/** From the rounds of a row to what is said of it: medians, ratios, aims. */
import type { Aim, Condition, Figures, Pair, Round, Row, Side } from "./bench.ts";

/** A row with what its rounds come to. */
export interface SummarizedRow extends Omit<Row, "aims" | "conditions"> {
  readonly medians: Pair<Figures>;
  /** Ours by the peer's. */
  readonly ratios: Readonly<Record<string, Ratio>>;
  readonly aims: readonly { readonly text: string; readonly verdict: Verdict }[];
  /** Why the verdicts are open, when they are. */
  readonly doubts: readonly string[];
}

export type Verdict = "met" | "not met" | "undecided";

export interface Ratio {
  /** Of the medians. */
  readonly median: number;
  /** The least and the greatest of any one round: how far to trust the first. */
  readonly least: number;
  readonly greatest: number;
}

export function summarize({ aims, conditions, ...row }: Row): SummarizedRow {
  const { rounds } = row;
  const keys = Object.keys(rounds[0]?.ours ?? {});
  const medians = { ours: mediansOf(keys, rounds, "ours"), peer: mediansOf(keys, rounds, "peer") };
  const ratios = Object.fromEntries(keys.map((key) => [key, ratioOf(key, medians, rounds)]));
  const doubts = conditions
    .filter((condition) => !holds(condition, medians))
    .map(({ otherwise }) => otherwise);
  const verdict = (aim: Aim): Verdict => {
    if (doubts.length > 0) return "undecided";
    return isMet(aim, medians, ratios) ? "met" : "not met";
  };
  return {
    ...row,
    medians,
    ratios,
    aims: aims.map((aim) => ({ text: aim.text, verdict: verdict(aim) })),
    doubts,
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

function mediansOf(keys: readonly string[], rounds: readonly Round[], side: Side): Figures {
  return Object.fromEntries(
    keys.map((key) => [key, median(rounds.map((round) => round[side][key]!))]),
  );
}

function ratioOf(key: string, medians: Pair<Figures>, rounds: readonly Round[]): Ratio {
  const each = rounds.map(({ ours, peer }) => ours[key]! / peer[key]!);
  return {
    median: medians.ours[key]! / medians.peer[key]!,
    least: Math.min(...each),
    greatest: Math.max(...each),
  };
}

function holds({ key, atLeast }: Condition, { ours, peer }: Pair<Figures>): boolean {
  return ours[key]! >= atLeast && peer[key]! >= atLeast;
}

function isMet(aim: Aim, medians: Pair<Figures>, ratios: Readonly<Record<string, Ratio>>): boolean {
  if ("below" in aim) return medians.ours[aim.key]! < aim.below;
  const ratio = ratios[aim.key]!.median;
  return "ratioAtLeast" in aim ? ratio >= aim.ratioAtLeast : ratio <= aim.ratioAtMost;
}
