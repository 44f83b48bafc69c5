/** Filters of the list of zones. */
import { z } from "zod";
import { pageQuery } from "../shapes.ts";

export const zonesQuery = pageQuery.extend({
  name: z.string().max(300).optional(),
  status: z.string().optional(),
  type: z.string().optional(),
  "account.id": z.string().optional(),
  "account.name": z.string().optional(),
  order: z.enum(["name", "status", "account.id", "account.name", "plan.id"]).default("name"),
  match: z.enum(["any", "all"]).default("all"),
});
