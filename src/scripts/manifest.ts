/** A version as its row has it: octets and secrets are named there and lie elsewhere. */
import { hash } from "node:crypto";
import { randomId } from "#kit/random.ts";
import type {
  Binding,
  BindingInfo,
  HiddenBindingType,
  ModuleInfo,
  VersionContent,
  VersionDetail,
  VersionInfo,
} from "./model.ts";

export interface Manifest {
  readonly main: string | null;
  readonly modules: readonly StoredModule[];
  readonly compatibilityDate: string;
  readonly compatibilityFlags: readonly string[];
  readonly bindings: readonly StoredBinding[];
  /** How long its first start took; versions of old have none. */
  readonly startMs?: number;
}

interface StoredModule extends ModuleInfo {
  /** The SHA-256 of what it holds. */
  readonly part: string;
}

/** `ref` names the secret, or the part. */
export type StoredBinding =
  | Exclude<Binding, { readonly type: HiddenBindingType }>
  | { readonly type: HiddenBindingType; readonly name: string; readonly ref: string };

/** What a manifest names that is not kept yet. */
export interface Fresh {
  /** By SHA-256. */
  readonly parts: Map<string, Uint8Array>;
  /** By id. */
  readonly secrets: Map<string, { readonly name: string; readonly text: string }>;
}

export interface Packed {
  readonly manifest: Manifest;
  readonly fresh: Fresh;
}

export function nothingFresh(): Fresh {
  return { parts: new Map(), secrets: new Map() };
}

/** Takes a version apart; `kept` are bindings of an earlier version, which are as they were. */
export function pack(content: VersionContent, kept: readonly StoredBinding[]): Packed {
  const fresh = nothingFresh();
  const modules = content.modules.map(({ name, type, content: octets }) => {
    return { name, type, size: octets.length, part: addPart(fresh, octets) };
  });
  const bindings = [...content.bindings.map((binding) => store(binding, fresh)), ...kept];
  const { main, compatibilityDate, compatibilityFlags } = content;
  return { manifest: { main, modules, compatibilityDate, compatibilityFlags, bindings }, fresh };
}

export function store(binding: Binding, fresh: Fresh): StoredBinding {
  const { type, name } = binding;
  switch (type) {
    case "secret": {
      const ref = randomId();
      fresh.secrets.set(ref, { name, text: binding.text });
      return { type, name, ref };
    }
    case "data":
    case "wasm":
      return { type, name, ref: addPart(fresh, binding.data) };
    default:
      return binding;
  }
}

function addPart({ parts }: Fresh, octets: Uint8Array): string {
  const part = hash("sha256", octets, "hex");
  parts.set(part, octets);
  return part;
}

/** What a manifest needs from elsewhere. */
export function partsOf({ modules, bindings }: Manifest): Set<string> {
  const files = bindings.filter(({ type }) => type === "data" || type === "wasm");
  return new Set([...modules.map(({ part }) => part), ...files.map(refOf)]);
}

export function secretsOf({ bindings }: Manifest): Set<string> {
  return new Set(bindings.filter(({ type }) => type === "secret").map(refOf));
}

function refOf(binding: StoredBinding): string {
  return "ref" in binding ? binding.ref : "";
}

/** What anyone may see of a version. */
export function detailOf(manifest: Manifest): Omit<VersionDetail, keyof VersionInfo> {
  const { main, compatibilityDate, compatibilityFlags, startMs = null } = manifest;
  const modules = manifest.modules.map(({ name, type, size }) => ({ name, type, size }));
  const bindings = manifest.bindings.map((binding): BindingInfo => {
    return "ref" in binding ? { type: binding.type, name: binding.name } : binding;
  });
  const code = manifest.modules.map(({ name, type, part }) => [name, type, part]);
  const codeHash = hash("sha256", JSON.stringify([main, code]), "hex");
  return { main, modules, compatibilityDate, compatibilityFlags, bindings, codeHash, startMs };
}
