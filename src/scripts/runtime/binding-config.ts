/** What stands on a script's `env`, in workerd's configuration. */
import type { Binding, RunnableScript } from "../model.ts";
import { type CapnpText, list, struct, text } from "./capnp-text.ts";
import type { BucketCompatibility } from "./compatibility.ts";
import type { Files } from "./config-files.ts";

/** Names of the module of buckets, and of the service that is the platform's own worker. */
export const BINDING_MODULE = "selvedge-internal:store";
/** The one module of ours that a script's own can import: it has `atEdge` of the other. */
export const EDGE_MODULE = "selvedge:edge";
export const CONTROL = "control";

interface BindingContext {
  readonly script: RunnableScript;
  readonly files: Files;
  /** Services by the names of the scripts that they are. */
  readonly serviceNames: ReadonlyMap<string, string>;
  /** Keys of entrypoints that are not there. */
  readonly absent: ReadonlySet<string>;
  /** Name of the service through which the script reaches its buckets. */
  readonly store: string;
  readonly buckets: BucketCompatibility;
}

type BindingOf<T extends Binding["type"]> = Extract<Binding, { type: T }>;
type Value = Record<string, CapnpText>;

/** A service's entrypoint in one word. */
export function entrypointKey(service: string, entrypoint: string): string {
  return `${service} ${entrypoint}`;
}

export function bindingConfig(binding: Binding, context: BindingContext): CapnpText {
  const value = values[binding.type] as (binding: Binding, context: BindingContext) => Value;
  return struct({ name: text(binding.name), ...value(binding, context) });
}

/** An entrypoint of the platform's worker, which finds the props in its context. */
export function controlEntry(entrypoint: string, props: object): CapnpText {
  return struct({
    name: text(CONTROL),
    entrypoint: text(entrypoint),
    props: struct({ json: json(props) }),
  });
}

const values: {
  readonly [T in Binding["type"]]: (binding: BindingOf<T>, context: BindingContext) => Value;
} = {
  text: (binding) => ({ text: text(binding.text) }),
  secret: (binding) => ({ text: text(binding.text) }),
  json: (binding) => ({ json: json(binding.json) }),
  data: ({ data }, { files }) => ({ data: files.add(data) }),
  wasm: ({ data }, { files }) => ({ wasmModule: files.add(data) }),
  version: (_, { script: { versionId, tag, versionCreatedAt } }) => {
    const timestamp = new Date(versionCreatedAt).toISOString();
    return { json: json({ id: versionId, tag: tag ?? "", timestamp }) };
  },
  service: ({ service, entrypoint }, { serviceNames, absent }) => {
    const name = serviceNames.get(service);
    const what = `script "${service}"`;
    if (name === undefined) return { service: controlEntry("Missing", { what }) };
    if (entrypoint === null) return { service: struct({ name: text(name) }) };
    if (absent.has(entrypointKey(name, entrypoint))) {
      const entry = `entrypoint "${entrypoint}" of the ${what}`;
      return { service: controlEntry("Missing", { what: entry }) };
    }
    return { service: struct({ name: text(name), entrypoint: text(entrypoint) }) };
  },
  bucket: ({ bucketName, keepsDelimiter }, { store, buckets }) => {
    const compatibility = { ...buckets, keepsDelimiter: keepsDelimiter || buckets.keepsDelimiter };
    const innerBindings = list([
      struct({ name: text("store"), service: text(store) }),
      struct({ name: text("bucketName"), text: text(bucketName) }),
      struct({ name: text("compatibility"), json: json(compatibility) }),
    ]);
    return { wrapped: struct({ moduleName: text(BINDING_MODULE), innerBindings }) };
  },
};

function json(value: unknown): CapnpText {
  return text(JSON.stringify(value));
}
