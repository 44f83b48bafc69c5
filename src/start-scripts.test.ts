import assert from "node:assert/strict";
import { test } from "node:test";
import { type Bucket, ObjectFault } from "#objects";
import { bucketExists } from "./start-scripts.ts";

test("a store that cannot be asked is not one without the bucket", async () => {
  const failing = (fault: Error) => ({
    bucket: async (): Promise<Bucket> => {
      throw fault;
    },
  });
  const absent = failing(new ObjectFault("no-such-bucket", "There is none"));
  assert.equal(await bucketExists(absent, "a", "b"), false);
  const broken = failing(new Error("The disk is gone"));
  await assert.rejects(bucketExists(broken, "a", "b"), /The disk is gone/);
});
