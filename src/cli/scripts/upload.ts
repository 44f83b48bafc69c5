/** A built project as the form that the management API takes. */
import type { ModuleType } from "#scripts";
import type { Bundle } from "../project/bundle.ts";
import type { Project } from "../project/project.ts";
import type { RunnableProject } from "./project-options.ts";

/** A binding in the API's spelling. */
export interface ApiBinding {
  readonly type: string;
  readonly name: string;
  readonly [key: string]: unknown;
}

const MODULE_TYPES = {
  esm: "application/javascript+module",
  commonjs: "application/javascript",
  text: "text/plain",
  data: "application/octet-stream",
  wasm: "application/wasm",
  json: "application/json",
  sourcemap: "application/source-map",
} as const satisfies Record<ModuleType, string>;

export interface UploadNotes {
  readonly message: string | undefined;
  readonly tag: string | undefined;
}

export function uploadForm(project: RunnableProject, bundle: Bundle, notes: UploadNotes): FormData {
  const form = new FormData();
  form.set("metadata", JSON.stringify(metadataOf(project, bundle, notes)));
  for (const { name, type, content } of bundle.modules) {
    const part = new Blob([content as Uint8Array<ArrayBuffer>], { type: MODULE_TYPES[type] });
    form.set(name, part, name);
  }
  return form;
}

function metadataOf(project: RunnableProject, bundle: Bundle, { message, tag }: UploadNotes) {
  const kept = ["secret_text", "secret_key", ...(project.keepsVars ? ["plain_text", "json"] : [])];
  return {
    ...(bundle.main === null
      ? { body_part: bundle.modules[0]!.name }
      : { main_module: bundle.main }),
    bindings: bindingsOf(project),
    keep_bindings: kept,
    compatibility_date: project.compatibilityDate,
    compatibility_flags: project.compatibilityFlags,
    annotations: {
      ...(message !== undefined && { "workers/message": message }),
      ...(tag !== undefined && { "workers/tag": tag }),
    },
  };
}

export function bindingsOf(project: Project): ApiBinding[] {
  return [
    ...Object.entries(project.vars).map(([name, value]): ApiBinding =>
      typeof value === "string"
        ? { type: "plain_text", name, text: value }
        : { type: "json", name, json: value },
    ),
    ...project.buckets.map(({ binding, bucketName, keepsDelimiter }) => ({
      // Which of the two it is decides how lists give their prefixes.
      type: keepsDelimiter ? "r2_bucket" : "store_bucket",
      name: binding,
      bucket_name: bucketName,
    })),
    ...project.services.map(({ binding, service, entrypoint }) => ({
      type: "service",
      name: binding,
      service,
      ...(entrypoint !== null && { entrypoint }),
    })),
    ...(project.versionBinding === null
      ? []
      : [{ type: "version_metadata", name: project.versionBinding }]),
  ];
}
