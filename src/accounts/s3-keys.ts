/** Key pairs for S3. Their secrets must be recoverable to check signatures, so they are sealed. */
import type { Database } from "#db";
import { seal, unseal } from "#kit/secrets.ts";
import * as rows from "./schema.ts";

export interface S3KeyPair {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export class S3Keys {
  readonly #db: Database;
  readonly #sealKey: Uint8Array;

  constructor(db: Database, sealKey: Uint8Array) {
    this.#db = db;
    this.#sealKey = sealKey;
  }

  /** The secret of an access key and the account it opens; null when there is no such key. */
  async find(accessKeyId: string): Promise<{ accountId: string; secretAccessKey: string } | null> {
    const row = await this.#db.first(rows.s3KeyById({ accessKeyId }));
    if (row === null) return null;
    const secretAccessKey = unseal(this.#sealKey, labelOf(accessKeyId), row.sealedSecret);
    if (secretAccessKey === null)
      throw new Error(`The secret of S3 key ${accessKeyId} cannot be opened`);
    return { accountId: row.accountId, secretAccessKey };
  }
}

export function s3KeyRow(
  sealKey: Uint8Array,
  accountId: string,
  pair: S3KeyPair,
  createdAt: number,
) {
  const { accessKeyId, secretAccessKey } = pair;
  const sealedSecret = seal(sealKey, labelOf(accessKeyId), secretAccessKey);
  return rows.addS3Key({ accessKeyId, accountId, sealedSecret, createdAt });
}

/** Binds a sealed secret to its key, so that two rows cannot be exchanged. */
function labelOf(accessKeyId: string): string {
  return `s3-key ${accessKeyId}`;
}
