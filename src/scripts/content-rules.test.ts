import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { checkBindingNames, checkContent, checkScriptName } from "./content-rules.ts";
import type { Binding, ScriptModule, VersionContent } from "./model.ts";
import { content, is, octets } from "./scripts.contract.ts";

const rules = {
  scriptBytes: 1_000,
  today: "2026-11-15",
};
const module = (name: string, type: ScriptModule["type"] = "esm"): ScriptModule => {
  return { name, type, content: octets("x") };
};
const text = (name: string, value = ""): Binding => ({ type: "text", name, text: value });

test("a script's name is a label of a-z, 0-9, - and _, without - at its start", () => {
  for (const name of ["a", "_a", "0", "a-b_c", "a-", "x".repeat(63)]) checkScriptName(name);
  for (const name of ["", "-a", "A", "a.b", "a b", "ä", "a\n", "x".repeat(64)]) {
    assert.throws(() => checkScriptName(name), is("invalid", /is no script name/), name);
  }
});

suite("a version is refused with its field named:", () => {
  const cases: [name: string, wrong: Partial<VersionContent>, says: RegExp][] = [
    ["no modules", { modules: [] }, /^main_module: there is no module "index.js"/],
    ["main among none", { main: "b.js" }, /^main_module: there is no module "b.js"/],
    [
      "main that is text",
      { main: "a", modules: [module("a", "text")] },
      /^main_module: "a" is not JavaScript, but text/,
    ],
    ["a name twice", { modules: [module("a"), module("a")] }, /^modules\[1\]\.name: .*two/],
    ["an empty name", { modules: [module("a"), module("")] }, /^modules\[1\]\.name: ""/],
    ["NUL in a name", { modules: [module("a\0b")] }, /^modules\[0\]\.name/],
    [
      "two files in service-worker syntax",
      { main: null, modules: [module("a"), module("b", "wasm")] },
      /^body_part: .*"b" must be a binding/,
    ],
    ["no file in service-worker syntax", { main: null, modules: [] }, /at least one module/],
    ["no date", { compatibilityDate: "" }, /^compatibility_date: "" is no date/],
    ["no such day", { compatibilityDate: "2026-02-30" }, /^compatibility_date/],
    ["a time", { compatibilityDate: "2026-01-01T00:00" }, /^compatibility_date/],
    ["a dash of print", { compatibilityDate: "2026–01–01" }, /^compatibility_date/],
    ["tomorrow", { compatibilityDate: "2026-11-16" }, /"2026-11-16" is in the future/],
    ["a flag with a quote", { compatibilityFlags: ["ok", 'a"b'] }, /^compatibility_flags\[1\]/],
    ["a name with a hyphen", { bindings: [text("a-b")] }, /^bindings\[0\]\.name: "a-b"/],
    ["a reserved word", { bindings: [text("A"), text("class")] }, /^bindings\[1\]\.name: "class"/],
    ["a digit at the start", { bindings: [text("1a")] }, /^bindings\[0\]\.name/],
    [
      "JSON that is none",
      { bindings: [{ type: "json", name: "J", json: undefined }] },
      /^bindings\[0\]\.json/,
    ],
    [
      "an empty bucket",
      { bindings: [{ type: "bucket", name: "B", bucketName: "", keepsDelimiter: false }] },
      /^bindings\[0\]\.bucket_name/,
    ],
    [
      "an entrypoint that is no name",
      { bindings: [{ type: "service", name: "S", service: "s", entrypoint: "a b" }] },
      /^bindings\[0\]\.entrypoint/,
    ],
  ];
  for (const [name, wrong, says] of cases) {
    test(name, () => {
      const given = { ...content("x"), ...wrong };
      assert.throws(() => checkContent(given, rules), is("invalid", says));
    });
  }
});

test("what is too large is told apart from what is wrong", () => {
  const data: Binding = { type: "data", name: "D", data: new Uint8Array(600) };
  checkContent(content("x".repeat(400), [data]), rules);
  const given = content("x".repeat(401), [data]);
  assert.throws(() => checkContent(given, rules), is("too-large", /1001 bytes; 1000/));
  const long = content("", [text("T", "ä".repeat(40_000))]);
  assert.throws(() => checkContent(long, rules), is("too-large", /^bindings\[0\]\.text: .*80000/));
});

test("names that JavaScript allows are taken, each once", () => {
  const names = ["a", "_", "$", "A1", "ünïcode", "of", "async"];
  checkContent(
    content(
      "",
      names.map((name) => text(name)),
    ),
    rules,
  );
  checkBindingNames(names.map((name) => text(name)));
  const twice = [text("A"), { type: "version", name: "A" } as const];
  assert.throws(() => checkBindingNames(twice), is("invalid", /^bindings\[1\]\.name: .*two/));
  const many = Array.from({ length: 129 }, (_, i) => text(`A${i}`));
  assert.throws(() => checkBindingNames(many), is("too-large", /128/));
});

test("a script in service-worker syntax is one file, and may have its source map", () => {
  const modules = [module("script.js"), module("script.js.map", "sourcemap")];
  checkContent({ ...content(""), main: null, modules }, rules);
});
