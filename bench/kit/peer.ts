/** A peer as a contender: a file of `bench/peers`, run by the same Node as our server. */
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Contender, launch } from "./contender.ts";
import type { Leftovers } from "./leftovers.ts";

export interface PeerOptions {
  readonly name: string;
  readonly program: URL;
  /** Handed over as JSON in the first argument. */
  readonly task?: unknown;
  /**
   * Where compiled code is kept between starts, as our command keeps its own: without it the peer
   * would pay for the stripping of types, in time and in memory. By default each start has none.
   */
  readonly cache?: string;
}

export function peer(leftovers: Leftovers, options: PeerOptions): Contender {
  const { name, program, task } = options;
  const args = [fileURLToPath(program), ...(task === undefined ? [] : [JSON.stringify(task)])];
  return {
    name,
    async start() {
      const cache = options.cache ?? (await leftovers.folder());
      return launch(leftovers, {
        spawn: () =>
          spawn(process.execPath, args, {
            stdio: ["ignore", "pipe", "pipe"],
            env: { ...process.env, NODE_COMPILE_CACHE: cache },
          }),
        door: "address",
        folders: options.cache === undefined ? [cache] : [],
      });
    },
  };
}
