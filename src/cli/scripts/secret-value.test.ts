/** Where secrets come from. */
import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { test } from "node:test";
import type { CommandContext } from "../context.ts";
import { parseSecrets, readSecret } from "./secret-value.ts";

const given = (text: string) => ({ stdin: Readable.from([text]) }) as unknown as CommandContext;

test("a value from standard input loses its line end, and nothing else", async () => {
  assert.equal(await readSecret("KEY", given(" s3 cret \n")), " s3 cret ");
  assert.equal(await readSecret("KEY", given("two\nlines\r\n")), "two\nlines");
  await assert.rejects(readSecret("KEY", given("\n")), /The value of KEY is empty/);
});

test("many secrets are JSON or lines", () => {
  assert.deepEqual(parseSecrets('{"A":"1","B":null}'), { A: "1", B: null });
  assert.deepEqual(parseSecrets('A=1\n# no\nB="two words"\n'), { A: "1", B: "two words" });
});

test("what cannot be read is told without its values", () => {
  assert.throws(
    () => parseSecrets('{"A": s3cret}'),
    (error: Error) => {
      assert.equal(error.message, "The secrets are not JSON that can be read.");
      return true;
    },
  );
  assert.throws(() => parseSecrets('{"A": 5}'), /The secret A must be text/);
});
