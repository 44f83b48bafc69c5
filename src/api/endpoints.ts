/** Every operation of the management API, one line each. */
import { createAccount } from "./accounts/create.ts";
import { editAccount } from "./accounts/edit.ts";
import { getAccount } from "./accounts/get.ts";
import { listAccounts } from "./accounts/list.ts";
import type { Endpoint } from "./endpoint.ts";
import { createToken } from "./tokens/create.ts";
import { editToken } from "./tokens/edit.ts";
import { getToken } from "./tokens/get.ts";
import { listTokens } from "./tokens/list.ts";
import { listPermissionGroups } from "./tokens/permission-groups.ts";
import { removeToken } from "./tokens/remove.ts";
import { rollToken } from "./tokens/roll.ts";
import { verifyToken } from "./tokens/verify.ts";
import { editUser } from "./user/edit.ts";
import { getUser } from "./user/get.ts";
import { listMemberships } from "./user/memberships.ts";

/** A fixed path stands before one whose last part is a parameter. */
export const endpoints: readonly Endpoint[] = [
  getUser,
  editUser,
  listMemberships,

  listAccounts,
  createAccount,
  getAccount,
  editAccount,

  ...verifyToken,
  ...listPermissionGroups,
  ...listTokens,
  ...createToken,
  ...getToken,
  ...editToken,
  ...rollToken,
  ...removeToken,
];
