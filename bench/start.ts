/** How long a start takes, from the spawn to the line that says all doors are open. */
import type { Bench, BenchContext, Pair, Row, ShownFigure } from "./kit/bench.ts";
import { runBenches } from "./kit/command.ts";
import type { Contender, Running } from "./kit/contender.ts";
import { cpuSeconds } from "./kit/cpu.ts";
import { plainHttp } from "./kit/plain-http.ts";
import { alternate, startOnce } from "./kit/rounds.ts";
import { selvedge } from "./kit/selvedge.ts";

const shown: readonly ShownFigure[] = [
  { key: "startMs", label: "spawn to ready, ms", digits: 1 },
  { key: "cpuMs", label: "CPU until ready, ms", digits: 0 },
];

export const start: Bench = {
  name: "start",
  summary: "time from spawn to the ready line",
  defaults: { rounds: 10, seconds: null },
  pinned: false,
  parameters: {},
  async run(context) {
    const { leftovers } = context;
    const cache = await leftovers.folder();
    const peer = plainHttp(leftovers, { cache });
    const warm = selvedge(leftovers, { door: "api", data: await leftovers.folder() });
    await startOnce({ ours: warm, peer });
    return [
      await row(context, "warm folder", { ours: warm, peer }),
      await row(context, "fresh folder", { ours: selvedge(leftovers, { door: "api" }), peer }),
      await row(context, "fresh folder, nothing compiled", {
        ours: selvedge(leftovers, { door: "api", emptyCache: true }),
        peer: plainHttp(leftovers, {}),
      }),
    ];
  },
};

async function row(context: BenchContext, name: string, both: Pair<Contender>): Promise<Row> {
  const names = { ours: both.ours.name, peer: both.peer.name };
  const rounds = await alternate(context, name, both, measure);
  return { name, names, shown, aims: [], conditions: [], rounds };
}

async function measure({ pid, startMs }: Running) {
  return { startMs, cpuMs: cpuSeconds(pid) * 1000 };
}

if (import.meta.main) await runBenches([start]);
