/** What only ours is asked for: pages of a large bucket beside those of a small one, and a large upload. */
import type { BenchContext, Figures, Round, Row, ShownFigure, Side } from "./bench.ts";
import type { LoopJob } from "./objects-loop.ts";
import { type Holder, LONG_SECONDS, openHolder } from "./objects-measure.ts";

const FEW = 1_000;

/** Keys stored between two lines that tell how far it is. */
const PIECE = 100_000;

/** Enough for full groups: the more puts share a sync, the sooner a million is there. */
const FILL_CONCURRENCY = 1_024;

const listFigures: readonly ShownFigure[] = [
  { key: "rate", label: "pages a second", digits: 0 },
  { key: "p50Micros", label: "p50 µs", digits: 0 },
  { key: "p99Micros", label: "p99 µs", digits: 0 },
  { key: "cpuMicros", label: "CPU µs each", digits: 0 },
];

/** A page of 1,000 entries from many keys, in turns with one from as many as it shows. */
export async function listRows(context: BenchContext, program: URL, many: number): Promise<Row[]> {
  const [large, small] = [await context.leftovers.folder(), await context.leftovers.folder()];
  const rows: Row[] = [];
  {
    // A store each: what is in the same bucket may cost the other list time, too.
    await using ours = await openHolder(context, program, large);
    await using peer = await openHolder(context, program, small);
    await fillWith(context, peer, FEW);
    await fillWith(context, ours, many);
    for (const [delimiter, kind] of [
      [undefined, ""],
      ["/", ", by delimiter"],
    ] as const) {
      rows.push({
        name: `list a page of 1,000${kind}`,
        names: { ours: `of ${many.toLocaleString("en")}`, peer: `of ${FEW.toLocaleString("en")}` },
        shown: listFigures,
        aims: [{ text: "at most 20 % slower", key: "rate", ratioAtLeast: 0.8 }],
        conditions: [],
        rounds: await turns(context, {
          ours: (seconds) => measureList(ours, listJob(many, delimiter), seconds),
          peer: (seconds) => measureList(peer, listJob(FEW, delimiter), seconds),
        }),
      });
    }
  }
  for (const folder of [large, small]) await context.leftovers.remove(folder);
  return rows;
}

async function fillWith({ note }: BenchContext, holder: Holder, objects: number): Promise<void> {
  for (let first = 0; first < objects; first += PIECE) {
    if (objects > PIECE) note(`storing keys: ${first} of ${objects}`);
    const loop = { ...listJob(objects), first, concurrency: FILL_CONCURRENCY, seconds: 0 };
    await holder.run({ do: "fill", loop, most: PIECE, seconds: LONG_SECONDS });
  }
}

type ListJob = Omit<LoopJob, "seconds">;

function measureList(holder: Holder, job: ListJob, seconds: number): Promise<Figures> {
  return holder.run({ do: "measure", loop: { ...job, seconds }, seconds: LONG_SECONDS });
}

/** Small values: what counts here is the number of keys. */
function listJob(objects: number, delimiter?: string): ListJob {
  return {
    action: "list",
    octets: 16,
    objects,
    putKeys: 1,
    first: 0,
    concurrency: 1,
    inFolders: true,
    ...(delimiter !== undefined && { delimiter }),
  };
}

async function turns(
  { rounds, seconds }: BenchContext,
  measure: Record<Side, (seconds: number) => Promise<Figures>>,
): Promise<Round[]> {
  const done: Round[] = [];
  for (let round = 0; round < rounds; round++) {
    const first: Side = round % 2 === 0 ? "ours" : "peer";
    const earlier = await measure[first](seconds);
    const later = await measure[first === "ours" ? "peer" : "ours"](seconds);
    const [ours, peer] = first === "ours" ? [earlier, later] : [later, earlier];
    done.push({ first, ours, peer });
  }
  return done;
}

/** Once: a large upload takes its time, and its peak varies little. */
export async function uploadRow(context: BenchContext, program: URL, octets: number): Promise<Row> {
  const data = await context.leftovers.folder();
  const gibibytes = octets / 1024 ** 3;
  context.note(`uploading ${gibibytes} GiB`);
  let figures: Figures;
  {
    await using holder = await openHolder(context, program, data);
    figures = await holder.run({ do: "upload", octets, seconds: LONG_SECONDS });
  }
  await context.leftovers.remove(data);
  return {
    name: `upload of ${gibibytes} GiB in parts`,
    names: { ours: "selvedge", peer: "(none)" },
    shown: [
      { key: "idleMiB", label: "VmRSS before, MiB", digits: 1 },
      { key: "peakMiB", label: "highest VmRSS, MiB", digits: 1 },
      { key: "grownMiB", label: "growth, MiB", digits: 1 },
      { key: "mibPerSecond", label: "MiB a second", digits: 0 },
      { key: "cpuSecondsPerGiB", label: "CPU s a GiB", digits: 2 },
    ],
    aims: [{ text: "grows by less than 100 MiB", key: "grownMiB", below: 100 }],
    conditions: [],
    rounds: [
      {
        first: "ours",
        ours: figures,
        peer: Object.fromEntries(Object.keys(figures).map((key) => [key, Number.NaN])),
      },
    ],
  };
}
