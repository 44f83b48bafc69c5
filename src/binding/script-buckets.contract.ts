/** Scripts in a runtime of their own, with buckets of a store of their own. */
import { join } from "node:path";
import type { Binding, RuntimeLimits } from "#scripts";
import { TestRuntime } from "../../test/support/script-runtime.ts";
import { bindingModule } from "./binding-module.ts";
import { LentBodies } from "./lent-bodies.ts";
import { scriptAccess } from "./script-access.ts";
import { listenStoreSocket } from "./store-socket.ts";
import { openTestStore, type TestStore } from "./test-store.contract.ts";

export interface ScriptBuckets extends TestStore {
  readonly scripts: TestRuntime;
  readonly storeSocket: string;
  /** Those that the store was shown. */
  readonly tokens: ReadonlySet<string>;
}

export async function openScriptBuckets(
  limits: Partial<RuntimeLimits> = {},
): Promise<ScriptBuckets> {
  await using opened = new AsyncDisposableStack();
  const kept = opened.use(await openTestStore("sqlite"));
  const storeSocket = join(kept.folder, "store.sock");
  const options = { storeSocket, bindingModule };
  const scripts = opened.use(await TestRuntime.open(limits, options));
  const tokens = new Set<string>();
  const grant = (token: string) => {
    tokens.add(token);
    return scripts.runtime.grant(token);
  };
  const authorize = scriptAccess(grant, kept.store);
  const { store, accountId, folder } = kept;
  const lent = opened.use(new LentBodies());
  const { log } = scripts;
  opened.use(await listenStoreSocket({ path: storeSocket, store, authorize, lent, log }));
  const all = opened.move();
  const known = { scripts, store, accountId, folder, storeSocket, tokens };
  return { ...known, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** A bucket on `env`. */
export function bucket(name: string, bucketName: string, keepsDelimiter = false): Binding {
  return { type: "bucket", name, bucketName, keepsDelimiter };
}
