/** Lists the permission groups that policies can name. */
import { z } from "zod";
import { permissionGroups, scopes } from "#accounts";
import { endpoint } from "../endpoint.ts";
import { owners } from "./owners.ts";

const query = z.object({ name: z.string().optional(), scope: z.string().optional() });

export const listPermissionGroups = owners.map(({ path, read }) =>
  endpoint({
    method: "GET",
    path: `${path}/permission_groups`,
    summary: "List permission groups",
    permission: read,
    query,
    handle: ({ query: { name, scope } }) =>
      [...permissionGroups.values()]
        .map((group) => ({ id: group.id, name: group.name, scopes: [scopes[group.scope]] }))
        .filter((group) => name === undefined || group.name === name)
        .filter((group) => scope === undefined || group.scopes.some((s) => s === scope)),
  }),
);
