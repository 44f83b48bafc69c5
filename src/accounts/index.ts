/**
 * Accounts: who there is (users, accounts, API keys, tokens, S3 keys) and who may do what. Every
 * door asks `Authenticator` who is there and `Accounts.authorize` whether they may.
 */
export { type Account, Accounts, type Membership, type User } from "./accounts.ts";
export { Authenticator, type Credentials, type FoundToken } from "./authenticate.ts";
export { bootstrap, type Credentials as FirstCredentials } from "./bootstrap.ts";
export { AccountFault, type AccountFaultKind } from "./fault.ts";
export { type Identity, personBehind } from "./identity.ts";
export { type Permission, type PermissionGroup, permissionGroups, scopes } from "./permissions.ts";
export type { Policy, Resource, Resources } from "./policy.ts";
export { Recent } from "./recent.ts";
export { accountMigrations, type TokenCondition, type TokenOwner } from "./schema.ts";
export { openSealKey } from "./seal-key.ts";
export { type Token, type TokenInput, Tokens, tokenStatus } from "./tokens.ts";
