/** Lists the account's S3 keys. */
import { command } from "../command.ts";
import { allKeys, keyColumns } from "./key.ts";

export const listKeys = command({
  path: "key list",
  summary: "list the S3 access keys",
  examples: [["selvedge key list", "what each opens, until when, and when it was last used"]],
  json: "one array of keys",
  async run(_, context) {
    const none = 'There are no keys. "selvedge key create NAME" makes one.';
    context.out.list(await allKeys(context), keyColumns, none);
  },
});
