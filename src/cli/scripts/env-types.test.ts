/** What `selvedge types` writes, and that the ambient types are all of the bucket's. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { readProject } from "../project/project.ts";
import { envDeclaration, envFile } from "./env-types.ts";

const projectOf = (text: string) =>
  readProject({ path: "/p/selvedge.toml", text, environment: null });

test("every binding has its member", () => {
  const project = projectOf(`
[vars]
GREETING = "hello"
COUNT = 5
"odd-name" = true
LIMITS = { most = 5, "per day" = [1, 2], mixed = [1, "a"], none = [], deep = { a = "b" } }
OVERRIDDEN = { a = 1 }
[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"
[[services]]
binding = "AUTH"
service = "auth"
[version_metadata]
binding = "VERSION"
`);
  const expected = `interface Env {
  GREETING: string;
  COUNT: number;
  "odd-name": boolean;
  LIMITS: {
    most: number;
    "per day": number[];
    mixed: (number | string)[];
    none: unknown[];
    deep: {
      a: string;
    };
  };
  API_KEY: string;
  OVERRIDDEN: string;
  PHOTOS: StoreBucket;
  AUTH: Fetcher;
  VERSION: VersionMetadata;
}`;
  assert.equal(envDeclaration(project, ["API_KEY", "OVERRIDDEN"]), expected);
});

test("a project that binds nothing has an empty Env", () => {
  assert.equal(envDeclaration(projectOf(""), []), "interface Env {}");
});

test("the file stands by itself: it names no other", async () => {
  const file = await envFile(projectOf(""), []);
  assert.match(file, /^\/\/ Written by "selvedge types"/);
  assert.match(file, /^interface StoreBucket \{$/m);
  assert.match(file, /^interface ExportedHandler</m);
  assert.doesNotMatch(file, /import\(|<reference|^export |oxlint/m);
});

test("every type of the bucket's is an ambient type, too", () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), "utf8");
  const types = read("../../binding/types.ts").matchAll(/^export (?:interface|type) (\w+)/gm);
  const ambient = read("../../../types/script.d.ts");
  for (const [, name] of types) {
    const alias = `type ${name} = import("../src/binding/types.ts").${name};`;
    assert.ok(ambient.includes(alias), `types/script.d.ts lacks: ${alias}`);
  }
});
