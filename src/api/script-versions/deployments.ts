/** Which version of a script is in place, and which were. */
import { z } from "zod";
import { ScriptFault } from "#scripts";
import { endpoint } from "../endpoint.ts";
import { by } from "../scripts/by.ts";
import { SCRIPT } from "../scripts/paths.ts";
import { annotationsInput } from "../scripts/upload-form.ts";
import { showDeployment } from "./shape.ts";

const path = `${SCRIPT}/deployments` as const;

export const listDeployments = endpoint({
  method: "GET",
  path,
  summary: "List the deployments of a script; the first one is in place",
  permission: "scripts.read",
  handle: async ({ params }, { scripts }) => {
    const found = await scripts.deployments(params.account_id, params.script_name);
    return { deployments: found.map(showDeployment) };
  },
});

export const getDeployment = endpoint({
  method: "GET",
  path: `${path}/:deployment`,
  summary: "Show a deployment of a script",
  permission: "scripts.read",
  handle: async ({ params }, { scripts }) => {
    const all = await scripts.deployments(params.account_id, params.script_name);
    const found = all.find(({ id }) => id === params.deployment);
    if (found !== undefined) return showDeployment(found);
    throw new ScriptFault("not-found", `There is no deployment ${params.deployment}`);
  },
});

const WHOLE = "all requests go to one version here, so there is one, of 100 percent";

const input = z.object({
  strategy: z.literal("percentage"),
  versions: z
    .array(z.object({ version_id: z.string(), percentage: z.literal(100, WHOLE) }))
    .length(1, WHOLE),
  annotations: annotationsInput,
});

export const createDeployment = endpoint({
  method: "POST",
  path,
  summary: "Put a version in place",
  permission: "scripts.edit",
  query: z.object({ force: z.string().optional() }),
  body: input,
  handle: async ({ params, body, identity }, { accounts, scripts }) => {
    const { version_id } = body.versions[0]!;
    const message = body.annotations?.["workers/message"] || null;
    const { account_id, script_name } = params;
    const earlier = await scripts.deployments(account_id, script_name);
    const wasThere = earlier.some(({ versionId }) => versionId === version_id);
    const author = await by(identity, accounts, wasThere ? "rollback" : "upload");
    return showDeployment(
      await scripts.deploy(account_id, script_name, version_id, author, message),
    );
  },
});
