import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { scriptOf } from "../../../test/support/script-runtime.ts";
import { text } from "./capnp-text.ts";
import { compatibilityOf, EXPERIMENTAL_FLAGS, NEWEST_DATE } from "./compatibility.ts";
import { type ProcessPlan, workerdConfig } from "./workerd-config.ts";

function planOf(...scripts: ProcessPlan["members"][number]["script"][]): ProcessPlan {
  const members = scripts.map((script, i) => ({ script, storeToken: `token-${i}` }));
  return {
    members: members as unknown as ProcessPlan["members"],
    httpSocket: "/run/1.http",
    controlSocket: "/run/1.ctl",
    storeSocket: "/run/store",
    tailSocket: "/run/tail",
    tailToken: "tail-token",
    absent: new Set<string>(),
    tailed: new Set(),
    bindingModule: "binding",
    controlModule: "control",
    memoryMib: 128,
    outbound: [],
    takesLent: false,
  };
}

suite("the configuration", () => {
  test("holds no text of a script but escaped, and none of its files' names", () => {
    const hostile = 'x"; }, (name = "evil\\", \n\0 ../../etc/passwd é';
    const script = {
      ...scriptOf("main", "code", {
        modules: [{ name: hostile, type: "text", content: Buffer.from(hostile) }],
        bindings: [
          { type: "text", name: hostile, text: hostile },
          { type: "json", name: "J", json: { [hostile]: hostile } },
          { type: "service", name: "S", service: hostile, entrypoint: hostile },
          { type: "bucket", name: "B", bucketName: hostile, keepsDelimiter: false },
        ],
      }),
      tag: hostile,
    };
    const { text: config, files } = workerdConfig(planOf(script));
    const withoutText = config.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""');
    assert.doesNotMatch(withoutText, /evil|passwd|\\/);
    assert.match(withoutText, /^[\x20-\x7e\n]*$/);
    assert.equal(config.split("\n").length, 3);
    for (const name of files.keys()) assert.match(name, /^file-\d+$/);
  });

  test("gives each script of a process a store door with its own token", () => {
    const bindings = [{ type: "service", name: "S", service: "b", entrypoint: null }] as const;
    const bound = [
      { type: "bucket", name: "B", bucketName: "things", keepsDelimiter: true },
    ] as const;
    const { text: config } = workerdConfig(
      planOf(scriptOf("a", "", { bindings }), scriptOf("b", "", { bindings: bound })),
    );
    assert.match(
      config,
      /name = "store 1", external = \(address = "unix:\/run\/store", .*Bearer token-1"/,
    );
    assert.match(config, /innerBindings = \[\(name = "store", service = "store 1"\)/);
    assert.match(config, /\(name = "S", service = \(name = "script b"\)\)/);
  });

  test("lets the main module come first, whatever the order of the upload", () => {
    const script = scriptOf("a", "", {
      modules: [{ name: "a.js", type: "esm", content: Buffer.from("") }],
    });
    const { text: config } = workerdConfig(planOf({ ...script, main: "a.js" }));
    assert.match(config, /modules = \[\(name = "a\.js".*\(name = "index\.js"/);
  });
});

suite("the entrypoint for the edge", () => {
  const bindings = [
    { type: "bucket", name: "B", bucketName: "things", keepsDelimiter: true },
  ] as const;
  const configOf = (script: ReturnType<typeof scriptOf>, takesLent = true) =>
    workerdConfig({ ...planOf(script), takesLent });

  test("stands before a script with buckets, and exports all that it does", () => {
    const { text: config, files } = configOf(scriptOf("a", "code", { bindings }));
    assert.match(config, /name = "http".*service = \(name = "main", entrypoint = "selvedgeEdge"\)/);
    assert.match(config, /modules = \[\(name = "selvedge-edge\.js".*\(name = "index\.js"/);
    const sources = [...files.values()].map((octets) => Buffer.from(octets).toString());
    assert.ok(sources.some((source) => source.includes('export * from "./index.js"')));
  });

  test("is not there for others, nor where nobody knows what to do with its answers", () => {
    const named = (name: string) => {
      const module = { name, type: "esm", content: Buffer.from("") } as const;
      return { ...scriptOf("a", "", { bindings, modules: [module] }), main: name };
    };
    const plain = scriptOf("a", "");
    const script = scriptOf("a", "", { bindings });
    for (const { text: config } of [
      configOf(plain),
      configOf(script, false),
      configOf(named('x"; import "y')),
      configOf(named("a/../../b.js")),
    ]) {
      assert.match(config, /name = "http".*service = "main"\)/);
    }
  });
});

test("text is escaped octet by octet", () => {
  assert.equal(text('a"\\\n\0é').capnp, String.raw`"a\"\\\x0a\x00\xc3\xa9"`);
});

suite("compatibility", () => {
  const cases: [date: string, flags: string[], expected: object][] = [
    ["2022-08-03", [], { honorsInclude: false, keepsDelimiter: false, showsAbsent: false }],
    ["2022-08-04", [], { honorsInclude: true, keepsDelimiter: false, showsAbsent: false }],
    [
      "2022-01-01",
      ["store_list_honor_include", "store_list_prefix_keeps_delimiter"],
      { honorsInclude: true, keepsDelimiter: true, showsAbsent: false },
    ],
    ["2025-12-03", [], { honorsInclude: true, keepsDelimiter: false, showsAbsent: true }],
    [
      "2025-12-03",
      ["disable_fast_jsg_struct"],
      { honorsInclude: true, keepsDelimiter: false, showsAbsent: false },
    ],
  ];
  test("decides what buckets do; flags of ours do not reach workerd", () => {
    for (const [date, flags, expected] of cases) {
      const { buckets, flags: handed } = compatibilityOf(scriptOf("a", "", { date, flags }));
      assert.deepEqual(buckets, expected, date);
      assert.ok(!handed.some((flag) => flag.startsWith("store_")));
    }
  });

  test("gives scripts of a later date the newest that there is", () => {
    assert.equal(compatibilityOf(scriptOf("a", "", { date: "2099-01-01" })).date, NEWEST_DATE);
  });

  test("refuses flags that are experimental", () => {
    for (const flag of EXPERIMENTAL_FLAGS) {
      assert.throws(() => compatibilityOf(scriptOf("a", "", { flags: [flag] })), {
        kind: "does-not-start",
      });
    }
  });
});
