/** A script that runs the contract of the bucket on the buckets of its own `env`, a test a request. */
import type { Compatibility } from "./store-bucket.ts";
import { storeBucketContract } from "./store-bucket.contract.ts";
import { tests } from "./node-test.contract.ts";
import type { StoreBucket } from "./types.ts";

interface Env {
  readonly COMPATIBILITY: Compatibility;
  readonly MISSING: StoreBucket;
  readonly KEEPS_DELIMITER: StoreBucket;
  /** `BUCKET_0` and so on. */
  readonly [name: string]: unknown;
}

/** How a test went. One that needs another compatibility must run where that is. */
export type Outcome = { readonly failure?: string; readonly needs?: Compatibility };

let env: Env;
let used = 0;
let needs: Compatibility | null = null;

/** Called in a request: some values that the tests hold cannot be made before. */
function define(): void {
  storeBucketContract("workerd", async () => ({
    fresh: async (compatibility) => {
      if (compatibility !== undefined && !isSame(compatibility, env.COMPATIBILITY)) {
        needs = compatibility;
        throw new Error("This needs another compatibility");
      }
      if (compatibility?.keepsDelimiter === true) return env.KEEPS_DELIMITER;
      return env[`BUCKET_${used++}`] as StoreBucket;
    },
    get missing() {
      return env.MISSING;
    },
    [Symbol.asyncDispose]: async () => {},
  }));
}

function isSame(a: Compatibility, b: Compatibility): boolean {
  return a.honorsInclude === b.honorsInclude && a.showsAbsent === b.showsAbsent;
}

export default {
  async fetch(request: Request, given: Env): Promise<Response> {
    env = given;
    if (tests.length === 0) define();
    const index = Number(new URL(request.url).searchParams.get("test") ?? -1);
    if (index === -1) return Response.json(tests.map(({ name }) => name));
    needs = null;
    const outcome: Outcome = await tests[index]!.run().then(
      () => ({}),
      (error: unknown) =>
        needs === null ? { failure: (error as Error).stack ?? String(error) } : { needs },
    );
    return Response.json(outcome);
  },
};
