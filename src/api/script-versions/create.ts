/** Uploads a version that is not deployed yet. */
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { by } from "../scripts/by.ts";
import { SCRIPT } from "../scripts/paths.ts";
import { formBody, readUpload } from "../scripts/upload-form.ts";
import { showVersionDetail } from "./shape.ts";

export const createVersion = endpoint({
  method: "POST",
  path: `${SCRIPT}/versions`,
  summary: "Upload a version of a script",
  permission: "scripts.edit",
  query: z.object({ bindings_inherit: z.string().optional() }), // What cannot be inherited is always an error.
  upload: true,
  body: formBody,
  handle: async ({ params, body, identity }, { accounts, scripts }) => {
    const { account_id, script_name } = params;
    const author = await by(identity, accounts, "upload");
    const { id } = await scripts.addVersion(account_id, script_name, readUpload(body), author);
    return showVersionDetail(await scripts.version(account_id, script_name, id));
  },
});
