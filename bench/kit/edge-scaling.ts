/** What a second thread of our edge brings: the same load on one thread and on two, nobody held to a core. */
import type { Aim, BenchContext, Figures, Row, Side } from "./bench.ts";
import { quiet } from "./dns-rows.ts";
import { type EdgeWorkload, measureWorkload, workloads } from "./edge-measure.ts";
import { loadFigures } from "./edge-rows.ts";
import { selvedgeEdge } from "./edge-selvedge.ts";

const THREADS = 2;
/** With two cores the generator takes its share of them, and the main thread is there too. */
const LEAST_GAIN = 1.3;

/** What the edge answers by itself: an origin would need a core of its own. */
const scaled: readonly EdgeWorkload[] = workloads.filter(
  ({ kind, size, protocol }) => kind === "cached" && size === "small" && protocol !== "h2",
);

const aims: readonly Aim[] = [
  {
    text: `a rate at least ${LEAST_GAIN} times that of one thread`,
    key: "rate",
    ratioAtLeast: LEAST_GAIN,
  },
];

export async function scalingRows(context: BenchContext, originPid: number): Promise<Row[]> {
  const free = { ...context, cores: null };
  const { leftovers, rounds, note } = context;
  const sides = {
    ours: await selvedgeEdge(leftovers, THREADS),
    peer: await selvedgeEdge(leftovers, 1),
  };
  const measured: { first: Side; ours: Figures[]; peer: Figures[] }[] = [];
  for (let round = 0; round < rounds; round++) {
    const order: Side[] = round % 2 === 0 ? ["ours", "peer"] : ["peer", "ours"];
    const figures = { first: order[0]!, ours: [] as Figures[], peer: [] as Figures[] };
    for (const side of order) {
      note(
        `round ${round + 1} of ${rounds}, ${side === "ours" ? `${THREADS} threads` : "1 thread"}`,
      );
      await using server = await sides[side].start();
      for (const workload of scaled) {
        figures[side].push(await measureWorkload(free, server, originPid, workload));
      }
    }
    measured.push(figures);
  }
  return scaled.map(({ name }, at) => ({
    name: `${name}, on ${THREADS} threads`,
    names: { ours: `${THREADS} threads`, peer: "1 thread" },
    shown: loadFigures("request"),
    aims,
    conditions: [quiet],
    rounds: measured.map(({ first, ours, peer }) => ({ first, ours: ours[at]!, peer: peer[at]! })),
  }));
}
