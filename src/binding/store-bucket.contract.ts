/**
 * What a bucket owes whoever holds it, whatever carries its requests. The suites name the members of the
 * interface; the messages and codes are those of the original.
 */
import { after, before, suite } from "node:test";
import { callingRules } from "./calling-rules.contract.ts";
import { conditions } from "./conditions.contract.ts";
import { encryption } from "./encryption.contract.ts";
import { lists } from "./lists.contract.ts";
import { multipart } from "./multipart.contract.ts";
import { reads } from "./reads.contract.ts";
import type { Compatibility } from "./store-bucket.ts";
import type { StoreBucket } from "./types.ts";
import { writes } from "./writes.contract.ts";

/** Where the buckets of a test come from. */
export interface OpenBuckets extends Buckets, AsyncDisposable {}

export interface Buckets {
  /** A new, empty bucket. */
  fresh(compatibility?: Compatibility): Promise<StoreBucket>;
  /** A handle to a bucket that is not there. */
  readonly missing: StoreBucket;
}

export function storeBucketContract(name: string, open: () => Promise<OpenBuckets>): void {
  suite(`a bucket over ${name}`, () => {
    let opened: OpenBuckets;
    before(async () => {
      opened = await open();
    });
    after(() => opened[Symbol.asyncDispose]());
    const buckets: Buckets = {
      fresh: (compatibility) => opened.fresh(compatibility),
      get missing() {
        return opened.missing;
      },
    };
    callingRules(buckets);
    reads(buckets);
    conditions(buckets);
    writes(buckets);
    lists(buckets);
    multipart(buckets);
    encryption(buckets);
  });
}
