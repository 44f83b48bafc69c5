/** Our server with scripts deployed, as users deploy them: over the management API. */
import assert from "node:assert/strict";
import { keyHeaders } from "../../test/support/server.ts";
import type { Contender, Running } from "./contender.ts";
import type { Leftovers } from "./leftovers.ts";
import { BINDING, COMPATIBILITY_DATE } from "./script-sources.ts";
import { selvedge } from "./selvedge.ts";

/** What requests of the benches carry as their Host; see `requestText`. */
export const ZONE = "bench.test";
const BUCKET = "bench-bucket";
/** No question is asked of it, and its threads would count. */
const ARGS = ["--dns", "off", "--edge", "127.0.0.1:0"];

export function edgeOn(leftovers: Leftovers, data: string): Contender {
  return selvedge(leftovers, { door: "edge", data, args: ARGS });
}

/** Starts our server for its API, which deploys to what the edge serves later on the same folder. */
export async function onApi<T>(
  leftovers: Leftovers,
  data: string,
  work: (api: ScriptApi) => Promise<T>,
): Promise<T> {
  await using server = await selvedge(leftovers, { door: "api", data, args: ARGS }).start();
  return await work(await ScriptApi.of(server));
}

export class ScriptApi {
  readonly #base: string;
  readonly #account: string;

  private constructor(base: string, account: string) {
    this.#base = base;
    this.#account = account;
  }

  static async of({ ready }: Running): Promise<ScriptApi> {
    const base = `${ready!["api"]}/client/v4`;
    const [account] = await new ScriptApi(base, "").call<{ id: string }[]>("GET", "/accounts");
    return new ScriptApi(base, account!.id);
  }

  /** The zone with a proxied record for itself and each of these names, and the bucket. */
  async prepare(names: readonly string[]): Promise<string> {
    const { id } = await this.call<{ id: string }>("POST", "/zones", { name: ZONE });
    for (const name of [ZONE, ...names]) {
      const record = { type: "A", name, content: "192.0.2.1", proxied: true };
      await this.call("POST", `/zones/${id}/dns_records`, record);
    }
    await this.call("POST", `/accounts/${this.#account}/storage/buckets`, { name: BUCKET });
    return id;
  }

  async upload(name: string, script: string, withBucket = false): Promise<void> {
    const form = new FormData();
    const bucket = { type: "store_bucket", name: BINDING, bucket_name: BUCKET };
    const metadata = {
      main_module: "main.js",
      compatibility_date: COMPATIBILITY_DATE,
      bindings: withBucket ? [bucket] : [],
    };
    form.set("metadata", new Blob([JSON.stringify(metadata)], { type: "application/json" }));
    const type = "application/javascript+module";
    form.set("main.js", new Blob([script], { type }), "main.js");
    await this.call("PUT", `/accounts/${this.#account}/workers/scripts/${name}`, form);
  }

  async route(zoneId: string, pattern: string, script: string): Promise<void> {
    await this.call("POST", `/zones/${zoneId}/workers/routes`, { pattern, script });
  }

  async call<T>(method: string, path: string, body?: object): Promise<T> {
    const isForm = body instanceof FormData;
    const response = await fetch(this.#base + path, {
      method,
      headers: { ...keyHeaders, ...(!isForm && { "Content-Type": "application/json" }) },
      ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.equal(response.status, 200, `${method} ${path}: ${text}`);
    return (JSON.parse(text) as { result: T }).result;
  }
}
