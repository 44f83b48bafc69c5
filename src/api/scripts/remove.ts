/** Deletes a script with its routes, domains and schedules. */
import { z } from "zod";
import { endpoint } from "../endpoint.ts";
import { removeDomainRecords } from "../script-domains/dns.ts";
import { SCRIPT, SERVICE } from "./paths.ts";

const query = z.object({ force: z.stringbool().default(false) });

export const removeScript = [SCRIPT, SERVICE].map((path) =>
  endpoint({
    method: "DELETE",
    path: path as typeof SCRIPT,
    summary: "Delete a script; with `force` also one that other scripts bind",
    permission: "scripts.edit",
    query,
    handle: async ({ params, query, identity }, parts) => {
      const { account_id, script_name: service } = params;
      const domains = await parts.routes.domains(account_id, { service });
      await parts.scripts.remove(account_id, service, query.force);
      await removeDomainRecords(parts, domains, identity);
      return null;
    },
  }),
);
