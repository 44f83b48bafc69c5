/**
 * Policies of tokens: permission groups × resources. An explicit denial wins, then an explicit
 * grant; what nothing grants is denied.
 */
import { jsonPointer } from "#kit/json-pointer.ts";
import { shorten } from "#kit/shorten.ts";
import { AccountFault } from "./fault.ts";
import { type Permission, permissionGroups, scopes } from "./permissions.ts";

/** Resource keys to `"*"`, or an account to the zones meant within it. */
export type Resources = Readonly<Record<string, "*" | Readonly<Record<string, "*">>>>;

export interface Policy {
  readonly id: string;
  readonly effect: "allow" | "deny";
  readonly groups: readonly string[];
  readonly resources: Resources;
}

/** What an operation is done to. */
export type Resource =
  | { readonly kind: "user"; readonly user: string }
  | { readonly kind: "account"; readonly account: string }
  | { readonly kind: "zone"; readonly zone: string; readonly account: string }
  | { readonly kind: "bucket"; readonly bucket: string; readonly account: string };

/** The bucket's place in its resource key when it has no jurisdiction of its own. */
const DEFAULT_JURISDICTION = "default";

export function permits(
  policies: readonly Policy[],
  permission: Permission,
  resource: Resource,
): boolean {
  const concerned = policies.filter(
    ({ groups, resources }) =>
      groups.some((id) => permissionGroups.get(id)?.grants.has(permission)) &&
      covers(resources, resource),
  );
  return concerned.length > 0 && concerned.every(({ effect }) => effect === "allow");
}

/** Whether the policies leave anything at all to do in the account. */
export function reaches(policies: readonly Policy[], account: string): boolean {
  const whole: Resource = { kind: "account", account };
  const inside = [`${scopes.account}.${account}`, `${scopes.account}.*`, `${scopes.zone}.*`];
  const allowed = policies
    .filter(({ effect }) => effect === "allow")
    .filter(({ resources }) => inside.some((key) => Object.hasOwn(resources, key)));
  const denied = policies.filter(
    ({ effect, resources }) => effect === "deny" && covers(resources, whole),
  );
  const denials = new Set(denied.flatMap(grantsOf));
  return allowed.flatMap(grantsOf).some((permission) => !denials.has(permission));
}

function grantsOf({ groups }: Policy): Permission[] {
  return groups.flatMap((id) => [...(permissionGroups.get(id)?.grants ?? [])]);
}

function covers(resources: Resources, resource: Resource): boolean {
  const has = (key: string) => resources[key] === "*";
  if (resource.kind === "user") return has(`${scopes.user}.${resource.user}`);
  const { account } = resource;
  const accountKeys = [`${scopes.account}.${account}`, `${scopes.account}.*`];
  // An account's key alone stands for all that is in it, as tools in use rely on.
  if (accountKeys.some(has)) return true;
  if (resource.kind === "bucket") {
    return has(`${scopes.bucket}.${account}_${DEFAULT_JURISDICTION}_${resource.bucket}`);
  }
  if (resource.kind === "account") return false;
  const zoneKeys = [`${scopes.zone}.${resource.zone}`, `${scopes.zone}.*`];
  return (
    zoneKeys.some(has) ||
    accountKeys.some((key) => {
      const within = resources[key];
      return typeof within === "object" && zoneKeys.some((zoneKey) => within[zoneKey] === "*");
    })
  );
}

const ID = "[0-9a-f]{32}";
const ACCOUNT_KEY = new RegExp(`^com\\.cloudflare\\.api\\.account\\.(${ID}|\\*)$`);
const ZONE_KEY = new RegExp(`^com\\.cloudflare\\.api\\.account\\.zone\\.(${ID}|\\*)$`);
const USER_KEY = new RegExp(`^com\\.cloudflare\\.api\\.user\\.${ID}$`);
const BUCKET_KEY = new RegExp(
  `^com\\.cloudflare\\.edge\\.r2\\.bucket\\.${ID}_[a-z-]+_[a-z0-9.-]{3,63}$`,
);

/** Throws unless every group and every resource key of a new policy means something. */
export function checkPolicy(policy: Omit<Policy, "id">, path: readonly PropertyKey[]): void {
  for (const [i, id] of policy.groups.entries()) {
    if (permissionGroups.has(id)) continue;
    throw new AccountFault("bad-policy", `"${shorten(id)}" is not the id of a permission group`, {
      pointer: jsonPointer([...path, "permission_groups", i, "id"]),
    });
  }
  for (const [key, value] of Object.entries(policy.resources)) {
    const meant = value === "*" ? isResourceKey(key) : ACCOUNT_KEY.test(key) && allZoneKeys(value);
    if (meant) continue;
    const message = `"${shorten(key)}" is not a resource that a policy can name`;
    throw new AccountFault("bad-policy", message, {
      pointer: jsonPointer([...path, "resources", key]),
    });
  }
}

function isResourceKey(key: string): boolean {
  return [ACCOUNT_KEY, ZONE_KEY, USER_KEY, BUCKET_KEY].some((pattern) => pattern.test(key));
}

function allZoneKeys(value: Readonly<Record<string, "*">>): boolean {
  const keys = Object.keys(value);
  return keys.length > 0 && keys.every((key) => ZONE_KEY.test(key));
}
