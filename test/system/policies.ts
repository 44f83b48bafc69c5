/** Policies for tokens, as a user would write them: the published ids of permission groups. */
import { call } from "./api.ts";
import type { TestServer } from "../support/server.ts";

const groups = {
  userDetailsRead: "8acbe5bb0d54464ab867149d7f7cf8ac",
  userDetailsWrite: "55a5e17cc99e4a3fa1f3432d262f2e55",
  membershipsRead: "3518d0f75557482e952c6762d3e64903",
  userTokensWrite: "686d18d5ac6c441c867cbf6771e58a0a",
  accountSettingsRead: "c1fde68c7bcc44588cbb6ddbc16d6480",
  accountSettingsWrite: "1af1fa2adc104452b74a9a3364202f20",
  accountTokensWrite: "5bc3f8b21c554832afc660159ab75fa4",
  scriptsRead: "1a71c399035b4950a1bd1466bbe4f420",
  scriptsWrite: "e086da7e2179491d91ee5f35b3ca210a",
  scriptRoutesWrite: "28f4b596e7d643029c524985477ae49a",
  tailRead: "05880cd1bdc24d8bae0be2136972816b",
  storageRead: "b4992e1108244f5d8bfbd5744320c2e1",
  storageWrite: "bf7481a1826f439697cb59a20b22293e",
  bucketItemRead: "6a018a9f2fc74eb6b293b0c548f38b39",
  bucketItemWrite: "2efd5506f9c8494dacb1fa10a3e7d5b6",
} as const;

type GroupName = keyof typeof groups;

export interface PolicyInput {
  effect: "allow" | "deny";
  permission_groups: { id: string }[];
  resources: Record<string, string>;
}

export const userKey = (id: string) => `com.cloudflare.api.user.${id}`;
export const accountKey = (id: string) => `com.cloudflare.api.account.${id}`;
export const bucketKey = (account: string, name: string) =>
  `com.cloudflare.edge.r2.bucket.${account}_default_${name}`;

export function policy(
  effect: "allow" | "deny",
  resource: string,
  ...names: readonly GroupName[]
): PolicyInput {
  return {
    effect,
    permission_groups: names.map((name) => ({ id: groups[name] })),
    resources: { [resource]: "*" },
  };
}

/** The user and the account that a server makes at its first start. */
export async function firstIds(server: TestServer): Promise<{ user: string; account: string }> {
  const { result } = await call(server, "GET", "/user");
  const { id, organizations } = result as { id: string; organizations: { id: string }[] };
  return { user: id, account: organizations[0]!.id };
}
