/** Counters, gauges and histograms, shown in Prometheus's text format 0.0.4. */

interface Metric {
  print(): string;
}

/** Figures by the values of labels. */
type Rows = Iterable<readonly [values: readonly string[], figure: number]>;

export class Metrics {
  readonly #metrics = new Map<string, Metric>();

  counter(name: string, help: string, labels: readonly string[] = []): Counter {
    return this.#add(name, new Counter(name, help, labels));
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
    return this.#add(name, new Histogram(name, help, buckets));
  }

  print(): string {
    return [...this.#metrics.values()].map((metric) => metric.print()).join("");
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
  readonly #head: string;
  readonly #name: string;
  readonly #labels: readonly string[];
  readonly #series = new Map<string, number>();

  constructor(name: string, help: string, labels: readonly string[]) {
    this.#head = head(name, help, "counter");
    this.#name = name;
    this.#labels = labels;
    if (labels.length === 0) this.#series.set("", 0);
  }

  /** Counts one, for these values of the labels in their order. */
  count(...values: readonly string[]): void {
    const key = values.join(SEPARATOR);
    this.#series.set(key, (this.#series.get(key) ?? 0) + 1);
  }

  print(): string {
    const rows = [...this.#series].map(
      ([key, value]) => `${this.#name}${labelText(this.#labels, key.split(SEPARATOR))} ${value}\n`,
    );
    return this.#head + rows.join("");
  }
}

export class Histogram {
  readonly #head: string;
  readonly #name: string;
  readonly #buckets: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(name: string, help: string, buckets: readonly number[]) {
    this.#head = head(name, help, "histogram");
    this.#name = name;
    this.#buckets = buckets;
    this.#counts = [...buckets.map(() => 0), 0];
  }

  observe(value: number): void {
    this.#sum += value;
    const first = this.#buckets.findIndex((most) => value <= most);
    this.#counts[first === -1 ? this.#buckets.length : first]!++;
  }

  print(): string {
    return printHistogram(this.#head, this.#name, this.#buckets, this.#counts, this.#sum);
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
