/** Bindings in the API's spelling: what an upload names them, and how a version shows them. */
import { z } from "zod";
import type { Binding, BindingInfo } from "#scripts";
import { invalidFields } from "../errors.ts";
import type { FormPart } from "../form.ts";

/** Makes list prefixes of `store_bucket` bindings end in the delimiter. */
const KEEPS_DELIMITER_FLAG = "store_list_prefix_keeps_delimiter";

const name = z.string().min(1);
const part = z.string();

const known = z.discriminatedUnion("type", [
  z.object({ type: z.literal("plain_text"), name, text: z.string() }),
  z.object({ type: z.literal("json"), name, json: z.json() }),
  z.object({ type: z.literal("secret_text"), name, text: z.string() }),
  z.object({ type: z.literal("r2_bucket"), name, bucket_name: z.string() }),
  z.object({ type: z.literal("store_bucket"), name, bucket_name: z.string() }),
  z.object({
    type: z.literal("service"),
    name,
    service: z.string(),
    entrypoint: z.string().nullish(),
    props: z.undefined("props of a service binding are not supported here").optional(),
  }),
  z.object({ type: z.literal("wasm_module"), name, part }),
  z.object({ type: z.literal("data_blob"), name, part }),
  z.object({ type: z.literal("text_blob"), name, part }),
  z.object({ type: z.literal("version_metadata"), name }),
  z.object({
    type: z.literal("inherit"),
    name,
    old_name: z.undefined("a binding keeps its name here").optional(),
    version_id: z.undefined("bindings come from the latest version here").optional(),
  }),
]);

type BindingInput = z.output<typeof known>;
const types: ReadonlySet<string> = new Set(known.options.map(({ shape }) => shape.type.value));

export const bindingInput = z
  .looseObject({ name, type: z.string() })
  .superRefine(({ name, type }, context) => {
    if (types.has(type)) return;
    const message = `the binding ${name} is of the type ${type}, which there is not here`;
    context.addIssue({ code: "custom", message, path: ["type"] });
  })
  .pipe(known);

/** The type in the API's spelling, and in the core's. */
const kinds: ReadonlyMap<string, Binding["type"]> = new Map(
  Object.entries({
    plain_text: "text",
    text_blob: "text",
    json: "json",
    secret_text: "secret",
    secret_key: "secret",
    r2_bucket: "bucket",
    store_bucket: "bucket",
    service: "service",
    wasm_module: "wasm",
    data_blob: "data",
    version_metadata: "version",
  } as const),
);

/** Types that there are not here have nothing to keep. */
export function kindsOf(names: readonly string[]): Set<Binding["type"]> {
  return new Set(names.flatMap((name) => kinds.get(name) ?? []));
}

export interface GivenBindings {
  readonly bindings: Binding[];
  /** Names of those that stay as they are. */
  readonly inherit: string[];
}

/** What a binding is read with. */
interface Around {
  /** Whether list prefixes of `store_bucket` bindings end in the delimiter. */
  readonly keepsDelimiter: boolean;
  readonly contentOf: (part: string) => Uint8Array;
}

const readers: {
  readonly [T in BindingInput["type"]]: (
    input: Extract<BindingInput, { type: T }>,
    around: Around,
  ) => Binding | null;
} = {
  plain_text: ({ name, text }) => ({ type: "text", name, text }),
  json: ({ name, json }) => ({ type: "json", name, json }),
  secret_text: ({ name, text }) => ({ type: "secret", name, text }),
  // Scripts that say so were written for the original.
  r2_bucket: ({ name, bucket_name: bucketName }) => ({
    type: "bucket",
    name,
    bucketName,
    keepsDelimiter: true,
  }),
  store_bucket: ({ name, bucket_name: bucketName }, { keepsDelimiter }) => ({
    type: "bucket",
    name,
    bucketName,
    keepsDelimiter,
  }),
  service: ({ name, service, entrypoint = null }) => ({
    type: "service",
    name,
    service,
    entrypoint,
  }),
  wasm_module: ({ name, part }, { contentOf }) => ({ type: "wasm", name, data: contentOf(part) }),
  data_blob: ({ name, part }, { contentOf }) => ({ type: "data", name, data: contentOf(part) }),
  text_blob: ({ name, part }, { contentOf }) => ({
    type: "text",
    name,
    text: new TextDecoder().decode(contentOf(part)),
  }),
  version_metadata: ({ name }) => ({ type: "version", name }),
  inherit: () => null,
};

export function readBindings(
  given: readonly BindingInput[],
  compatibilityFlags: readonly string[],
  parts: ReadonlyMap<string, FormPart>,
): GivenBindings {
  const keepsDelimiter = compatibilityFlags.includes(KEEPS_DELIMITER_FLAG);
  const bindings: Binding[] = [];
  const inherit: string[] = [];
  for (const [index, input] of given.entries()) {
    const contentOf = (part: string) => partNamed(part, index, parts);
    const read = readers[input.type] as (input: BindingInput, around: Around) => Binding | null;
    const binding = read(input, { keepsDelimiter, contentOf });
    if (binding === null) inherit.push(input.name);
    else bindings.push(binding);
  }
  return { bindings, inherit };
}

function partNamed(part: string, index: number, parts: ReadonlyMap<string, FormPart>): Uint8Array {
  const found = parts.get(part);
  if (found !== undefined) return found.content;
  const message = `bindings.${index}.part: the form has no part "${part}"`;
  throw invalidFields([{ pointer: `/bindings/${index}/part`, message }]);
}

type Shown<T extends BindingInfo["type"]> = Extract<BindingInfo, { type: T }>;

const shown: { readonly [T in BindingInfo["type"]]: (binding: Shown<T>) => object } = {
  text: ({ text }) => ({ type: "plain_text", text }),
  json: ({ json }) => ({ type: "json", json }),
  secret: () => ({ type: "secret_text" }),
  bucket: ({ bucketName, keepsDelimiter }) => ({
    type: keepsDelimiter ? "r2_bucket" : "store_bucket",
    bucket_name: bucketName,
  }),
  service: ({ service, entrypoint }) => ({
    type: "service",
    service,
    environment: "production",
    ...(entrypoint !== null && { entrypoint }),
  }),
  data: ({ name }) => ({ type: "data_blob", part: name }),
  wasm: ({ name }) => ({ type: "wasm_module", part: name }),
  version: () => ({ type: "version_metadata" }),
};

export function showBinding(binding: BindingInfo): object {
  const show = shown[binding.type] as (binding: BindingInfo) => object;
  return { name: binding.name, ...show(binding) };
}
