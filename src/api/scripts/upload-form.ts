/** The form in which a script is uploaded: `metadata`, and a part for each module. */
import { z } from "zod";
import { parseJsonInput } from "#kit/json-input.ts";
import type { ModuleType, ScriptModule, Upload } from "#scripts";
import { checkShape } from "../check.ts";
import { invalidFields } from "../errors.ts";
import type { FormPart } from "../form.ts";
import { foldFields } from "../form-fields.ts";
import { bindingInput, kindsOf, readBindings } from "./bindings.ts";

/** What the original takes for scripts that name no date: the first one there was. */
const FIRST_COMPATIBILITY_DATE = "2021-11-02";

const METADATA = "metadata";
/** The part has either name; SDKs send its fields one by one. */
const METADATA_NAMES = [METADATA, "settings"];

/** Tools call a part after its module; the SDKs call all of them this, and have the name beside it. */
const NAMED_BY_FILE = /^files(?:\[.*\])?$/;

const moduleTypes: ReadonlyMap<string, ModuleType> = new Map(
  Object.entries({
    "application/javascript+module": "esm",
    "text/javascript+module": "esm",
    "application/javascript": "commonjs",
    "text/javascript": "commonjs",
    "application/wasm": "wasm",
    "text/plain": "text",
    "application/octet-stream": "data",
    "application/json": "json",
    "application/source-map": "sourcemap",
  } as const),
);

/** What there is not here may be said to be absent. */
export const noTailConsumers = z.array(z.never("tail consumers are not supported here")).nullish();
const absent = (what: string) => z.null(`${what} are not supported here`).optional();

export const settingsMetadata = z.object({
  bindings: z.array(bindingInput).optional(),
  keep_bindings: z.array(z.string()).default([]),
  compatibility_date: z.string().optional(),
  compatibility_flags: z.array(z.string()).optional(),
  tail_consumers: noTailConsumers,
});

export const annotationsInput = z
  .object({ "workers/message": z.string().nullish(), "workers/tag": z.string().nullish() })
  .nullish();

const metadata = settingsMetadata
  .extend({
    main_module: z.string().optional(),
    body_part: z.string().optional(),
    annotations: annotationsInput,
    migrations: absent("Durable Objects"),
    assets: absent("static assets"),
  })
  .refine(
    ({ main_module, body_part }) => (main_module === undefined) !== (body_part === undefined),
    {
      message: "either main_module or body_part names the part to start with",
    },
  );

/** The parts of a form; what they say is looked at when all of them are there. */
export const formBody = z.custom<readonly FormPart[]>();

export function readUpload(parts: readonly FormPart[]): Upload {
  const given = checkShape(metadata, loneScript(parts) ?? metadataOf(parts));
  const byName = partsByName(parts);
  const { compatibility_flags: compatibilityFlags = [], annotations } = given;
  const { bindings, inherit } = readBindings(given.bindings ?? [], compatibilityFlags, byName);
  const bound = (given.bindings ?? []).flatMap((one) => ("part" in one ? [one.part] : []));
  for (const part of bound) byName.delete(part);
  return {
    content: {
      main: given.main_module ?? null,
      modules: modulesOf(byName, given),
      compatibilityDate: given.compatibility_date ?? FIRST_COMPATIBILITY_DATE,
      compatibilityFlags,
      bindings,
    },
    keepBindings: kindsOf(given.keep_bindings),
    inherit,
    message: annotations?.["workers/message"] || null,
    tag: annotations?.["workers/tag"] || null,
  };
}

/** A script that was sent as it is, without a form, has nothing beside it. */
function loneScript(parts: readonly FormPart[]): object | null {
  const [script, ...others] = parts;
  if (script === undefined || script.filename !== null || others.length > 0) return null;
  const type = moduleTypes.get(script.type);
  if (type === "esm") return { main_module: script.name };
  return type === "commonjs" ? { body_part: script.name } : null;
}

export function metadataOf(parts: readonly FormPart[]): unknown {
  const found = parts.find(({ name }) => METADATA_NAMES.includes(name));
  if (found !== undefined) return parseJsonInput(found.content);
  for (const name of METADATA_NAMES) {
    const fields = foldFields(parts, name, isTyped);
    if (fields !== null) return fields;
  }
  throw invalidFields([{ pointer: "/metadata", message: "metadata is a required part." }]);
}

/** `bindings[][json]…`, and settings that are not text. */
function isTyped([field = "", , ofBinding]: readonly string[]): boolean {
  return field === "logpush" || field === "observability" || ofBinding === "json";
}

function partsByName(parts: readonly FormPart[]): Map<string, FormPart> {
  const byName = new Map<string, FormPart>();
  for (const part of parts) {
    if (part.name === METADATA || part.name.startsWith(`${METADATA}[`)) continue;
    const name = NAMED_BY_FILE.test(part.name) ? (part.filename ?? part.name) : part.name;
    if (byName.has(name)) throw badPart(name, "there are two parts of this name");
    byName.set(name, part);
  }
  return byName;
}

function modulesOf(
  parts: ReadonlyMap<string, FormPart>,
  { main_module, body_part }: z.output<typeof metadata>,
): ScriptModule[] {
  const main = main_module ?? body_part!;
  if (!parts.has(main))
    throw badPart(main, "the form has no such part, which the script starts with");
  return [...parts].map(([name, { type, content }]) => ({
    name,
    type: name === body_part ? "commonjs" : moduleType(name, type),
    content,
  }));
}

/** A plain field has no type: its name tells, as with tools that send modules as text. */
function moduleType(name: string, type: string): ModuleType {
  const known = moduleTypes.get(type);
  if (known !== undefined) return known;
  if (type === "" && /\.m?js$/.test(name)) return "esm";
  throw badPart(name, `its type "${type}" is none of a module`);
}

function badPart(name: string, what: string) {
  return invalidFields([{ pointer: "/", message: `${name}: ${what}` }]);
}
