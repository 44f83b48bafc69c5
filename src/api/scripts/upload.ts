/** Uploads a script and deploys it. */
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { by } from "./by.ts";
import { current } from "./current.ts";
import { SCRIPT } from "./paths.ts";
import { showScript, showStart } from "./shape.ts";
import { formBody, readUpload } from "./upload-form.ts";

export const uploadScript = endpoint({
  method: "PUT",
  path: SCRIPT,
  summary: "Upload a script and deploy it",
  permission: "scripts.edit",
  // Whether the answer has the code, which it never has, and what a binding that cannot be inherited
  // means, which is always an error.
  query: z.object({
    excludeScript: z.string().optional(),
    bindings_inherit: z.string().optional(),
  }),
  upload: true,
  body: formBody,
  handle: async ({ params, body, identity }, { accounts, scripts }) => {
    const { account_id, script_name } = params;
    const author = await by(identity, accounts, "upload");
    const { version } = await scripts.upload(account_id, script_name, readUpload(body), author);
    const { script, version: detail } = await current(scripts, params);
    return {
      ...showScript(script, detail),
      ...showStart(detail),
      deployment_id: version.id.replaceAll("-", ""), // wrangler puts the hyphens in.
      entry_point: detail.main,
    };
  },
});
