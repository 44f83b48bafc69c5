/** The runtime alone as a contender: one script, no edge before it. */
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Contender, Running } from "./contender.ts";
import type { Leftovers } from "./leftovers.ts";
import { COMPATIBILITY_DATE } from "./script-sources.ts";

export function bareWorkerd(leftovers: Leftovers, script: string): Contender {
  return {
    name: "bare workerd",
    async start(): Promise<Running> {
      await using undo = new AsyncDisposableStack();
      const folder = await leftovers.folder();
      undo.defer(() => leftovers.remove(folder));
      const config = join(folder, "config.capnp");
      await writeFile(config, configOf(script));
      const began = performance.now();
      const child = spawn(workerdPath(), ["serve", config, "--control-fd=3"], {
        stdio: ["ignore", "ignore", "inherit", "pipe"],
      });
      leftovers.track(child);
      undo.defer(() => leftovers.stop(child));
      const port = await new Promise<number>((resolve, reject) => {
        child.once("exit", () => reject(new Error("workerd ended before it listened")));
        child.stdio[3]!.once("data", (line: Buffer) =>
          resolve((JSON.parse(line.toString()) as { port: number }).port),
        );
      });
      const all = undo.move();
      return {
        pid: child.pid!,
        address: `http://127.0.0.1:${port}`,
        startMs: performance.now() - began,
        [Symbol.asyncDispose]: () => all.disposeAsync(),
      };
    },
  };
}

function workerdPath(): string {
  const platform = `${process.platform}-${process.arch === "x64" ? "64" : process.arch}`;
  const manifest = `@cloudflare/workerd-${platform}/package.json`;
  return join(createRequire(import.meta.url).resolve(manifest), "..", "bin", "workerd");
}

function configOf(script: string): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "main.js", esModule = ${JSON.stringify(script)})],
    compatibilityDate = "${COMPATIBILITY_DATE}",
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);`;
}
