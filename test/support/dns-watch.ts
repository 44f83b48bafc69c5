/**
 * Asks the same question again and again from a thread of its own, over some sockets, and keeps what it was
 * told: each socket's answers in their order, without repetitions.
 */
import { once } from "node:events";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { UdpClient } from "./dns-client.ts";
import { decodeMessage, encodeQuery, showRecord } from "./dns-message.ts";

export interface Watch {
  readonly address: string;
  readonly name: string;
  readonly type: string;
  /** Sockets, each with one question under way; the kernel spreads them over the server's threads. */
  readonly sockets: number;
}

export interface Watched {
  /** Of each socket: `RCODE` and the answer section. */
  readonly seen: readonly (readonly string[])[];
  readonly answers: number;
}

/** Returns when the first answers have come; `end` stops and tells. */
export async function startWatch(watch: Watch): Promise<{ end(): Promise<Watched> }> {
  const worker = new Worker(new URL(import.meta.url), { workerData: watch });
  await once(worker, "message");
  return {
    async end() {
      worker.postMessage("end");
      const [watched] = (await once(worker, "message")) as [Watched];
      await worker.terminate();
      return watched;
    },
  };
}

if (!isMainThread && parentPort !== null) await run(workerData as Watch);

async function run({ address, name, type, sockets }: Watch): Promise<void> {
  const end = new AbortController();
  let answers = 0;
  parentPort!.once("message", () => end.abort());
  const seen = Array.from({ length: sockets }, (): string[] => []);
  const loops = seen.map(async (list) => {
    using client = await UdpClient.open(address);
    for (let id = 0; !end.signal.aborted; id = (id + 1) & 0xffff) {
      const response = decodeMessage(await client.ask(encodeQuery({ name, type, id })));
      const told = [response.rcode, ...response.answer.map(showRecord)].join(" | ");
      if (list.at(-1) !== told) list.push(told);
      if (++answers === sockets) parentPort!.postMessage("ready");
    }
  });
  await Promise.all(loops);
  parentPort!.postMessage({ seen, answers } satisfies Watched);
}
