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
export {
  type BucketGrant,
  permitsOnS3,
  type S3Action,
  type S3Deed,
  type S3Grant,
  type S3Permission,
} from "./s3-grants.ts";
export { type OpenS3Key, type S3Key, type S3KeyInput, S3Keys } from "./s3-keys.ts";
export {
  MAX_SESSION_SECONDS,
  mintTemporary,
  openSession,
  permissionOfScope,
  type S3Session,
} from "./temporary-credentials.ts";
export { type Token, type TokenInput, Tokens, tokenStatus } from "./tokens.ts";
