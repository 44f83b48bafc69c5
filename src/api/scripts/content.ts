/** The code of a script: shown, and changed without anything else of it. */
import { endpoint } from "../endpoint.ts";
import { PlainAnswer } from "../envelope.ts";
import type { ModuleType, ScriptModule, Scripts } from "#scripts";
import { by } from "./by.ts";
import { current } from "./current.ts";
import { ENVIRONMENT, SCRIPT } from "./paths.ts";
import { showScript } from "./shape.ts";
import { formBody, readUpload } from "./upload-form.ts";

const types: Readonly<Record<ModuleType, string>> = {
  esm: "application/javascript+module",
  commonjs: "application/javascript",
  wasm: "application/wasm",
  text: "text/plain",
  data: "application/octet-stream",
  json: "application/json",
  sourcemap: "application/source-map",
};

export const getContent = [SCRIPT, `${SCRIPT}/content/v2`, `${ENVIRONMENT}/content/v2`].map(
  (path) =>
    endpoint({
      method: "GET",
      path: path as typeof SCRIPT,
      summary: "Show the code of a script",
      permission: "scripts.read",
      handle: ({ params }, { scripts }) => contentOf(scripts, params),
    }),
);

/** A form with a part for each module, or the one file of a script in service-worker syntax. */
async function contentOf(
  scripts: Scripts,
  params: { account_id: string; script_name: string },
): Promise<PlainAnswer> {
  const { version } = await current(scripts, params);
  const { account_id, script_name } = params;
  const modules = await scripts.modules(account_id, script_name, version.id);
  const etag = `"${version.codeHash}"`;
  if (version.main === null) {
    const script = modules.find(({ type }) => type !== "sourcemap")!;
    const body = script.content;
    return new PlainAnswer({ status: 200, type: types.commonjs, body, headers: { ETag: etag } });
  }
  const form = new Response(formOf(modules));
  return new PlainAnswer({
    status: 200,
    type: form.headers.get("content-type")!,
    body: await form.bytes(),
    headers: { ETag: etag, "cf-entrypoint": encodeURI(version.main) },
  });
}

function formOf(modules: readonly ScriptModule[]): FormData {
  const form = new FormData();
  for (const { name, type, content } of modules) {
    form.set(name, new File([new Uint8Array(content)], name, { type: types[type] }));
  }
  return form;
}

export const putContent = endpoint({
  method: "PUT",
  path: `${SCRIPT}/content`,
  summary: "Change the code of a script, and nothing else of it",
  permission: "scripts.edit",
  upload: true,
  body: formBody,
  handle: async ({ params, body, identity }, { accounts, scripts }) => {
    const { account_id, script_name } = params;
    const { version: last } = await current(scripts, params);
    const { main, modules } = readUpload(body).content;
    const { compatibilityDate, compatibilityFlags } = last;
    const upload = {
      content: { main, modules, compatibilityDate, compatibilityFlags, bindings: [] },
      inherit: last.bindings.map(({ name }) => name),
      isOfDeployed: true,
    };
    await scripts.upload(account_id, script_name, upload, await by(identity, accounts, "upload"));
    const { script, version } = await current(scripts, params);
    return showScript(script, version);
  },
});
