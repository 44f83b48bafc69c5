/** What stands beside a script's code: bindings and compatibility, which make versions, and settings that do not. */
import { z } from "zod";
import type { ScriptEdit, ScriptSettings } from "#scripts";
import { checkShape } from "../check.ts";
import { endpoint } from "../endpoint.ts";
import { kindsOf, readBindings, showBinding } from "./bindings.ts";
import { by } from "./by.ts";
import { type Current, current } from "./current.ts";
import { SCRIPT } from "./paths.ts";
import { showSettings } from "./shape.ts";
import { formBody, metadataOf, noTailConsumers, settingsMetadata } from "./upload-form.ts";

export const getSettings = endpoint({
  method: "GET",
  path: `${SCRIPT}/settings`,
  summary: "Show a script's bindings, compatibility and settings",
  permission: "scripts.read",
  handle: async ({ params }, { scripts }) => showAll(await current(scripts, params)),
});

function showAll({ script, version }: Current): object {
  return {
    ...showSettings(script),
    bindings: version.bindings.map(showBinding),
    compatibility_date: version.compatibilityDate,
    compatibility_flags: version.compatibilityFlags,
    usage_model: "standard",
  };
}

const plainSettings = z.object({
  tags: z.array(z.string()).nullish(),
  logpush: z.boolean().nullish(),
  observability: z.record(z.string(), z.json()).nullish(),
  tail_consumers: noTailConsumers,
});

export const editSettings = endpoint({
  method: "PATCH",
  path: `${SCRIPT}/settings`,
  summary: "Change a script's bindings, compatibility and settings",
  permission: "scripts.edit",
  upload: true,
  body: formBody,
  handle: async ({ params, body, identity }, { accounts, scripts }) => {
    const given = checkShape(settingsMetadata.extend(plainSettings.shape), metadataOf(body));
    const { bindings, compatibility_date, compatibility_flags } = given;
    const flags =
      compatibility_flags ?? (await current(scripts, params)).version.compatibilityFlags;
    const edit: ScriptEdit = {
      ...(compatibility_date !== undefined && { compatibilityDate: compatibility_date }),
      ...(compatibility_flags !== undefined && { compatibilityFlags: compatibility_flags }),
      ...(bindings !== undefined && {
        ...readBindings(bindings, flags, new Map()),
        keepBindings: kindsOf(given.keep_bindings),
      }),
      settings: settingsOf(given),
    };
    const author = await by(identity, accounts, "upload");
    await scripts.edit(params.account_id, params.script_name, edit, author);
    return showAll(await current(scripts, params));
  },
});

export const getScriptSettings = endpoint({
  method: "GET",
  path: `${SCRIPT}/script-settings`,
  summary: "Show the settings that a script has whatever version serves it",
  permission: "scripts.read",
  handle: async ({ params }, { scripts }) =>
    showSettings(await scripts.get(params.account_id, params.script_name)),
});

export const editScriptSettings = endpoint({
  method: "PATCH",
  path: `${SCRIPT}/script-settings`,
  summary: "Change the settings that a script has whatever version serves it",
  permission: "scripts.edit",
  body: plainSettings,
  handle: async ({ params, body, identity }, { accounts, scripts }) => {
    const author = await by(identity, accounts, "upload");
    const edit = { settings: settingsOf(body) };
    return showSettings(await scripts.edit(params.account_id, params.script_name, edit, author));
  },
});

/** Null is the default; what is not given stays. */
function settingsOf(given: z.output<typeof plainSettings>): Partial<ScriptSettings> {
  const { tags, logpush, observability } = given;
  return {
    ...(tags !== undefined && { tags: tags ?? [] }),
    ...(logpush !== undefined && { logpush: logpush ?? false }),
    ...(observability !== undefined && { observability }),
  };
}
