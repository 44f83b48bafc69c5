/** The name under which an account's scripts answer beside their routes, and whether each does. */
import { z } from "zod";
import type { Script } from "#scripts";
import { endpoint } from "../endpoint.ts";
import { SCRIPT } from "../scripts/paths.ts";

const ofAccount = "/accounts/:account_id/workers/subdomain";
const ofScript = `${SCRIPT}/subdomain` as const;

/** Each version has no address of its own here. */
const show = ({ onSubdomain }: Script) => ({ enabled: onSubdomain, previews_enabled: false });

export const getSubdomain = endpoint({
  method: "GET",
  path: ofAccount,
  summary: "Show the account's subdomain for scripts",
  permission: "scripts.read",
  handle: async ({ params }, { scripts, scriptsHost }) => {
    const subdomain = await scripts.subdomain(params.account_id);
    return { subdomain, host: `${subdomain}.${scriptsHost}` }; // The host is not of the original.
  },
});

export const putSubdomain = endpoint({
  method: "PUT",
  path: ofAccount,
  summary: "Change the account's subdomain for scripts",
  permission: "scripts.edit",
  body: z.object({ subdomain: z.string() }),
  handle: async ({ params, body }, { scripts }) => {
    await scripts.setSubdomain(params.account_id, body.subdomain);
    return { subdomain: body.subdomain };
  },
});

export const getScriptSubdomain = endpoint({
  method: "GET",
  path: ofScript,
  summary: "Show whether a script answers under its account's subdomain",
  permission: "scripts.read",
  handle: async ({ params }, { scripts }) =>
    show(await scripts.get(params.account_id, params.script_name)),
});

export const setScriptSubdomain = endpoint({
  method: "POST",
  path: ofScript,
  summary: "Let a script answer under its account's subdomain, or not",
  permission: "scripts.edit",
  body: z.object({ enabled: z.boolean(), previews_enabled: z.boolean().nullish() }),
  handle: async ({ params, body }, { scripts }) =>
    show(await scripts.setOnSubdomain(params.account_id, params.script_name, body.enabled)),
});

export const removeScriptSubdomain = endpoint({
  method: "DELETE",
  path: ofScript,
  summary: "Let a script not answer under its account's subdomain",
  permission: "scripts.edit",
  handle: async ({ params }, { scripts }) =>
    show(await scripts.setOnSubdomain(params.account_id, params.script_name, false)),
});
