/** Lists the versions of a script, newest first. */
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { Answer } from "../envelope.ts";
import { SCRIPT } from "../scripts/paths.ts";
import { pageInfo } from "../shapes.ts";
import { showVersion } from "./shape.ts";

/** wrangler asks for all that can be deployed without naming a number. */
const DEFAULT_PER_PAGE = 100;

const query = z.object({
  page: z.coerce.number().int().min(1).max(1_000_000).default(1),
  per_page: z.coerce.number().int().min(1).max(1_000).default(DEFAULT_PER_PAGE),
  deployable: z.stringbool().optional(), // All are.
});

export const listVersions = endpoint({
  method: "GET",
  path: `${SCRIPT}/versions`,
  summary: "List the versions of a script",
  permission: "scripts.read",
  query,
  handle: async ({ params, query: { page, per_page } }, { scripts }) => {
    const { versions, total } = await scripts.versions(params.account_id, params.script_name, {
      offset: (page - 1) * per_page,
      limit: per_page,
    });
    const resultInfo = pageInfo({ page, per_page }, versions.length, total);
    return new Answer({ items: versions.map(showVersion) }, { resultInfo });
  },
});
