/**
 * What can be permitted, and the permission groups that tokens name. The ids and names are those
 * that existing clients and their configuration files carry.
 */

export type Permission =
  | "user.read"
  | "user.edit"
  | "memberships.read"
  | "user-tokens.read"
  | "user-tokens.edit"
  | "account.read"
  | "account.edit"
  | "account-tokens.read"
  | "account-tokens.edit"
  | "zone.read"
  | "zone.edit"
  | "zone-settings.read"
  | "zone-settings.edit"
  | "dns.read"
  | "dns.edit"
  | "certificates.read"
  | "certificates.edit"
  | "cache.purge"
  | "script-routes.read"
  | "script-routes.edit"
  | "scripts.read"
  | "scripts.edit"
  | "scripts.tail"
  | "buckets.read"
  | "buckets.edit"
  | "objects.read"
  | "objects.edit";

export const scopes = {
  user: "com.cloudflare.api.user",
  account: "com.cloudflare.api.account",
  zone: "com.cloudflare.api.account.zone",
  bucket: "com.cloudflare.edge.r2.bucket",
} as const;
export type Scope = keyof typeof scopes;

export interface PermissionGroup {
  readonly id: string;
  readonly name: string;
  readonly scope: Scope;
  readonly grants: ReadonlySet<Permission>;
}

// Every group on a zone shows that zone: clients look it up by name before they use it.
const rows: readonly (readonly [id: string, name: string, scope: Scope, ...Permission[]])[] = [
  ["8acbe5bb0d54464ab867149d7f7cf8ac", "User Details Read", "user", "user.read"],
  ["55a5e17cc99e4a3fa1f3432d262f2e55", "User Details Write", "user", "user.read", "user.edit"],
  ["3518d0f75557482e952c6762d3e64903", "Memberships Read", "user", "memberships.read"],
  ["9201bc6f42d440968aaab0c6f17ebb1d", "Memberships Write", "user", "memberships.read"],
  ["0cc3a61731504c89b99ec1be78b77aa0", "API Tokens Read", "user", "user-tokens.read"],
  [
    "686d18d5ac6c441c867cbf6771e58a0a",
    "API Tokens Write",
    "user",
    "user-tokens.read",
    "user-tokens.edit",
  ],

  ["c1fde68c7bcc44588cbb6ddbc16d6480", "Account Settings Read", "account", "account.read"],
  [
    "1af1fa2adc104452b74a9a3364202f20",
    "Account Settings Write",
    "account",
    "account.read",
    "account.edit",
  ],
  ["eb56a6953c034b9d97dd838155666f06", "Account API Tokens Read", "account", "account-tokens.read"],
  [
    "5bc3f8b21c554832afc660159ab75fa4",
    "Account API Tokens Write",
    "account",
    "account-tokens.read",
    "account-tokens.edit",
  ],
  ["1a71c399035b4950a1bd1466bbe4f420", "Workers Scripts Read", "account", "scripts.read"],
  [
    "e086da7e2179491d91ee5f35b3ca210a",
    "Workers Scripts Write",
    "account",
    "scripts.read",
    "scripts.edit",
  ],
  ["05880cd1bdc24d8bae0be2136972816b", "Workers Tail Read", "account", "scripts.tail"],
  [
    "b4992e1108244f5d8bfbd5744320c2e1",
    "Workers R2 Storage Read",
    "account",
    "buckets.read",
    "objects.read",
  ],
  [
    "bf7481a1826f439697cb59a20b22293e",
    "Workers R2 Storage Write",
    "account",
    "buckets.read",
    "buckets.edit",
    "objects.read",
    "objects.edit",
  ],

  [
    "6a018a9f2fc74eb6b293b0c548f38b39",
    "Workers R2 Storage Bucket Item Read",
    "bucket",
    "objects.read",
  ],
  [
    "2efd5506f9c8494dacb1fa10a3e7d5b6",
    "Workers R2 Storage Bucket Item Write",
    "bucket",
    "objects.read",
    "objects.edit",
  ],

  ["c8fed203ed3043cba015a93ad1616f1f", "Zone Read", "zone", "zone.read"],
  ["e6d2666161e84845a636613608cee8d5", "Zone Write", "zone", "zone.read", "zone.edit"],
  [
    "517b21aee92c4d89936c976ba6e4be55",
    "Zone Settings Read",
    "zone",
    "zone.read",
    "zone-settings.read",
  ],
  [
    "3030687196b94b638145a3953da2b699",
    "Zone Settings Write",
    "zone",
    "zone.read",
    "zone-settings.read",
    "zone-settings.edit",
  ],
  ["82e64a83756745bbbb1c9c2701bf816b", "DNS Read", "zone", "zone.read", "dns.read"],
  ["4755a26eedb94da69e1066d98aa820be", "DNS Write", "zone", "zone.read", "dns.read", "dns.edit"],
  [
    "7b7216b327b04b8fbc8f524e1f9b7531",
    "SSL and Certificates Read",
    "zone",
    "zone.read",
    "certificates.read",
  ],
  [
    "c03055bc037c4ea9afb9a9f104b7b721",
    "SSL and Certificates Write",
    "zone",
    "zone.read",
    "certificates.read",
    "certificates.edit",
  ],
  ["e17beae8b8cb423a99b1730f21238bed", "Cache Purge", "zone", "zone.read", "cache.purge"],
  [
    "2072033d694d415a936eaeb94e6405b8",
    "Workers Routes Read",
    "zone",
    "zone.read",
    "script-routes.read",
  ],
  [
    "28f4b596e7d643029c524985477ae49a",
    "Workers Routes Write",
    "zone",
    "zone.read",
    "script-routes.read",
    "script-routes.edit",
  ],
];

export const permissionGroups: ReadonlyMap<string, PermissionGroup> = new Map(
  rows.map(([id, name, scope, ...grants]) => [id, { id, name, scope, grants: new Set(grants) }]),
);
