/** How much memory a server holds that has started and has had nothing to do. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Aim, Bench, ShownFigure } from "./kit/bench.ts";
import { runBenches } from "./kit/command.ts";
import { memoryOf } from "./kit/memory.ts";
import { plainHttp } from "./kit/plain-http.ts";
import { alternate, startOnce } from "./kit/rounds.ts";
import { selvedge } from "./kit/selvedge.ts";

/** Time for what a start leaves to do, such as the first garbage collection. */
const SETTLE_SECONDS = 3;

const AIM_MIB = 120;

const shown: readonly ShownFigure[] = [
  { key: "rssMiB", label: "VmRSS MiB", digits: 1 },
  { key: "pssMiB", label: "PSS MiB", digits: 1 },
];

const aims: readonly Aim[] = [
  { text: `VmRSS under ${AIM_MIB} MiB`, key: "rssMiB", below: AIM_MIB },
];

export const idle: Bench = {
  name: "idle",
  summary: "resident memory of a server at rest",
  defaults: { rounds: 4, seconds: null },
  pinned: false,
  parameters: { settleSeconds: SETTLE_SECONDS },
  async run(context) {
    const { leftovers } = context;
    const both = {
      ours: selvedge(leftovers, { door: "api", data: await leftovers.folder() }),
      peer: plainHttp(leftovers, { cache: await leftovers.folder() }),
    };
    await startOnce(both);
    const rounds = await alternate(context, "memory", both, async ({ pid }) => {
      await sleep(SETTLE_SECONDS * 1000);
      return { ...memoryOf(pid) };
    });
    const names = { ours: both.ours.name, peer: both.peer.name };
    return [{ name: "at rest", names, shown, aims, conditions: [], rounds }];
  },
};

if (import.meta.main) await runBenches([idle]);
