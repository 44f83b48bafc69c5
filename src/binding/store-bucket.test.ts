import { after } from "node:test";
import { stopOwnPostgres } from "../../test/support/postgres.ts";
import { localTransport } from "./local.ts";
import { storeBucketContract } from "./store-bucket.contract.ts";
import { bucketsOf, openTestStore } from "./test-store.contract.ts";

after(stopOwnPostgres);

for (const engine of ["sqlite", "postgres"] as const) {
  storeBucketContract(`a call, on ${engine}`, async () => {
    const opened = await openTestStore(engine);
    const { store } = opened;
    return {
      ...bucketsOf(opened, (name) => localTransport(store, name)),
      [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose](),
    };
  });
}
