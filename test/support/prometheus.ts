/** Reads `/metrics` as Prometheus does, and no more leniently: text format 0.0.4. */
import assert from "node:assert/strict";
import type { TestServer } from "./server.ts";

export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly name: string;
  readonly labels: Labels;
  readonly value: number;
}

export interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: readonly Sample[];
}

export class MetricsPage {
  readonly families: ReadonlyMap<string, Family>;

  constructor(families: ReadonlyMap<string, Family>) {
    this.families = families;
  }

  /** Of the one sample with these labels; 0 when it is not there, as before the first count. */
  value(name: string, labels: Labels = {}): number {
    const family = this.families.get(name);
    assert.ok(family !== undefined, `There is no metric ${name}`);
    const found = family.samples.find(
      (sample) => sample.name === name && canonical(sample.labels) === canonical(labels),
    );
    return found?.value ?? 0;
  }

  /** All samples of a family with one label: value of the label → figure, but for zeros. */
  by(name: string): Readonly<Record<string, number>> {
    const { samples } = this.families.get(name) ?? assert.fail(`There is no metric ${name}`);
    const counted = samples.filter(({ value }) => value !== 0);
    return Object.fromEntries(
      counted.map(({ labels, value }) => [Object.values(labels)[0]!, value]),
    );
  }
}

const TYPES = new Set(["counter", "gauge", "histogram", "summary", "untyped"]);
const NAME = "[a-zA-Z_:][a-zA-Z0-9_:]*";
const LABEL = `[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\\\\n]|\\\\[\\\\"n])*"`;
const SAMPLE = new RegExp(`^(${NAME})(?:\\{((?:${LABEL})(?:,${LABEL})*,?)?\\})? (\\S+)( -?\\d+)?$`);

export async function readMetrics(server: TestServer): Promise<MetricsPage> {
  const answer = await fetch(`${server.origin}/metrics`);
  assert.equal(answer.status, 200);
  const type = answer.headers.get("content-type") ?? "";
  assert.match(type, /^text\/plain; version=0\.0\.4(; charset=utf-8)?$/);
  return parseMetrics(await answer.text());
}

export function parseMetrics(text: string): MetricsPage {
  assert.ok(text.endsWith("\n"), "the last line must end");
  const families = new Map<string, { type: string; help: string; samples: Sample[] }>();
  const seen = new Set<string>();
  let current = "";
  for (const line of text.slice(0, -1).split("\n")) {
    const [, keyword, about, rest = ""] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (keyword === "HELP") {
      assert.ok(!families.has(about!), `a second group of ${about}`);
      families.set((current = about!), { type: "", help: rest, samples: [] });
      continue;
    }
    const family = families.get(current)!;
    if (keyword === "TYPE") {
      assert.equal(about, current, "TYPE follows HELP");
      assert.ok(TYPES.has(rest) && family.type === "" && family.samples.length === 0, line);
      family.type = rest;
      continue;
    }
    const sample = readSample(line);
    assert.ok(sample.name === current || isPartOf(sample.name, current, family.type), line);
    const key = sample.name + canonical(sample.labels);
    assert.ok(!seen.has(key), `a sample twice: ${line}`);
    seen.add(key);
    family.samples.push(sample);
  }
  for (const [name, family] of families) checkFamily(name, family);
  return new MetricsPage(families);
}

function readSample(line: string): Sample {
  const [, name, labels = "", value] = SAMPLE.exec(line) ?? assert.fail(`no sample: ${line}`);
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(
    ([, label, text]) =>
      [label!, text!.replaceAll(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c))] as const,
  );
  const number = value === "+Inf" ? Infinity : Number(value);
  assert.ok(!Number.isNaN(number), line);
  return { name: name!, labels: Object.fromEntries(pairs), value: number };
}

function isPartOf(name: string, family: string, type: string): boolean {
  return type === "histogram" && ["_bucket", "_sum", "_count"].some((end) => name === family + end);
}

/** What the values owe to their type. */
function checkFamily(name: string, { type, samples }: Family): void {
  if (type === "counter") for (const { value } of samples) assert.ok(value >= 0, name);
  if (type !== "histogram") return;
  const buckets = samples.filter((sample) => sample.name === `${name}_bucket`);
  const bounds = buckets.map(({ labels }) => Number(labels["le"]!.replace("+Inf", "Infinity")));
  assert.deepEqual(
    bounds,
    bounds.toSorted((a, b) => a - b),
    `${name}: the bounds grow`,
  );
  assert.equal(bounds.at(-1), Infinity, name);
  const counts = buckets.map(({ value }) => value);
  assert.deepEqual(
    counts,
    counts.toSorted((a, b) => a - b),
    `${name}: each bucket counts what is below its bound`,
  );
  const count = samples.find((sample) => sample.name === `${name}_count`);
  assert.equal(count?.value, counts.at(-1), name);
  assert.ok(
    samples.some((sample) => sample.name === `${name}_sum`),
    name,
  );
}

function canonical(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
}
