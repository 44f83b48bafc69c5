/** The secrets of a script. What they hold is never shown. */
import { z } from "zod";
import { ScriptFault } from "#scripts";
import { endpoint } from "../endpoint.ts";
import { malformedId } from "../errors.ts";
import { by } from "../scripts/by.ts";
import { SCRIPT } from "../scripts/paths.ts";

const path = `${SCRIPT}/secrets` as const;
const TYPE = "secret_text";

const secret = z.object({
  name: z.string().min(1),
  text: z.string(),
  type: z.literal(TYPE).default(TYPE),
});

const show = (name: string) => ({ name, type: TYPE });

export const listSecrets = endpoint({
  method: "GET",
  path,
  summary: "List the names of a script's secrets",
  permission: "scripts.read",
  handle: async ({ params }, { scripts }) =>
    (await scripts.secretNames(params.account_id, params.script_name)).map(show),
});

/** Names may stand in the path as they are or encoded. */
const byName = z.object({ url_encoded: z.string().optional() });

export const getSecret = endpoint({
  method: "GET",
  path: `${path}/:secret_name`,
  summary: "Show the name of a secret",
  permission: "scripts.read",
  query: byName,
  handle: async ({ params }, { scripts }) => {
    const name = nameOf(params);
    const names = await scripts.secretNames(params.account_id, params.script_name);
    if (names.includes(name)) return show(name);
    throw new ScriptFault("not-found", `The script has no secret ${name}`);
  },
});

export const putSecret = endpoint({
  method: "PUT",
  path,
  summary: "Set a secret, which makes a version and deploys it",
  permission: "scripts.edit",
  body: secret,
  handle: async ({ params, body, identity }, { accounts, scripts }) => {
    const { account_id, script_name } = params;
    const author = await by(identity, accounts, "secret");
    await scripts.putSecrets(account_id, script_name, new Map([[body.name, body.text]]), author);
    return show(body.name);
  },
});

export const removeSecret = endpoint({
  method: "DELETE",
  path: `${path}/:secret_name`,
  summary: "Delete a secret, which makes a version and deploys it",
  permission: "scripts.edit",
  query: byName,
  handle: async ({ params, identity }, { accounts, scripts }) => {
    const { account_id, script_name } = params;
    const author = await by(identity, accounts, "secret");
    await scripts.putSecrets(account_id, script_name, new Map([[nameOf(params), null]]), author);
    return null;
  },
});

function nameOf({ secret_name }: { readonly secret_name: string }): string {
  try {
    return decodeURIComponent(secret_name);
  } catch {
    throw malformedId(secret_name);
  }
}

export const patchSecrets = endpoint({
  method: "PATCH",
  path: `${SCRIPT}/secrets-bulk`,
  summary: "Set many secrets at once, and delete those that are null",
  permission: "scripts.edit",
  body: z.object({
    secrets: z.record(z.string().min(1), secret.omit({ name: true }).nullable()),
  }),
  handle: async ({ params, body, identity }, { accounts, scripts }) => {
    const { account_id, script_name } = params;
    const changes = new Map(
      Object.entries(body.secrets).map(([name, given]) => [
        name,
        given === null ? null : given.text,
      ]),
    );
    const author = await by(identity, accounts, "secret");
    await scripts.putSecrets(account_id, script_name, changes, author);
    const names = await scripts.secretNames(account_id, script_name);
    return Object.fromEntries(names.map((name) => [name, show(name)]));
  },
});
