/** Starts Miniflare with a bucket that it keeps on disk, and a script that puts load on it. */
import { readFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";

export const BUCKET = "BUCKET";

/** What is used of it. The package is large and not always there, so its own types are not asked for. */
interface Running {
  readonly ready: Promise<unknown>;
  getR2Bucket(binding: string): Promise<unknown>;
  dispatchFetch(url: string, init: { method: string; body: string }): Promise<Response>;
}
type MiniflareModule = { readonly Miniflare: new (options: object) => Running };

const PACKAGE = "miniflare";

/** With an early date a list would end after 100 objects. */
const COMPATIBILITY_DATE = "2026-07-01";

const SCRIPT = `import { fill, runLoop } from "./objects-loop.ts";
export default {
  async fetch(request, env) {
    try {
      const job = await request.json();
      const fills = new URL(request.url).pathname === "/fill";
      if (fills) await fill(env.${BUCKET}, job);
      return Response.json(fills ? {} : await runLoop(env.${BUCKET}, job, { wholeOctets: 1024 ** 2 }));
    } catch (error) {
      return new Response(String(error.stack), { status: 500 });
    }
  },
};`;

export async function startMiniflare(data: string): Promise<Running> {
  const { Miniflare } = (await import(PACKAGE)) as MiniflareModule;
  const miniflare = new Miniflare({
    modules: [
      { type: "ESModule", path: "script.js", contents: SCRIPT },
      await moduleOf("objects-loop.ts"),
      await moduleOf("histogram.ts"),
    ],
    compatibilityDate: COMPATIBILITY_DATE,
    r2Buckets: [BUCKET],
    r2Persist: data,
  });
  await miniflare.ready;
  return miniflare;
}

/** A file of the kit, which workerd gets without its types. */
async function moduleOf(name: string): Promise<{ type: string; path: string; contents: string }> {
  const source = await readFile(new URL(`../../kit/${name}`, import.meta.url), "utf8");
  return { type: "ESModule", path: name, contents: stripTypeScriptTypes(source) };
}
