/**
 * The entrypoint by which the edge asks a script that has buckets: it sees which bodies the script passes on as they
 * are, which the edge then takes from the store itself (`binding/lending.ts`). All others ask the script as it is.
 */
import type { RunnableScript } from "../model.ts";
import { EDGE_MODULE } from "./binding-config.ts";

/** Its name among the exports of the script's main module. */
export const EDGE_ENTRY = "selvedgeEdge";

const MAIN = "selvedge-edge.js";
/** Names that mean the same module wherever they are imported from. */
const PLAIN_NAME = /^(?!.*(?:^|\/)\.{1,2}\/)[\w-][\w./-]*$/;

/** The script with the entrypoint; null where it has no use for one, or can have none. */
export function withEdgeEntry(script: RunnableScript): RunnableScript | null {
  const { main, modules, bindings } = script;
  if (main === null || !bindings.some(({ type }) => type === "bucket")) return null;
  const isModule = modules.some(({ name, type }) => name === main && type === "esm");
  if (!isModule || !PLAIN_NAME.test(main) || modules.some(({ name }) => name === MAIN)) return null;
  const source = `import { waitUntil } from "cloudflare:workers";
import * as script from "./${main}";
import { atEdge } from "${EDGE_MODULE}";
export * from "./${main}";
const own = "default" in script ? script.default : {}; // It may have named entrypoints alone.
export default own;
export const ${EDGE_ENTRY} = atEdge(own, waitUntil);
`;
  return {
    ...script,
    main: MAIN,
    modules: [{ name: MAIN, type: "esm", content: Buffer.from(source) }, ...modules],
  };
}
