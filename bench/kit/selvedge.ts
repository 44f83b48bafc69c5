/** Our server as a contender: the real command in a process of its own, with its default settings. */
import { KEY, runSelvedge } from "../../test/support/server.ts";
import { type Contender, launch } from "./contender.ts";
import type { Leftovers } from "./leftovers.ts";

export interface SelvedgeOptions {
  /** The door of the ready line that is measured. */
  readonly door: "api" | "edge" | "s3";
  /** Flags beside those of the folder and the API. */
  readonly args?: readonly string[];
  /** Settings that have no flag. */
  readonly env?: Readonly<Record<string, string>>;
  /** A folder to start on; by default each start has a fresh one. */
  readonly data?: string;
  /** Starts as after an install, with nothing compiled yet. */
  readonly emptyCache?: boolean;
}

export function selvedge(leftovers: Leftovers, options: SelvedgeOptions): Contender {
  return {
    name: "selvedge",
    async start() {
      const folders: string[] = [];
      const fresh = async () => {
        const folder = await leftovers.folder();
        folders.push(folder);
        return folder;
      };
      const data = options.data ?? (await fresh());
      const env = {
        SELVEDGE_BOOTSTRAP_KEY: KEY,
        ...options.env,
        ...(options.emptyCache === true && { NODE_COMPILE_CACHE: await fresh() }),
      };
      const args = ["serve", "--data", data, "--api", "127.0.0.1:0", ...(options.args ?? [])];
      return launch(leftovers, {
        spawn: () => runSelvedge(args, env),
        door: options.door,
        folders,
      });
    },
  };
}
