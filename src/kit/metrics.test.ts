import assert from "node:assert/strict";
import { test } from "node:test";
import { Metrics } from "./metrics.ts";
import { SharedTally } from "./tally.ts";

test("metrics print in Prometheus's text format", () => {
  const metrics = new Metrics();
  const seen = metrics.counter("seen_total", "Things seen.", ["kind", "place"]);
  seen.count("a", 'quo"te\\');
  seen.count("a", 'quo"te\\');
  metrics.gauge("open", "Open things.", () => 3);
  const time = metrics.histogram("took_seconds", "Time.", [0.1, 1]);
  for (const value of [0.05, 0.1, 0.5, 7]) time.observe(value);
  assert.equal(
    metrics.print(),
    `# HELP seen_total Things seen.
# TYPE seen_total counter
seen_total{kind="a",place="quo\\"te\\\\"} 2
# HELP open Open things.
# TYPE open gauge
open 3
# HELP took_seconds Time.
# TYPE took_seconds histogram
took_seconds_bucket{le="0.1"} 2
took_seconds_bucket{le="1"} 3
took_seconds_bucket{le="+Inf"} 4
took_seconds_sum 7.65
took_seconds_count 4
`,
  );
});

test("figures that something else keeps are read when they are shown", () => {
  const metrics = new Metrics();
  metrics.gauges("open", "Open things.", ["kind"], () => [
    [["a"], 2],
    [["b"], 0],
  ]);
  metrics.gauge("ends", "When it ends.", () => Infinity);
  const lines = metrics.print().split("\n");
  assert.deepEqual(
    lines.filter((line) => !line.startsWith("# HELP")),
    [
      "# TYPE open gauge",
      'open{kind="a"} 2',
      'open{kind="b"} 0',
      "# TYPE ends gauge",
      "ends +Inf",
      "",
    ],
  );
});

test("a counter without labels shows zero before anything has happened", () => {
  const metrics = new Metrics();
  metrics.counter("none_total", "Nothing yet.");
  assert.match(metrics.print(), /^none_total 0$/m);
});

test("what other threads have counted is shown together with what was counted here", () => {
  const tallies = [0, 1].map(() => new SharedTally(SharedTally.memory()));
  const main = new Metrics();
  for (const tally of tallies) main.include(tally);
  for (const metrics of [main, ...tallies.map((tally) => new Metrics(tally))]) {
    metrics.counter("seen_total", "Things seen.", ["kind"]).add(2, "a");
    metrics.histogram("took_seconds", "Time.", [0.1, 1]).observe(0.5);
  }
  assert.match(main.print(), /^seen_total\{kind="a"\} 6$/m);
  assert.match(main.print(), /^took_seconds_bucket\{le="0.1"\} 0$/m);
  assert.match(main.print(), /^took_seconds_bucket\{le="1"\} 3$/m);
  assert.match(main.print(), /^took_seconds_sum 1.5$/m);
});

test("a name is taken once", () => {
  const metrics = new Metrics();
  metrics.counter("a", "");
  assert.throws(() => metrics.gauge("a", "", () => 0), /exists already/);
});
