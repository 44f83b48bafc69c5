/** The same from a script inside workerd, without the proxy: the shortest way to the simulator. */
import type { LoopJob, LoopResult } from "../../kit/objects-loop.ts";
import { serveSubject } from "../../kit/objects-process.ts";
import { startMiniflare } from "./start.ts";

serveSubject(async (data) => {
  const miniflare = await startMiniflare(data);
  const ask = async (what: "fill" | "loop", job: LoopJob): Promise<unknown> => {
    const response = await miniflare.dispatchFetch(`http://bench/${what}`, {
      method: "POST",
      body: JSON.stringify(job),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    return JSON.parse(text);
  };
  return {
    fill: async (job) => void (await ask("fill", job)),
    loop: (job) => ask("loop", job) as Promise<LoopResult>,
  };
});
