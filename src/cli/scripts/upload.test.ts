/** The form that a project is uploaded in. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Bundle } from "../project/bundle.ts";
import { readProject } from "../project/project.ts";
import { runnable } from "./project-options.ts";
import { uploadForm } from "./upload.ts";

const TEXT = `
name = "shop"
compatibility_date = "2026-11-01"
compatibility_flags = ["nodejs_compat"]
[vars]
GREETING = "hello"
LIMITS = { most = 5 }
[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"
[[r2_buckets]]
binding = "OLD"
bucket_name = "old"
[[services]]
binding = "AUTH"
service = "auth"
entrypoint = "Login"
[version_metadata]
binding = "VERSION"
`;

const projectOf = (text: string) =>
  runnable(readProject({ path: "/p/selvedge.toml", text, environment: null }));
const content = (text: string) => new TextEncoder().encode(text);
const bundle: Bundle = {
  main: "index.js",
  modules: [
    { name: "index.js", type: "esm", content: content("export default {}") },
    { name: "abc-a.wasm", type: "wasm", content: content("wasm") },
    { name: "index.js.map", type: "sourcemap", content: content("{}") },
  ],
  sourceMap: "{}",
  warnings: [],
};
const metadataOf = (form: FormData) => JSON.parse(form.get("metadata") as string) as object;

test("metadata names the main module, bindings, compatibility and what stays", () => {
  const form = uploadForm(projectOf(TEXT), bundle, { message: "why", tag: undefined });
  assert.deepEqual(metadataOf(form), {
    main_module: "index.js",
    bindings: [
      { type: "plain_text", name: "GREETING", text: "hello" },
      { type: "json", name: "LIMITS", json: { most: 5 } },
      { type: "store_bucket", name: "PHOTOS", bucket_name: "photos" },
      { type: "r2_bucket", name: "OLD", bucket_name: "old" },
      { type: "service", name: "AUTH", service: "auth", entrypoint: "Login" },
      { type: "version_metadata", name: "VERSION" },
    ],
    keep_bindings: ["secret_text", "secret_key"],
    compatibility_date: "2026-11-01",
    compatibility_flags: ["nodejs_compat"],
    annotations: { "workers/message": "why" },
  });
});

test("each module is a part with its type, named as it is imported", async () => {
  const form = uploadForm(projectOf(TEXT), bundle, { message: undefined, tag: undefined });
  const parts = [...form].slice(1) as [string, File][];
  assert.deepEqual(
    parts.map(([name, file]) => [name, file.name, file.type]),
    [
      ["index.js", "index.js", "application/javascript+module"],
      ["abc-a.wasm", "abc-a.wasm", "application/wasm"],
      ["index.js.map", "index.js.map", "application/source-map"],
    ],
  );
  assert.equal(await parts[0]![1].text(), "export default {}");
});

test("the older syntax has a body part; keep_vars keeps vars, too", () => {
  const script: Bundle = {
    ...bundle,
    main: null,
    modules: [{ name: "index.js", type: "commonjs", content: content("") }],
  };
  const form = uploadForm(projectOf(`keep_vars = true\n${TEXT}`), script, {
    message: undefined,
    tag: "v1",
  });
  const metadata = metadataOf(form) as Record<string, unknown>;
  assert.equal(metadata["body_part"], "index.js");
  assert.equal("main_module" in metadata, false);
  assert.deepEqual(metadata["keep_bindings"], ["secret_text", "secret_key", "plain_text", "json"]);
  assert.deepEqual(metadata["annotations"], { "workers/tag": "v1" });
});

test("a project without a name or a date cannot be shipped", () => {
  assert.throws(() => projectOf(""), /selvedge\.toml: name: is missing/);
  assert.throws(() => projectOf('name = "a"'), /selvedge\.toml: compatibility_date: is missing/);
});
