import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../errors.ts";
import { boundaryOf, type FormPart, formParts } from "../form.ts";
import { readUpload } from "./upload-form.ts";

const CODE = "export default { fetch() {} }";

/** What a form with these files is after its way through HTTP. */
async function partsOf(
  metadata: object | null,
  files: Readonly<
    Record<string, readonly [type: string, content: string | Uint8Array<ArrayBuffer>]>
  >,
): Promise<FormPart[]> {
  const form = new FormData();
  if (metadata !== null) form.set("metadata", JSON.stringify(metadata));
  for (const [name, [type, content]] of Object.entries(files)) {
    form.set(name, new File([content], name, { type }));
  }
  const whole = new Response(form);
  const boundary = boundaryOf(whole.headers.get("content-type")!);
  return formParts(Buffer.from(await whole.arrayBuffer()), boundary);
}

const main = { "index.js": ["application/javascript+module", CODE] } as const;

async function refused(metadata: object | null, files: Parameters<typeof partsOf>[1] = main) {
  const parts = await partsOf(metadata, files);
  try {
    readUpload(parts);
  } catch (error) {
    assert.ok(error instanceof ApiError, String(error));
    assert.equal(error.status, 400);
    return error.errors.map(({ message }) => message);
  }
  return assert.fail("it was taken");
}

test("a module is what the content type of its part says", async () => {
  const octets = Uint8Array.of(0, 0x61, 0xff, 13, 10);
  const parts = await partsOf(
    { main_module: "index.js", compatibility_date: "2026-01-01", compatibility_flags: ["a"] },
    {
      ...main,
      "./hash-a.txt": ["text/plain; charset=utf-8", "text"],
      "./hash-b.wasm": ["application/wasm", octets],
      "c.bin": ["application/octet-stream", octets],
      "d.json": ["application/json", "{}"],
      "e.cjs": ["application/javascript", "module.exports = 1"],
      "index.js.map": ["application/source-map", "{}"],
    },
  );
  const { content } = readUpload(parts);
  assert.deepEqual(
    content.modules.map(({ name, type }) => [name, type]),
    [
      ["index.js", "esm"],
      ["./hash-a.txt", "text"],
      ["./hash-b.wasm", "wasm"],
      ["c.bin", "data"],
      ["d.json", "json"],
      ["e.cjs", "commonjs"],
      ["index.js.map", "sourcemap"],
    ],
  );
  assert.deepEqual(Buffer.from(content.modules[2]!.content), Buffer.from(octets));
  assert.equal(content.main, "index.js");
  assert.deepEqual([content.compatibilityDate, content.compatibilityFlags], ["2026-01-01", ["a"]]);
});

test("metadata may come field by field, and modules by their file names, as SDKs send them", () => {
  const field = (name: string, text: string) => ({
    name,
    filename: null,
    type: "",
    content: Buffer.from(text),
  });
  const { content, message } = readUpload([
    field("metadata[main_module]", "index.js"),
    field("metadata[bindings][][type]", "json"),
    field("metadata[bindings][][name]", "J"),
    field("metadata[bindings][][json][most]", "5"),
    field("metadata[bindings][][type]", "plain_text"),
    field("metadata[bindings][][name]", "T"),
    field("metadata[bindings][][text]", "5"),
    field("metadata[annotations][workers/message]", "why"),
    field("metadata[logpush]", "false"),
    {
      name: "files[]",
      filename: "index.js",
      type: "application/javascript+module",
      content: Buffer.from(CODE),
    },
  ]);
  assert.deepEqual(
    content.modules.map(({ name, type }) => [name, type]),
    [["index.js", "esm"]],
  );
  assert.deepEqual(content.bindings, [
    { type: "json", name: "J", json: { most: 5 } },
    { type: "text", name: "T", text: "5" },
  ]);
  assert.equal(message, "why");
});

test("a script alone starts with itself", () => {
  const alone = (name: string, type: string) =>
    readUpload([{ name, filename: null, type, content: Buffer.from(CODE) }]).content;
  assert.equal(alone("script", "application/javascript").main, null);
  assert.equal(alone("worker.js", "application/javascript+module").main, "worker.js");
});

test("a script without a date has the first there was", async () => {
  const { content } = readUpload(await partsOf({ main_module: "index.js" }, main));
  assert.equal(content.compatibilityDate, "2021-11-02");
});

test("bindings are read, and parts that they name are no modules", async () => {
  const bindings = [
    { type: "plain_text", name: "TEXT", text: "t" },
    { type: "json", name: "JSON", json: { a: [1, null] } },
    { type: "secret_text", name: "SECRET", text: "s" },
    { type: "r2_bucket", name: "R2", bucket_name: "one", jurisdiction: "default" },
    { type: "store_bucket", name: "STORE", bucket_name: "two" },
    { type: "service", name: "OTHER", service: "other", environment: "production" },
    { type: "service", name: "NAMED", service: "other", entrypoint: "Api" },
    { type: "wasm_module", name: "WASM", part: "w" },
    { type: "data_blob", name: "DATA", part: "d" },
    { type: "text_blob", name: "LONG", part: "l" },
    { type: "version_metadata", name: "VERSION" },
    { type: "inherit", name: "KEPT" },
  ];
  const parts = await partsOf(
    {
      body_part: "script",
      bindings,
      keep_bindings: ["secret_text", "secret_key", "kv_namespace", "constructor"],
    },
    {
      script: ["application/javascript", "addEventListener('fetch', () => {})"],
      w: ["application/wasm", "w"],
      d: ["application/octet-stream", "d"],
      l: ["text/plain", "é"],
    },
  );
  const { content, inherit, keepBindings } = readUpload(parts);
  const octets = (text: string) => new Uint8Array(Buffer.from(text));
  assert.deepEqual(content.bindings, [
    { type: "text", name: "TEXT", text: "t" },
    { type: "json", name: "JSON", json: { a: [1, null] } },
    { type: "secret", name: "SECRET", text: "s" },
    { type: "bucket", name: "R2", bucketName: "one", keepsDelimiter: true },
    { type: "bucket", name: "STORE", bucketName: "two", keepsDelimiter: false },
    { type: "service", name: "OTHER", service: "other", entrypoint: null },
    { type: "service", name: "NAMED", service: "other", entrypoint: "Api" },
    { type: "wasm", name: "WASM", data: octets("w") },
    { type: "data", name: "DATA", data: octets("d") },
    { type: "text", name: "LONG", text: "é" },
    { type: "version", name: "VERSION" },
  ]);
  assert.deepEqual([inherit, keepBindings], [["KEPT"], new Set(["secret"])]);
  assert.equal(content.main, null);
  assert.deepEqual(
    content.modules.map(({ name }) => name),
    ["script"],
  );
});

test("a flag gives store buckets the delimiters of the original", async () => {
  const metadata = {
    main_module: "index.js",
    bindings: [{ type: "store_bucket", name: "B", bucket_name: "two" }],
    compatibility_flags: ["store_list_prefix_keeps_delimiter"],
  };
  const [binding] = readUpload(await partsOf(metadata, main)).content.bindings;
  assert.ok(binding?.type === "bucket" && binding.keepsDelimiter);
});

test("message and tag come from the annotations, and empty ones are none", async () => {
  const annotations = { "workers/message": "why", "workers/tag": "" };
  const { message, tag } = readUpload(
    await partsOf({ main_module: "index.js", annotations }, main),
  );
  assert.deepEqual([message, tag], ["why", null]);
});

test("what there is not here is refused by its name", async () => {
  const bound = (binding: object) => ({ main_module: "index.js", bindings: [binding] });
  for (const type of [
    "kv_namespace",
    "d1",
    "queue",
    "durable_object_namespace",
    "ai",
    "__proto__",
  ]) {
    const [message] = await refused(bound({ type, name: "THING" }));
    assert.match(message!, new RegExp(`the binding THING is of the type ${type}`));
  }
  const [props] = await refused(bound({ type: "service", name: "S", service: "s", props: {} }));
  assert.match(props!, /props/);
  assert.match(
    (await refused({ main_module: "index.js", assets: { jwt: "x" } }))[0]!,
    /static assets/,
  );
  const migrations = { new_tag: "v1" };
  assert.match((await refused({ main_module: "index.js", migrations }))[0]!, /Durable Objects/);
});

test("a bad form is refused with what is wrong with it", async () => {
  assert.match((await refused(null))[0]!, /metadata is a required part/);
  assert.match((await refused({}))[0]!, /either main_module or body_part/);
  assert.match((await refused({ main_module: "index.js", body_part: "x" }))[0]!, /either/);
  assert.match(
    (await refused({ main_module: "other.js" }))[0]!,
    /other\.js: the form has no such part/,
  );
  const bound = { type: "wasm_module", name: "W", part: "w" };
  const [message] = await refused({ main_module: "index.js", bindings: [bound] });
  assert.match(message!, /bindings\.0\.part: the form has no part "w"/);
  for (const type of ["text/x-python", "constructor", "__proto__"]) {
    const files = { ...main, "a.py": [type, "x"] } as const;
    assert.deepEqual(await refused({ main_module: "index.js" }, files), [
      `a.py: its type "${type}" is none of a module`,
    ]);
  }
});
