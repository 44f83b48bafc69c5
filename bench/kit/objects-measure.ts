/** Measures what holds objects, ours and the others in turns: all operations, sizes and concurrencies. */
import type { BenchContext, Figures } from "./bench.ts";
import { type Load, startLoad } from "./load.ts";
import type { Action, LoopJob } from "./objects-loop.ts";
import type { ObjectsJob } from "./objects-process.ts";

export type Holder = Load<ObjectsJob, Figures>;

/** A program that holds objects, and what it is asked for. */
export interface HolderKind {
  readonly key: string;
  readonly name: string;
  readonly program: URL;
  readonly asks: readonly Operation[];
}

export interface Operation {
  readonly key: string;
  readonly name: string;
  readonly job: Omit<LoopJob, "seconds" | "first">;
}

const KIB = 1024;
// Few enough for the memory that the system keeps files in: a disk's own speed is not our subject.
const LARGE = { octets: 10 * KIB * KIB, name: "10 MiB", objects: 32, putKeys: 64 };
const SIZES = [
  { octets: KIB, name: "1 KiB", objects: 1_000, putKeys: Number.MAX_SAFE_INTEGER },
  { octets: 64 * KIB, name: "64 KiB", objects: 1_000, putKeys: 2_000 },
  LARGE,
];
const CONCURRENCIES = [1, 32];
const ACTIONS: readonly Action[] = ["get", "put", "head", "list"];

export const operations: readonly Operation[] = SIZES.flatMap(({ name, ...size }) =>
  ACTIONS.flatMap((action) =>
    CONCURRENCIES.map((concurrency) => ({
      key: keyOf(action, size.octets, concurrency),
      name: `${action} ${action === "list" ? `of ${size.objects}, ` : ""}${name}, ${concurrency} at a time`,
      job: { action, ...size, concurrency },
    })),
  ),
);

/** Large files, which ours measures beside its objects: the same process has the same garbage to collect. */
export const plainOperations: readonly Operation[] = operations
  .filter(({ job }) => job.octets === LARGE.octets && ["get", "put"].includes(job.action))
  .map(({ key, name, job }) => ({
    key: `plain-${key}`,
    name: `${name}, plain files`,
    job: { ...job, plain: true },
  }));

export function keyOf(action: Action, octets: number, concurrency: number): string {
  return `${action}-${octets}-${concurrency}`;
}

/** Nothing takes longer: not a million puts, nor the end of a load of large ones. */
export const LONG_SECONDS = 900;

/** In every round each holder is started on a fresh folder; the order turns with every round. */
export async function measureHolders(
  context: BenchContext,
  kinds: readonly HolderKind[],
): Promise<Map<string, Figures[]>> {
  const rounds = new Map<string, Figures[]>(kinds.map(({ key }) => [key, []]));
  for (let round = 0; round < context.rounds; round++) {
    for (let turn = 0; turn < kinds.length; turn++) {
      const kind = kinds[(round + turn) % kinds.length]!;
      context.note(`round ${round + 1} of ${context.rounds}: ${kind.name}`);
      rounds.get(kind.key)!.push(await measureHolder(context, kind));
    }
  }
  return rounds;
}

async function measureHolder(context: BenchContext, kind: HolderKind): Promise<Figures> {
  const { leftovers, seconds, note } = context;
  const data = await leftovers.folder();
  const figures: Record<string, number> = {};
  {
    await using holder = await openHolder(context, kind.program, data);
    figures["memory.idle"] = (await memoryOf(holder))["rssMiB"]!;
    for (const size of SIZES) {
      const loop = { ...size, action: "put", first: 0, concurrency: 8, seconds } as const;
      await holder.run({ do: "fill", loop, seconds: LONG_SECONDS });
    }
    if (kind.asks.some(({ job }) => job.plain)) {
      const loop = {
        ...LARGE,
        action: "put",
        first: 0,
        concurrency: 8,
        plain: true,
        seconds,
      } as const;
      await holder.run({ do: "fill", loop, seconds: LONG_SECONDS });
    }
    for (const { key, name, job } of kind.asks) {
      const loop = { ...job, first: 0, seconds };
      const measured = await holder.run({ do: "measure", loop, seconds: LONG_SECONDS });
      note(`${kind.name}: ${name}: ${Math.round(measured["rate"]!)}/s`);
      for (const [figure, value] of Object.entries(measured)) figures[`${key}.${figure}`] = value;
    }
    figures["memory.after"] = (await memoryOf(holder))["rssMiB"]!;
  }
  await leftovers.remove(data);
  return figures;
}

function memoryOf(holder: Holder): Promise<Figures> {
  return holder.run({ do: "memory", seconds: 1 });
}

export async function openHolder(
  { leftovers }: BenchContext,
  program: URL,
  data: string,
): Promise<Holder> {
  const holder = startLoad<ObjectsJob, Figures>(leftovers, program, null);
  await holder.run({ do: "open", data, seconds: 30 });
  return holder;
}
