/** Lists the scripts of an account by name. */
import { endpoint } from "../endpoint.ts";
import { SCRIPTS } from "./paths.ts";
import { showScript } from "./shape.ts";

export const listScripts = endpoint({
  method: "GET",
  path: SCRIPTS,
  summary: "List scripts",
  permission: "scripts.read",
  handle: async ({ params }, { scripts }) =>
    (await scripts.list(params.account_id)).map((script) => showScript(script)),
});
