/** A user in the API's spelling. */
import { z } from "zod";
import type { Account, User } from "#accounts";

const detail = z.string().max(100).nullable().optional();

export const userInput = z
  .object({
    first_name: z.string().max(60).nullable().optional(),
    last_name: z.string().max(60).nullable().optional(),
    telephone: z.string().max(20).nullable().optional(),
    country: detail,
    zipcode: z.string().max(20).nullable().optional(),
  })
  .transform((body) => ({
    ...(body.first_name !== undefined && { firstName: body.first_name }),
    ...(body.last_name !== undefined && { lastName: body.last_name }),
    ...(body.telephone !== undefined && { telephone: body.telephone }),
    ...(body.country !== undefined && { country: body.country }),
    ...(body.zipcode !== undefined && { zipcode: body.zipcode }),
  }));

export function showUser({ id, email, details }: User, accounts: readonly Account[]): object {
  return {
    id,
    email,
    first_name: details.firstName,
    last_name: details.lastName,
    telephone: details.telephone,
    country: details.country,
    zipcode: details.zipcode,
    two_factor_authentication_enabled: false,
    two_factor_authentication_locked: false,
    has_pro_zones: false,
    has_business_zones: false,
    has_enterprise_zones: false,
    suspended: false,
    betas: [],
    organizations: accounts.map((account) => ({
      id: account.id,
      name: account.name,
      status: "member",
      permissions: [],
      roles: [],
    })),
  };
}
