/** Makes a list of routes all that lead to a script. */
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { SCRIPT } from "../scripts/paths.ts";
import { zoneFinder } from "./zone-of.ts";

const input = z.array(
  z.object({
    pattern: z.string(),
    zone_id: z.string().nullish(),
    zone_name: z.string().nullish(),
  }),
);

export const setScriptRoutes = endpoint({
  method: "PUT",
  path: `${SCRIPT}/routes`,
  summary: "Set all routes that lead to a script",
  permission: "scripts.edit",
  body: input,
  handle: async ({ params, body, identity }, parts) => {
    const { account_id, script_name } = params;
    const find = await zoneFinder(account_id, identity, parts);
    // Routes that are there may go, so their zones count as well.
    for (const { zoneId, pattern } of await parts.routes.ofScript(account_id, script_name)) {
      await find(hostOf(pattern), { zone_id: zoneId });
    }
    const wanted = await Promise.all(
      body.map(async (route) => {
        const { id: zoneId } = await find(hostOf(route.pattern), route);
        return { zoneId, pattern: route.pattern };
      }),
    );
    const set = await parts.routes.setForScript(account_id, script_name, wanted);
    return set.map(({ id, pattern, script, zoneId }) => ({ id, pattern, script, zone_id: zoneId }));
  },
});

/** `*.example.com/a` and `https://*example.com/*` are of `example.com`. */
function hostOf(pattern: string): string {
  const [host = ""] = pattern.replace(/^https?:\/\//i, "").split("/", 1);
  return host.replace(/^\*\.?/, "");
}
