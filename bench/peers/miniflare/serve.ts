/** Miniflare as an HTTP server: the scripts that the task names, each under a hostname of its own. */
import type { MiniflareTask } from "../../kit/miniflare.ts";

type MiniflareModule = {
  readonly Miniflare: new (options: object) => { readonly ready: Promise<URL> };
};
const PACKAGE = "miniflare";

const { scripts, data, binding, compatibilityDate } = JSON.parse(process.argv[2]!) as MiniflareTask;
const { Miniflare } = (await import(PACKAGE)) as MiniflareModule;
const miniflare = new Miniflare({
  host: "127.0.0.1",
  port: 0,
  r2Persist: data,
  workers: scripts.map(({ hostname, source }) => ({
    name: hostname.replaceAll(".", "-"),
    modules: [{ type: "ESModule", path: "main.js", contents: source }],
    compatibilityDate,
    routes: [`${hostname}/*`],
    r2Buckets: { [binding]: "bench-bucket" },
  })),
});
const { origin } = await miniflare.ready;
console.log(JSON.stringify({ event: "ready", address: origin }));
