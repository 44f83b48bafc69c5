/** Proxied names over HTTP/1.1, TLS and HTTP/2, from an origin and from the cache, beside nginx and HAProxy. */
import type { Bench, BenchContext } from "./kit/bench.ts";
import { runBenches } from "./kit/command.ts";
import { pinTree } from "./kit/process-tree.ts";
import { type EdgeContender, edgePeer } from "./kit/edge-launch.ts";
import { type EdgeFigures, edgeParameters, measureEdge } from "./kit/edge-measure.ts";
import { edgePeers } from "./kit/edge-peers.ts";
import { edgeRows } from "./kit/edge-rows.ts";
import { scalingRows } from "./kit/edge-scaling.ts";
import { selvedgeEdge } from "./kit/edge-selvedge.ts";
import { origin } from "./kit/edge-site.ts";
import { H2LOAD_PACKAGE, hasH2load } from "./kit/h2load.ts";

export const edge: Bench = {
  name: "edge",
  summary: "proxied names and the cache, beside nginx and HAProxy",
  defaults: { rounds: 3, seconds: 3 },
  pinned: true,
  parameters: edgeParameters,
  async run(context) {
    if (!hasH2load()) throw new Error(`h2load is needed: apt-get install ${H2LOAD_PACKAGE}`);
    const { cores, leftovers, note, rounds } = context;
    await using source = await origin(leftovers).start();
    if (cores !== null) pinTree(source.pid, cores.load);
    const contenders = [await selvedgeEdge(leftovers), ...peersOf(context)];
    const measured = contenders.map((): EdgeFigures[] => []);
    for (let round = 0; round < rounds; round++) {
      // Whoever went last goes first in the next round, and so back through all.
      const order = [...contenders.entries()];
      if (round % 2 === 1) order.reverse();
      for (const [index, contender] of order) {
        note(`round ${round + 1} of ${rounds}, ${contender.name}`);
        measured[index]!.push(await measureEdge(context, contender, source.pid));
      }
    }
    const servers = contenders.map((one, index) => ({ ...one, rounds: measured[index]! }));
    return [...edgeRows(servers), ...(await scalingRows(context, source.pid))];
  },
};

function peersOf({ leftovers, note }: BenchContext): EdgeContender[] {
  return edgePeers.flatMap((peer) => {
    const name = peer.name();
    if (name !== null) return edgePeer(leftovers, peer, name);
    note(`${peer.key} is not installed (apt-get install ${peer.packages}) and is left out`);
    return [];
  });
}

if (import.meta.main) await runBenches([edge]);
