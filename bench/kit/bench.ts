/** What a bench is, what it is given and what it hands back. */
import type { Cores } from "./cores.ts";
import type { Leftovers } from "./leftovers.ts";

export interface Bench {
  readonly name: string;
  readonly summary: string;
  /** `seconds` is the length of a measured interval; null where nothing is measured over time. */
  readonly defaults: { readonly rounds: number; readonly seconds: number | null };
  /** Whether server and generator are held to a core each. What a user would not pin stays free. */
  readonly pinned: boolean;
  /** What else the figures depend on; goes into the results as it stands. */
  readonly parameters: Readonly<Record<string, string | number>>;
  /** Options of its own on the command line, by their names without the dashes. */
  readonly flags?: Readonly<Record<string, Flag>>;
  run(context: BenchContext): Promise<readonly Row[]>;
}

export interface Flag {
  /** What stands for its value in the help; without it the flag is there or not. */
  readonly value?: string;
  readonly help: string;
  /** Throws unless the value can be taken, before anything is run. */
  check?(value: string): void;
}

export interface BenchContext {
  readonly rounds: number;
  readonly seconds: number;
  /** Null when nothing can or should be pinned. */
  readonly cores: Cores | null;
  readonly leftovers: Leftovers;
  /** The flags that were given, with their values; true for one that takes none. */
  readonly flags: Readonly<Record<string, string | true>>;
  /** Tells the person who waits what is going on. */
  readonly note: (text: string) => void;
}

/** One thing measured on both sides. */
export interface Row {
  readonly name: string;
  readonly names: Pair<string>;
  /** What the table shows; rounds may hold more. */
  readonly shown: readonly ShownFigure[];
  readonly aims: readonly Aim[];
  /** What must hold on both sides for an aim to be decided either way. */
  readonly conditions: readonly Condition[];
  readonly rounds: readonly Round[];
}

export interface Pair<T> {
  readonly ours: T;
  readonly peer: T;
}
export type Side = keyof Pair<unknown>;
export type Figures = Readonly<Record<string, number>>;

export interface Round extends Pair<Figures> {
  readonly first: Side;
}

export interface ShownFigure {
  readonly key: string;
  readonly label: string;
  readonly digits: number;
}

export interface Condition {
  /** Said when it does not hold. */
  readonly otherwise: string;
  readonly key: string;
  readonly atLeast: number;
}

/** What a median is held against: our own figure, or its ratio to the peer's. */
export type Aim = { readonly text: string; readonly key: string } & (
  | { readonly below: number }
  | { readonly ratioAtLeast: number }
  | { readonly ratioAtMost: number }
);
