/** What a project's sources become. */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { SourceMap } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, suite, test } from "node:test";
import { BuildFault } from "./build-fault.ts";
import { type Bundle, bundleProject, watchProject } from "./bundle.ts";
import { type Project, readProject } from "./project.ts";

let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "selvedge-bundle-"));
});
after(() => rm(folder, { recursive: true }));

const OPTIONS = { mode: "production", colour: false } as const;

async function lay(files: Readonly<Record<string, string>>, settings = ""): Promise<Project> {
  const root = await mkdtemp(join(folder, "p-"));
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, name)), { recursive: true });
    await writeFile(join(root, name), text);
  }
  const text = `main = "src/index.ts"\n${settings}`;
  return readProject({ path: join(root, "selvedge.toml"), text, environment: null });
}

const codeOf = (bundle: Bundle) => Buffer.from(bundle.modules[0]!.content).toString();
const MODULE = 'export default { fetch(): Response { return new Response("hi") } };';

test("TypeScript of several files becomes one module with a map to the sources", async () => {
  const project = await lay({
    "src/index.ts":
      'import { hello } from "./hello";\nexport default {\n  fetch(): Response { return new Response(hello()) },\n};',
    "src/hello.ts": '// Greets.\nexport function hello(): string {\n  throw new Error("no");\n}',
  });
  const bundle = await bundleProject(project, OPTIONS);
  assert.equal(bundle.main, "index.js");
  assert.deepEqual(
    bundle.modules.map(({ name, type }) => [name, type]),
    [
      ["index.js", "esm"],
      ["index.js.map", "sourcemap"],
    ],
  );
  const lines = codeOf(bundle).split("\n");
  const line = lines.findIndex((text) => text.includes("throw new Error"));
  const map = new SourceMap(JSON.parse(bundle.sourceMap!) as never);
  const { originalSource, originalLine } = map.findEntry(line, 4) as {
    originalSource: string;
    originalLine: number;
  };
  assert.deepEqual([originalSource, originalLine], ["src/hello.ts", 2]);
});

test("a script without exports is in the older syntax, and its names stay its own", async () => {
  const project = await lay({
    "src/index.ts": 'const fetch = 1;\naddEventListener("fetch", () => fetch);',
  });
  const bundle = await bundleProject(project, OPTIONS);
  assert.equal(bundle.main, null);
  assert.match(codeOf(bundle), /^\(\(\) => \{/);
});

suite("modules beside the script:", () => {
  test("text, wasm and data are named by their content, and imported so", async () => {
    const project = await lay({
      "src/index.ts": `import a from "./a.txt"; import b from "../b.wasm"; import c from "./c.wasm?module"; import d from "./d.bin";\nimport data from "./e.json";\nexport default { a, b, c, d, data };`,
      "src/a.txt": "text",
      "b.wasm": "b",
      "src/c.wasm": "c",
      "src/d.bin": "d",
      "src/e.json": '{"five":5}',
    });
    const bundle = await bundleProject(project, OPTIONS);
    const others = bundle.modules.slice(1, -1);
    assert.deepEqual(
      others.map(({ name, type }) => `${name.replace(/^[0-9a-f]{40}-/, "")} ${type}`).sort(),
      ["a.txt text", "b.wasm wasm", "c.wasm wasm", "d.bin data"],
    );
    for (const { name } of others) assert.ok(codeOf(bundle).includes(`"./${name}"`), name);
    assert.match(codeOf(bundle), /five: 5/);
  });

  test("a rule of the project adds a type of file, and ends the default ones of its kind", async () => {
    const files = {
      "src/index.ts": 'import a from "./a.md";\nexport default a;',
      "src/a.md": "# A",
      "src/b.txt": "b",
    };
    const rules = 'rules = [{ type = "Text", globs = ["**/*.md"] }]';
    const bundle = await bundleProject(await lay(files, rules), OPTIONS);
    assert.equal(bundle.modules[1]!.type, "text");
    const index = 'import a from "./b.txt";\nexport default a;';
    const project = await lay({ ...files, "src/index.ts": index }, rules);
    // Not a module any more: the bundler's own way takes it in.
    assert.equal((await bundleProject(project, OPTIONS)).modules.length, 2);
  });

  test("with no_bundle all modules go as they stand", async () => {
    const project = await lay(
      {
        "src/index.mjs": 'import "./lib/a.js";\nexport default {};',
        "src/lib/a.js": "export {};",
        "src/lib/a.txt": "t",
        "src/node_modules/x/b.js": "",
        "src/notes.md": "",
      },
      "no_bundle = true",
    );
    const bundle = await bundleProject(
      { ...project, main: join(project.folder, "src/index.mjs") },
      OPTIONS,
    );
    assert.equal(bundle.main, "index.mjs");
    assert.deepEqual(bundle.modules.map(({ name, type }) => `${name} ${type}`).sort(), [
      "index.mjs esm",
      "lib/a.js esm",
      "lib/a.txt text",
    ]);
  });
});

suite("imports of the runtime:", () => {
  test("cloudflare: and, with the flag, Node's modules stay imports", async () => {
    const index =
      'import { a } from "cloudflare:workers";\nimport { join } from "path";\nimport fs from "node:fs";\nexport default { a, join, fs };';
    const flags = 'compatibility_flags = ["nodejs_compat"]';
    const bundle = await bundleProject(await lay({ "src/index.ts": index }, flags), OPTIONS);
    assert.match(codeOf(bundle), /from "cloudflare:workers"/);
    assert.match(codeOf(bundle), /from "node:path"/);
    assert.match(codeOf(bundle), /from "node:fs"/);
    assert.deepEqual(bundle.warnings, []);
  });

  test("without the flag there is a warning with its place", async () => {
    const index = 'import fs from "node:fs";\nexport default { fs };';
    const { warnings } = await bundleProject(await lay({ "src/index.ts": index }), OPTIONS);
    assert.match(
      warnings.join(),
      /"node:fs" is there only with compatibility_flags = \["nodejs_compat"\]/,
    );
    assert.match(warnings.join(), /src\/index\.ts:1:15:/);
  });

  test("a package's condition workerd is taken first", async () => {
    const project = await lay({
      "src/index.ts": 'import { where } from "lib";\nexport default { where };',
      "node_modules/lib/package.json":
        '{"name":"lib","exports":{"workerd":"./w.js","node":"./n.js","default":"./d.js"}}',
      "node_modules/lib/w.js": 'export const where = "in workerd";',
      "node_modules/lib/d.js": 'export const where = "anywhere";',
    });
    assert.match(codeOf(await bundleProject(project, OPTIONS)), /in workerd/);
  });
});

test("a main that is not there is a fault of the project file, with its line", async () => {
  const project = await lay({});
  await assert.rejects(bundleProject(project, OPTIONS), {
    message: "selvedge.toml:1: main: there is no file src/index.ts",
    kind: "usage",
  });
});

suite("what does not build is shown with its place:", () => {
  const cases: [name: string, index: string, said: RegExp][] = [
    ["broken syntax", "export default {\n  fetch( {\n};", /src\/index\.ts:3:\d+:\n\s+3 │ \};/],
    [
      "a file that is not there",
      'import "./none";\nexport default {};',
      /Could not resolve "\.\/none"[\s\S]+src\/index\.ts:1:7/,
    ],
    [
      "a text that is not there",
      'import a from "./a.txt";\nexport default a;',
      /Could not resolve "\.\/a\.txt"/,
    ],
    [
      "a module imported in the older syntax",
      'import a from "../b.txt";\naddEventListener("fetch", () => a);',
      /src\/index\.ts exports nothing, .+ cannot import b\.txt/,
    ],
  ];
  for (const [name, index, said] of cases) {
    test(name, async () => {
      const project = await lay({ "src/index.ts": index, "b.txt": "b" });
      await assert.rejects(bundleProject(project, OPTIONS), (error: Error) => {
        assert.ok(error instanceof BuildFault);
        assert.match(error.message, said);
        return true;
      });
    });
  }

  test("no main at all", async () => {
    const project = readProject({ path: "/p/selvedge.toml", text: "", environment: null });
    await assert.rejects(
      bundleProject(project, OPTIONS),
      /^ProjectFault: selvedge\.toml: main: is missing/,
    );
  });
});

test("a watched project is built again after a change, through a fault and back", async () => {
  const project = await lay({ "src/index.ts": `import "./a.txt";\n${MODULE}`, "src/a.txt": "one" });
  const heard: (Bundle | BuildFault)[] = [];
  let wake = () => {};
  const next = async (count: number) => {
    while (heard.length < count) await new Promise<void>((resolve) => (wake = resolve));
    return heard[count - 1]!;
  };
  await using watched = await watchProject(project, OPTIONS, async (built) => {
    heard.push(built);
    wake();
  });
  const first = (await next(1)) as Bundle;
  assert.equal(first.main, "index.js");
  await writeFile(project.main!, "export default {");
  assert.ok((await next(2)) instanceof BuildFault);
  await writeFile(project.main!, `import "./a.txt";\n${MODULE.replace("hi", "again")}`);
  assert.match(codeOf((await next(3)) as Bundle), /again/);
  await writeFile(join(project.folder, "src/a.txt"), "two");
  const text = ((await next(4)) as Bundle).modules[1]!;
  assert.equal(Buffer.from(text.content).toString(), "two");
  assert.ok(watched);
});
