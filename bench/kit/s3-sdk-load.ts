/** Loads an S3 server with the SDK, as programs do: it signs, hashes and checks each request itself. */
import { clientOf, type S3Key } from "./s3-contenders.ts";
import { Histogram } from "./histogram.ts";
import type { HttpResult } from "./http-load.ts";
import { serveJobs } from "./load-process.ts";
import { BUCKET, keysOf, octetsOf, type S3Size } from "./s3-site.ts";

export interface SdkJob {
  readonly address: string;
  readonly credentials: S3Key;
  readonly action: "get" | "put";
  readonly size: S3Size;
  readonly seconds: number;
}

serveJobs(async (job: SdkJob): Promise<HttpResult> => {
  const { address, credentials, action, size, seconds } = job;
  const sdk = await import("../../test/clients/s3.ts");
  using client = clientOf(sdk, { address }, credentials);
  const { GetObjectCommand, PutObjectCommand } = sdk.S3;
  const keys = keysOf({ action, size });
  const Body = octetsOf(size.octets);
  const once = async (Key: string) => {
    if (action === "put") {
      await client.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body }));
      return;
    }
    const answer = await client.send(new GetObjectCommand({ Bucket: BUCKET, Key }));
    const { length } = await answer.Body!.transformToByteArray();
    if (length !== size.octets) throw new Error(`${length} octets came of ${size.octets}`);
  };
  const latencies = new Histogram();
  const cpu = process.cpuUsage();
  const began = performance.now();
  let next = 0;
  const work = async () => {
    for (let now = performance.now(); now < began + seconds * 1000;) {
      await once(keys[next++ % keys.length]!);
      const after = performance.now();
      latencies.record((after - now) * 1000);
      now = after;
    }
  };
  await Promise.all(Array.from({ length: size.atOnce }, work));
  const elapsed = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return {
    requests: latencies.total,
    seconds: elapsed,
    p50Micros: latencies.quantile(0.5),
    p99Micros: latencies.quantile(0.99),
    loadShare: (user + system) / 1e6 / elapsed,
  };
});
