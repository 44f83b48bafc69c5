/** Certificates that users bring. */
import { z } from "zod";
import { stateOf } from "#certificates";
import { endpoint } from "../endpoint.ts";
import { paged, pageQuery } from "../shapes.ts";
import { showCustom } from "./shape.ts";

const path = "/zones/:zone_id/custom_certificates";

/** Two methods would have us build the chain; here it is always served as it was given. */
const bundleMethod = z.enum(["ubiquitous", "optimal", "force"]);

/** What the original has beside: regions, keys kept elsewhere. Taken when it says nothing. */
const others = {
  deploy: z.literal("production").optional(),
  geo_restrictions: z.null().optional(),
  policy: z.literal("").optional(),
};

const MOST_PRIORITIZED = 100;

export const listCustomCertificates = endpoint({
  method: "GET",
  path,
  summary: "List custom certificates",
  permission: "certificates.read",
  query: pageQuery.extend({
    match: z.enum(["any", "all"]).optional(),
    status: z.enum(["active", "expired", "deleted", "pending", "initializing"]).optional(),
  }),
  handle: async ({ zone, query }, { certificates, now }) => {
    const all = await certificates.custom.list(zone.id);
    const { status } = query;
    const found = all.filter((one) => status === undefined || stateOf(one, now()) === status);
    return paged(found, query, (one) => showCustom(one, now()));
  },
});

export const createCustomCertificate = endpoint({
  method: "POST",
  path,
  summary: "Give a zone a certificate of one's own",
  permission: "certificates.edit",
  body: z.object({
    certificate: z.string(),
    private_key: z.string(),
    bundle_method: bundleMethod.default("ubiquitous"),
    type: z.enum(["legacy_custom", "sni_custom"]).default("sni_custom"),
    ...others,
  }),
  handle: async ({ zone, body }, { certificates, now }) => {
    const made = await certificates.custom.add(zone, {
      certificate: body.certificate,
      privateKey: body.private_key,
      bundleMethod: body.bundle_method,
      type: body.type,
    });
    return showCustom(made, now());
  },
});

export const prioritizeCustomCertificates = endpoint({
  method: "PUT",
  path: `${path}/prioritize`,
  summary: "Say which custom certificate goes first",
  permission: "certificates.edit",
  body: z.object({
    certificates: z
      .array(z.object({ id: z.string(), priority: z.number().int().min(0).max(1_000_000) }))
      .min(1)
      .max(MOST_PRIORITIZED),
  }),
  handle: async ({ zone, body }, { certificates, now }) => {
    const all = await certificates.custom.prioritize(zone.id, body.certificates);
    return all.map((one) => showCustom(one, now()));
  },
});

export const getCustomCertificate = endpoint({
  method: "GET",
  path: `${path}/:certificate_id`,
  summary: "Show a custom certificate",
  permission: "certificates.read",
  handle: async ({ zone, params }, { certificates, now }) =>
    showCustom(await certificates.custom.get(zone.id, params.certificate_id), now()),
});

export const editCustomCertificate = endpoint({
  method: "PATCH",
  path: `${path}/:certificate_id`,
  summary: "Replace a custom certificate",
  permission: "certificates.edit",
  body: z.object({
    certificate: z.string().optional(),
    private_key: z.string().optional(),
    bundle_method: bundleMethod.optional(),
    ...others,
  }),
  handle: async ({ zone, params, body }, { certificates, now }) => {
    const { certificate, private_key: privateKey, bundle_method: bundleMethod } = body;
    const changed = await certificates.custom.edit(zone, params.certificate_id, {
      ...(certificate !== undefined && { certificate }),
      ...(privateKey !== undefined && { privateKey }),
      ...(bundleMethod !== undefined && { bundleMethod }),
    });
    return showCustom(changed, now());
  },
});

export const removeCustomCertificate = endpoint({
  method: "DELETE",
  path: `${path}/:certificate_id`,
  summary: "Delete a custom certificate",
  permission: "certificates.edit",
  handle: async ({ zone, params }, { certificates }) => {
    await certificates.custom.remove(zone.id, params.certificate_id);
    return { id: params.certificate_id };
  },
});
