/** An account in the API's spelling. */
import { z } from "zod";
import type { Account } from "#accounts";
import { showTime } from "../shapes.ts";

const name = z.string().trim().min(1).max(100);

export const newAccountInput = z.object({
  name,
  type: z.enum(["standard", "enterprise"]).default("standard"),
});

export const accountInput = z
  .object({
    name,
    settings: z
      .object({
        enforce_twofactor: z.boolean().optional(),
        abuse_contact_email: z.email().max(254).nullable().optional(),
      })
      .default({}),
  })
  .transform(({ name, settings }) => ({
    name,
    settings: {
      ...(settings.enforce_twofactor !== undefined && {
        enforceTwofactor: settings.enforce_twofactor,
      }),
      ...(settings.abuse_contact_email !== undefined && {
        abuseContactEmail: settings.abuse_contact_email,
      }),
    },
  }));

export function showAccount({ id, name, type, settings, createdAt }: Account): object {
  return {
    id,
    name,
    type,
    settings: {
      enforce_twofactor: settings.enforceTwofactor,
      api_access_enabled: null,
      access_approval_expiry: null,
      abuse_contact_email: settings.abuseContactEmail,
    },
    created_on: showTime(createdAt),
  };
}
