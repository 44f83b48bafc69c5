/** Shows a version of a script. */
import { endpoint } from "../endpoint.ts";
import { SCRIPT } from "../scripts/paths.ts";
import { showVersionDetail } from "./shape.ts";

export const getVersion = endpoint({
  method: "GET",
  path: `${SCRIPT}/versions/:version`,
  summary: "Show a version of a script",
  permission: "scripts.read",
  handle: async ({ params }, { scripts }) =>
    showVersionDetail(await scripts.version(params.account_id, params.script_name, params.version)),
});
