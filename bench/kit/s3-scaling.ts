/** What a second thread of our S3 door brings: the same load on one thread and on two, nobody held to a core. */
import type { Aim, BenchContext, Row, Side } from "./bench.ts";
import { quiet } from "./dns-rows.ts";
import { selvedgeS3 } from "./s3-contenders.ts";
import { measureS3, type S3Figures } from "./s3-measure.ts";
import { s3Figures } from "./s3-rows.ts";
import { type S3Sdk, SIZES, workloads } from "./s3-site.ts";

const THREADS = 2;
/** With two cores the generator takes its share of them, and SQLite's writer is there too. */
const LEAST_GAIN = 1.3;

const SMALL_OCTETS = SIZES[0]!.octets;
const LARGE_OCTETS = SIZES[2]!.octets;

/** The largest are the disk's and the generator's; puts of the others too. */
const scaled = workloads.filter(
  ({ action, size: { octets } }) =>
    octets <= (action === "put" ? SMALL_OCTETS : LARGE_OCTETS) && action !== "list",
);

/** Of puts each waits for the same writer. */
const aims: readonly Aim[] = [
  {
    text: `a rate at least ${LEAST_GAIN} times that of one thread`,
    key: "rate",
    ratioAtLeast: LEAST_GAIN,
  },
];

export async function scalingRows(context: BenchContext, sdk: S3Sdk): Promise<Row[]> {
  const free = { ...context, cores: null };
  const { leftovers, rounds, note } = context;
  const on = (threads: number) => selvedgeS3(leftovers, sdk, ["--s3-threads", String(threads)]);
  const sides = { ours: on(THREADS), peer: on(1) };
  const measured: { first: Side; ours: S3Figures; peer: S3Figures }[] = [];
  for (let round = 0; round < rounds; round++) {
    const order: Side[] = round % 2 === 0 ? ["ours", "peer"] : ["peer", "ours"];
    const figures: Partial<Record<Side, S3Figures>> = {};
    for (const side of order) {
      const threads = side === "ours" ? `${THREADS} threads` : "1 thread";
      note(`round ${round + 1} of ${rounds}, ${threads}`);
      figures[side] = await measureS3(free, sides[side], scaled, []);
    }
    measured.push({ first: order[0]!, ours: figures.ours!, peer: figures.peer! });
  }
  return scaled.map(({ key, name, action }) => ({
    name: `${name}, on ${THREADS} threads`,
    names: { ours: `${THREADS} threads`, peer: "1 thread" },
    shown: s3Figures,
    aims: action === "get" ? aims : [],
    conditions: [quiet],
    rounds: measured.map(({ first, ours, peer }) => ({
      first,
      ours: ours[key]!,
      peer: peer[key]!,
    })),
  }));
}
