/** Miniflare as a contender that answers HTTP. */
import type { Contender } from "./contender.ts";
import type { Leftovers } from "./leftovers.ts";
import { peer } from "./peer.ts";
import { BINDING, COMPATIBILITY_DATE } from "./script-sources.ts";

export interface MiniflareScript {
  readonly hostname: string;
  readonly source: string;
}

/** What its process is told. */
export interface MiniflareTask {
  readonly scripts: readonly MiniflareScript[];
  readonly data: string;
  readonly binding: string;
  readonly compatibilityDate: string;
}

export function miniflareServer(
  leftovers: Leftovers,
  { data, cache, scripts }: { data: string; cache: string; scripts: readonly MiniflareScript[] },
): Contender {
  const program = new URL("../peers/miniflare/serve.ts", import.meta.url);
  const task: MiniflareTask = {
    scripts,
    data,
    binding: BINDING,
    compatibilityDate: COMPATIBILITY_DATE,
  };
  return peer(leftovers, { name: "Miniflare", program, task, cache });
}
