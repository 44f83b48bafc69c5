/** Revokes an S3 key. */
import { ApiFault } from "../api-fault.ts";
import { arg, command, yes } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { CliFault } from "../fault.ts";
import { allKeys, keyPath, type S3Key } from "./key.ts";

export const revokeKey = command({
  path: "key revoke",
  summary: "revoke an S3 access key, which stops working at once",
  args: { key: arg("its access key id, or its name if only one has it") },
  options: { yes },
  examples: [["selvedge key revoke backup", "asks first; --yes does not"]],
  json: "the revoked key's access_key_id",
  async run({ args, options }, context) {
    const { access_key_id, name } = await findKey(context, args.key);
    if (!options.yes) {
      await context.confirm(`Revoke the key ${access_key_id} (${name})?`, "Nothing was revoked.");
    }
    try {
      await context.api.delete(await keyPath(context, access_key_id));
    } catch (error) {
      // Someone else was first, and what was asked for is done.
      if (!(error instanceof ApiFault) || error.kind !== "not-found") throw error;
    }
    context.out.result({ access_key_id }, `Revoked the key ${access_key_id} (${name}).`);
  },
});

async function findKey(context: CommandContext, given: string): Promise<S3Key> {
  const keys = await allKeys(context);
  const byId = keys.find(({ access_key_id }) => access_key_id === given);
  const named = keys.filter(({ name }) => name === given);
  if (byId !== undefined) return byId;
  if (named.length === 1) return named[0]!;
  if (named.length === 0) throw new CliFault("not-found", `There is no S3 key ${given}.`);
  const ids = named.map(({ access_key_id }) => access_key_id).join(", ");
  throw new CliFault("usage", `${named.length} S3 keys have the name ${given}: ${ids}.`);
}
