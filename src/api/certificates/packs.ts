/** Certificates that the platform orders: one by itself, others when asked for. */
import { z } from "zod";
import { stateOf } from "#certificates";
import { endpoint } from "../endpoint.ts";
import { paged, pageQuery } from "../shapes.ts";
import { showPack, showVerification } from "./shape.ts";

const path = "/zones/:zone_id/ssl/certificate_packs";
const universalPath = "/zones/:zone_id/ssl/universal/settings";
const verificationPath = "/zones/:zone_id/ssl/verification";

/** Records in DNS, which are written here, are the only proof that there is. */
const validationMethod = z.literal("txt");

export const listPacks = endpoint({
  method: "GET",
  path,
  summary: "List certificate packs; of all states with status=all",
  permission: "certificates.read",
  query: pageQuery.extend({
    status: z.literal("all").optional(),
    deploy: z.enum(["staging", "production"]).optional(),
  }),
  handle: async ({ zone, query }, { certificates, now }) => {
    const all = await certificates.packs.list(zone.id);
    const shown = all.filter((one) => query.status === "all" || stateOf(one, now()) === "active");
    return paged(shown, query, (one) => showPack(one, now()));
  },
});

export const orderPack = endpoint({
  method: "POST",
  path: `${path}/order`,
  summary: "Order a certificate for names of a zone",
  permission: "certificates.edit",
  body: z.object({
    type: z.literal("advanced"),
    hosts: z.array(z.string()).min(1),
    validation_method: validationMethod.default("txt"),
    validity_days: z.literal([14, 30, 90, 365]).default(90),
    certificate_authority: z.enum(["google", "lets_encrypt", "ssl_com"]).default("lets_encrypt"),
    cloudflare_branding: z.literal(false).optional(),
  }),
  handle: async ({ zone, body }, { certificates, now }) => {
    const wishes = {
      validityDays: body.validity_days,
      certificateAuthority: body.certificate_authority,
    };
    return showPack(await certificates.packs.order(zone, body.hosts, wishes), now());
  },
});

export const packQuota = endpoint({
  method: "GET",
  path: `${path}/quota`,
  summary: "How many certificate packs a zone may order",
  permission: "certificates.read",
  handle: async ({ zone }, { certificates: { packs } }) => {
    const ordered = (await packs.list(zone.id)).filter(({ type }) => type === "advanced");
    return { advanced: { allocated: packs.quota, used: ordered.length } };
  },
});

export const getPack = endpoint({
  method: "GET",
  path: `${path}/:pack_id`,
  summary: "Show a certificate pack",
  permission: "certificates.read",
  handle: async ({ zone, params }, { certificates, now }) =>
    showPack(await certificates.packs.get(zone.id, params.pack_id), now()),
});

export const restartPack = endpoint({
  method: "PATCH",
  path: `${path}/:pack_id`,
  summary: "Try again at once to have a certificate issued",
  permission: "certificates.edit",
  body: z.object({ cloudflare_branding: z.literal(false).optional() }).optional(),
  handle: async ({ zone, params }, { certificates, now }) =>
    showPack(await certificates.packs.restart(zone.id, params.pack_id), now()),
});

export const removePack = endpoint({
  method: "DELETE",
  path: `${path}/:pack_id`,
  summary: "Delete a certificate pack that was ordered",
  permission: "certificates.edit",
  handle: async ({ zone, params }, { certificates }) => {
    await certificates.packs.remove(zone.id, params.pack_id);
    return { id: params.pack_id };
  },
});

export const getUniversal = endpoint({
  method: "GET",
  path: universalPath,
  summary: "Show whether a zone gets a certificate by itself",
  permission: "certificates.read",
  handle: ({ zone }, { certificates }) => ({ enabled: certificates.packs.isUniversal(zone.id) }),
});

export const editUniversal = endpoint({
  method: "PATCH",
  path: universalPath,
  summary: "Say whether a zone gets a certificate by itself",
  permission: "certificates.edit",
  body: z.object({ enabled: z.boolean().optional() }),
  handle: async ({ zone, body }, { certificates: { packs } }) => {
    if (body.enabled !== undefined) await packs.setUniversal(zone, body.enabled);
    return { enabled: packs.isUniversal(zone.id) };
  },
});

export const listVerifications = endpoint({
  method: "GET",
  path: verificationPath,
  summary: "How far the certificates of a zone are",
  permission: "certificates.read",
  handle: async ({ zone }, { certificates, now }) =>
    (await certificates.packs.list(zone.id)).map((pack) => showVerification(pack, now())),
});

export const editVerification = endpoint({
  method: "PATCH",
  path: `${verificationPath}/:pack_id`,
  summary: "Try again at once to prove a certificate's names",
  permission: "certificates.edit",
  body: z.object({ validation_method: validationMethod }),
  handle: async ({ zone, params }, { certificates, now }) => {
    const pack = await certificates.packs.restart(zone.id, params.pack_id);
    return { status: stateOf(pack, now()), validation_method: "txt" };
  },
});
