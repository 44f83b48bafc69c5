/** Makes a version out of the latest one with other secrets, which is not deployed yet. */
import { z } from "zod";
import { ScriptFault } from "#scripts";
import { endpoint } from "../endpoint.ts";
import { by } from "../scripts/by.ts";
import { WORKER } from "../scripts/paths.ts";
import { annotationsInput } from "../scripts/upload-form.ts";
import { showVersionDetail } from "./shape.ts";

const input = z.object({
  env: z
    .record(z.string(), z.object({ type: z.literal("secret_text"), text: z.string() }).nullable())
    .default({}),
  annotations: annotationsInput,
});

export const patchLatestVersion = endpoint({
  method: "PATCH",
  path: `${WORKER}/versions/latest`,
  summary: "Upload the latest version again with other secrets",
  permission: "scripts.edit",
  body: input,
  handle: async ({ params, body, identity }, { accounts, scripts }) => {
    const { account_id, script_name } = params;
    const page = await scripts.versions(account_id, script_name, { offset: 0, limit: 1 });
    const [latest] = page.versions;
    if (latest === undefined) throw new ScriptFault("not-found", "The script has no versions");
    const last = await scripts.version(account_id, script_name, latest.id);
    const kept = last.bindings.filter(({ name }) => !Object.hasOwn(body.env, name));
    const { main, compatibilityDate, compatibilityFlags } = last;
    const secrets = Object.entries(body.env).flatMap(([name, secret]) =>
      secret === null ? [] : [{ type: "secret" as const, name, text: secret.text }],
    );
    const upload = {
      content: {
        main,
        modules: await scripts.modules(account_id, script_name, last.id),
        compatibilityDate,
        compatibilityFlags,
        bindings: secrets,
      },
      inherit: kept.map(({ name }) => name),
      message: body.annotations?.["workers/message"] || null,
      tag: body.annotations?.["workers/tag"] || null,
    };
    const author = await by(identity, accounts, "secret");
    const { id } = await scripts.addVersion(account_id, script_name, upload, author);
    return showVersionDetail(await scripts.version(account_id, script_name, id));
  },
});
