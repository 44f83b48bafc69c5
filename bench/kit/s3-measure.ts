/** Measures an S3 server: each operation by signed addresses, some again with the SDK. */
import type { BenchContext, Figures } from "./bench.ts";
import type { Running } from "./contender.ts";
import { machineCpuSeconds } from "./cpu.ts";
import type { HttpResult } from "./http-load.ts";
import { startLoad } from "./load.ts";
import { filesIn } from "./objects-files.ts";
import { pinTree, treeCpuSeconds } from "./process-tree.ts";
import type { S3Contender } from "./s3-contenders.ts";
import { octetsOf, type S3Size, type S3Workload, SIZES, workloads } from "./s3-site.ts";
import type { SdkJob } from "./s3-sdk-load.ts";
import { runWrk } from "./wrk.ts";

/** V8 compiles what it runs often, over some ten thousand requests. */
const WARM_UP_SECONDS = 4;
const MEGABYTE = 1e6;

export const s3Parameters = { warmUpSeconds: WARM_UP_SECONDS, threads: 1 } as const;

/** What programs with the SDK are measured at. */
export const sdkWorkloads: readonly S3Workload[] = workloads
  .filter(({ action, size }) => action !== "list" && ["1 KiB", "1 MiB"].includes(size.name))
  .map((workload) => ({
    ...workload,
    key: `sdk ${workload.key}`,
    name: `${workload.name}, with the SDK`,
  }));

/** The figures of one server in one round, by the workload's key. */
export type S3Figures = Readonly<Record<string, Figures>>;

export async function measureS3(
  context: BenchContext,
  contender: S3Contender,
  asked: readonly S3Workload[],
  askedWithSdk = sdkWorkloads,
): Promise<S3Figures> {
  const { cores, leftovers, note } = context;
  await using server = await contender.start();
  note(`${contender.name}: filling it`);
  await contender.fill(server);
  if (cores !== null) pinTree(server.pid, cores.server);
  const figures: Record<string, Figures> = {};
  for (const workload of asked.filter(({ action }) => contender.can(action))) {
    note(`${contender.name}: ${workload.name}`);
    const { action, size } = workload;
    const job = {
      address: server.address,
      method: action === "put" ? "PUT" : "GET",
      paths: await contender.pathsOf(server, workload),
      body: action === "put" ? octetsOf(size.octets) : null,
      atOnce: size.atOnce,
    } as const;
    figures[workload.key] = await measureLoad(context, server, size, (seconds) =>
      runWrk(leftovers, cores, job, seconds),
    );
  }
  if (!contender.can("put")) return figures;
  return { ...figures, ...(await measureSdk(context, contender, server, askedWithSdk)) };
}

async function measureSdk(
  context: BenchContext,
  contender: S3Contender,
  server: Running,
  asked: readonly S3Workload[],
): Promise<S3Figures> {
  const figures: Record<string, Figures> = {};
  const program = new URL("./s3-sdk-load.ts", import.meta.url);
  for (const { key, name, action, size } of asked) {
    context.note(`${contender.name}: ${name}`);
    await using load = startLoad<SdkJob, HttpResult>(context.leftovers, program, context.cores);
    const { credentials } = contender;
    const job = { address: server.address, credentials, action: action as SdkJob["action"], size };
    figures[key] = await measureLoad(context, server, size, (seconds) =>
      load.run({ ...job, seconds }),
    );
  }
  return figures;
}

async function measureLoad(
  { seconds }: BenchContext,
  { pid }: Running,
  { octets, leastSeconds }: S3Size,
  run: (seconds: number) => Promise<HttpResult>,
): Promise<Figures> {
  await run(Math.max(WARM_UP_SECONDS, leastSeconds));
  const [cpuBefore, machineBefore] = [treeCpuSeconds(pid), machineCpuSeconds()];
  const began = performance.now();
  const result = await run(Math.max(seconds, leastSeconds));
  const elapsed = (performance.now() - began) / 1000;
  const used = treeCpuSeconds(pid) - cpuBefore;
  const machineShare = (machineCpuSeconds() - machineBefore) / elapsed;
  const rate = result.requests / result.seconds;
  // The clocks tick apart: it may come out below nothing.
  const othersShare = Math.max(0, machineShare - used / elapsed - result.loadShare);
  return {
    ...result,
    rate,
    megabytes: (rate * octets) / MEGABYTE,
    perCore: result.requests / used,
    cpuMicros: (used * 1e6) / result.requests,
    serverShare: used / elapsed,
    othersShare,
    quiet: 1 - othersShare,
  };
}

/** Files of that size written and synced, as many at a time as the puts: what the disk allows. */
export async function measureDisk({ leftovers, seconds }: BenchContext): Promise<S3Figures> {
  const figures: Record<string, Figures> = {};
  for (const { key, action, size } of workloads) {
    if (action !== "put" || size !== SIZES[2]) continue;
    const folder = await leftovers.folder();
    const files = filesIn(folder);
    const octets = octetsOf(size.octets);
    const began = performance.now();
    let written = 0;
    const work = async () => {
      while (performance.now() < began + seconds * 1000) {
        await files.put(String(written++ % size.objects), octets);
      }
    };
    await Promise.all(Array.from({ length: size.atOnce }, work));
    const rate = written / ((performance.now() - began) / 1000);
    figures[key] = { rate, megabytes: (rate * size.octets) / MEGABYTE };
    await leftovers.remove(folder);
  }
  return figures;
}
