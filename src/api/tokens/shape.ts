/** A token in the API's spelling. */
import { z } from "zod";
import { permissionGroups, type Token, type TokenCondition, tokenStatus } from "#accounts";
import { rangeFault } from "#kit/cidr.ts";
import { showTime, timeInput } from "../shapes.ts";

/** No token in use comes near these; they bound what a check has to walk through. */
const MAX_POLICIES = 100;
const MAX_GROUPS = 500;
const MAX_RESOURCES = 1_000;
const MAX_RANGES = 500;

const range = z.string().superRefine((text, context) => {
  const fault = rangeFault(text);
  if (fault !== null) context.addIssue({ code: "custom", message: fault });
});

const addresses = z.object({
  in: z.array(range).max(MAX_RANGES).nullish(),
  not_in: z.array(range).max(MAX_RANGES).nullish(),
});

const condition = z
  .object({ "request.ip": addresses.nullish(), request_ip: addresses.nullish() })
  .nullish()
  .transform((given): TokenCondition => {
    const ip = given?.["request.ip"] ?? given?.request_ip;
    return { in: ip?.in ?? [], notIn: ip?.not_in ?? [] };
  });

const resources = z
  .record(
    z.string().max(200),
    z.union([z.literal("*"), z.record(z.string().max(200), z.literal("*"))], {
      error: 'expected "*", or an object of zone keys with the value "*"',
    }),
  )
  .refine((keys) => Object.keys(keys).length > 0, "at least one resource is needed")
  .refine(
    (keys) => Object.keys(keys).length <= MAX_RESOURCES,
    `at most ${MAX_RESOURCES} resources`,
  );

const policy = z
  .object({
    effect: z.enum(["allow", "deny"]),
    permission_groups: z
      .array(z.object({ id: z.string().max(64) }))
      .min(1)
      .max(MAX_GROUPS),
    resources,
  })
  .transform(({ effect, permission_groups, resources }) => ({
    effect,
    resources,
    groups: permission_groups.map(({ id }) => id),
  }));

export const tokenInput = z
  .object({
    name: z.string().trim().min(1).max(120),
    // A client that reads an expired token and writes it back with a later day sends its status too.
    status: z
      .enum(["active", "disabled", "expired"])
      .optional()
      .transform((status) => (status === "expired" ? "active" : status)),
    policies: z.array(policy).min(1).max(MAX_POLICIES),
    condition,
    not_before: timeInput.nullish(),
    expires_on: timeInput.nullish(),
  })
  .refine(({ not_before, expires_on }) => (not_before ?? 0) < (expires_on ?? Infinity), {
    path: ["expires_on"],
    message: "must be later than not_before",
  })
  .transform(({ not_before, expires_on, status, ...rest }) => ({
    ...rest,
    ...(status !== undefined && { status }),
    notBefore: not_before ?? null,
    expiresOn: expires_on ?? null,
  }));

export function showToken(token: Token, now: number): object {
  return {
    id: token.id,
    name: token.name,
    status: tokenStatus(token, now),
    issued_on: showTime(token.issuedOn),
    modified_on: showTime(token.modifiedOn),
    ...(token.lastUsedOn !== null && { last_used_on: showTime(token.lastUsedOn) }),
    ...showValidity(token),
    policies: token.policies.map(({ id, effect, resources, groups }) => ({
      id,
      effect,
      resources,
      permission_groups: groups.map((group) => ({
        id: group,
        name: permissionGroups.get(group)?.name ?? "",
      })),
    })),
    ...showCondition(token.condition),
  };
}

export function showValidity(token: {
  notBefore: number | null;
  expiresOn: number | null;
}): object {
  return {
    ...(token.notBefore !== null && { not_before: showTime(token.notBefore) }),
    ...(token.expiresOn !== null && { expires_on: showTime(token.expiresOn) }),
  };
}

function showCondition({ in: inside, notIn }: TokenCondition): object {
  if (inside.length === 0 && notIn.length === 0) return {};
  const ip = {
    ...(inside.length > 0 && { in: inside }),
    ...(notIn.length > 0 && { not_in: notIn }),
  };
  // The documented key has a dot in it; typed SDKs read it with an underscore.
  return { condition: { "request.ip": ip, request_ip: ip } };
}
