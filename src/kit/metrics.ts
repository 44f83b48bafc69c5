/** Counters, gauges and histograms, shown in Prometheus's text format 0.0.4. */
import { type Figure, OwnTally, type Tally } from "./tally.ts";

/** What was counted under a metric's name, by series. */
type Counted = ReadonlyMap<string, number>;

interface Metric {
  print(counted: Counted): string;
}

/** Figures by the values of labels. */
type Rows = Iterable<readonly [values: readonly string[], figure: number]>;

export class Metrics {
  readonly #metrics = new Map<string, Metric>();
  readonly #tally: Tally;
  readonly #tallies: Tally[];

  /** What counters and histograms have counted is kept in the tally. */
  constructor(tally: Tally = new OwnTally()) {
    this.#tally = tally;
    this.#tallies = [tally];
  }

  /** Shows what another thread has counted under the same names together with what was counted here. */
  include(tally: Tally): void {
    this.#tallies.push(tally);
  }

  counter(name: string, help: string, labels: readonly string[] = []): Counter {
    return this.#add(name, new Counter(this.#tally, name, help, labels));
  }

  /** A figure read at the moment someone asks. */
  gauge(name: string, help: string, read: () => number): void {
    const print = () => `${head(name, help, "gauge")}${name} ${figureText(read())}\n`;
    this.#add(name, { print });
  }

  /** Such figures by the values of labels. */
  gauges(name: string, help: string, labels: readonly string[], read: () => Rows): void {
    this.#add(name, { print: () => printRows(head(name, help, "gauge"), name, labels, read()) });
  }

  /** A total that something else keeps; it only grows. */
  total(name: string, help: string, read: () => number): void {
    this.#add(name, { print: () => `${head(name, help, "counter")}${name} ${read()}\n` });
  }

  /** Totals that something else keeps, by the values of labels. */
  totals(name: string, help: string, labels: readonly string[], read: () => Rows): void {
    this.#add(name, { print: () => printRows(head(name, help, "counter"), name, labels, read()) });
  }

  /** A histogram that something else keeps: its counts, by bucket, are one more than its bounds. */
  histogramOf(
    name: string,
    help: string,
    read: () => {
      readonly bounds: readonly number[];
      readonly counts: readonly number[];
      readonly sum: number;
    },
  ): void {
    this.#add(name, {
      print: () => {
        const { bounds, counts, sum } = read();
        return printHistogram(head(name, help, "histogram"), name, bounds, counts, sum);
      },
    });
  }

  histogram(name: string, help: string, buckets: readonly number[]): Histogram {
    return this.#add(name, new Histogram(this.#tally, name, help, buckets));
  }

  print(): string {
    const counted = this.#counted();
    const shown = [...this.#metrics].map(([name, metric]) =>
      metric.print(counted.get(name) ?? new Map()),
    );
    return shown.join("");
  }

  #counted(): Map<string, Counted> {
    const all = new Map<string, Map<string, number>>();
    for (const tally of this.#tallies) {
      for (const [key, value] of tally.entries()) {
        const end = key.indexOf(SEPARATOR);
        const counted = all.getOrInsertComputed(key.slice(0, end), () => new Map());
        const series = key.slice(end + 1);
        counted.set(series, (counted.get(series) ?? 0) + value);
      }
    }
    return all;
  }

  #add<M extends Metric>(name: string, metric: M): M {
    if (this.#metrics.has(name)) throw new Error(`The metric ${name} exists already`);
    this.#metrics.set(name, metric);
    return metric;
  }
}

/** Stands between label values in a series' key; no label of ours holds it. */
const SEPARATOR = "\0";

export class Counter {
  readonly #tally: Tally;
  readonly #name: string;
  readonly #help: string;
  readonly #labels: readonly string[];
  readonly #series = new Map<string, Figure>();

  constructor(tally: Tally, name: string, help: string, labels: readonly string[]) {
    this.#tally = tally;
    this.#name = name;
    this.#help = help;
    this.#labels = labels;
    if (labels.length === 0) this.#figureOf("");
  }

  /** Counts one, for these values of the labels in their order. */
  count(...values: readonly string[]): void {
    this.#figureOf(values.join(SEPARATOR)).value++;
  }

  add(many: number, ...values: readonly string[]): void {
    this.#figureOf(values.join(SEPARATOR)).value += many;
  }

  /** The figure that these count in, for whoever counts the same often. */
  figure(...values: readonly string[]): Figure {
    return this.#figureOf(values.join(SEPARATOR));
  }

  print(counted: Counted): string {
    const rows = Array.from(counted, ([key, figure]) => [key.split(SEPARATOR), figure] as const);
    return printRows(head(this.#name, this.#help, "counter"), this.#name, this.#labels, rows);
  }

  #figureOf(series: string): Figure {
    return this.#series.getOrInsertComputed(series, () =>
      this.#tally.figure(this.#name + SEPARATOR + series),
    );
  }
}

/** The series of a histogram's sum; the others are the numbers of its buckets. */
const SUM = "sum";

export class Histogram {
  readonly #head: string;
  readonly #name: string;
  readonly #buckets: readonly number[];
  readonly #counts: readonly Figure[];
  readonly #sum: Figure;

  constructor(tally: Tally, name: string, help: string, buckets: readonly number[]) {
    this.#head = head(name, help, "histogram");
    this.#name = name;
    this.#buckets = buckets;
    const figure = (series: string) => tally.figure(name + SEPARATOR + series);
    this.#counts = [...buckets.keys(), buckets.length].map((i) => figure(String(i)));
    this.#sum = figure(SUM);
  }

  observe(value: number): void {
    this.#sum.value += value;
    const first = this.#buckets.findIndex((most) => value <= most);
    this.#counts[first === -1 ? this.#buckets.length : first]!.value++;
  }

  print(counted: Counted): string {
    const counts = this.#counts.map((_, i) => counted.get(String(i))!);
    return printHistogram(this.#head, this.#name, this.#buckets, counts, counted.get(SUM)!);
  }
}

function printRows(headText: string, name: string, labels: readonly string[], rows: Rows): string {
  const lines = Array.from(
    rows,
    ([values, figure]) => `${name}${labelText(labels, values)} ${figure}\n`,
  );
  return headText + lines.join("");
}

/** The format has its own word for what has no end. */
function figureText(figure: number): string {
  return figure === Infinity ? "+Inf" : String(figure);
}

function printHistogram(
  headText: string,
  name: string,
  bounds: readonly number[],
  counts: readonly number[],
  sum: number,
): string {
  let below = 0;
  const steps = [...bounds, "+Inf"].map((most, i) => {
    below += counts[i]!;
    return `${name}_bucket{le="${most}"} ${below}\n`;
  });
  return [headText, ...steps, `${name}_sum ${sum}\n`, `${name}_count ${below}\n`].join("");
}

function head(name: string, help: string, type: string): string {
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
}

function labelText(labels: readonly string[], values: readonly string[]): string {
  if (labels.length === 0) return "";
  const pairs = labels.map((label, i) => `${label}="${escapeLabel(values[i] ?? "")}"`);
  return `{${pairs.join(",")}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll(/[\\"\n]/g, (c) => (c === "\n" ? "\\n" : `\\${c}`));
}
