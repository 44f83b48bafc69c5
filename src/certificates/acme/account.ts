/** The account at an ACME server: its key is made once and kept sealed. RFC 8555 §7.3. */
import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import type { Database } from "#db";
import { seal, unseal } from "#kit/secrets.ts";
import * as rows from "../schema.ts";
import type { AcmeHttp } from "./http.ts";
import { type AccountWishes, AcmeSession } from "./session.ts";

export interface AccountOptions {
  readonly db: Database;
  readonly sealKey: Uint8Array;
  readonly http: AcmeHttp;
  readonly directory: string;
  readonly wishes: AccountWishes;
  readonly now: () => number;
}

/** Opens the account, making it when it is not there yet. */
export async function openAccount(options: AccountOptions): Promise<AcmeSession> {
  const { db, http, directory, wishes, now } = options;
  const { privateKey, kid } = await findAccount(options);
  const session = await AcmeSession.open({ http, directory, privateKey, now });
  if (kid !== null) session.useAccount(kid);
  // A server that knows the key already answers with the account that it has.
  else await db.write(rows.setAccountId({ directory, kid: await session.register(wishes) }));
  return session;
}

/** The server has lost the account: the next time it is made again, with the same key. */
export async function forgetAccount({ db, directory }: AccountOptions): Promise<void> {
  await db.write(rows.setAccountId({ directory, kid: null }));
}

async function findAccount({
  db,
  sealKey,
  directory,
}: AccountOptions): Promise<{ privateKey: KeyObject; kid: string | null }> {
  const label = `acme account ${directory}`;
  let found = await db.first(rows.accountOf({ directory }));
  if (found === null) {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const pem = privateKey.export({ type: "pkcs8", format: "pem" });
    await db.write(rows.addAccount({ directory, sealedKey: seal(sealKey, label, pem) }));
    found = (await db.first(rows.accountOf({ directory })))!; // Another node may have been first.
  }
  const pem = unseal(sealKey, label, found.sealedKey);
  if (pem === null) throw new Error(`The key of the account at ${directory} cannot be opened`);
  return { privateKey: createPrivateKey(pem), kid: found.kid };
}
