/** What a project file may say, and how its faults are told. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { ProjectFault } from "./document.ts";
import { type Project, readProject } from "./project.ts";

function read(text: string, environment: string | null = null, path = "/p/selvedge.toml"): Project {
  return readProject({ path, text, environment });
}

function faultOf(text: string, environment: string | null = null, path?: string): string {
  try {
    read(text, environment, path);
  } catch (error) {
    assert.ok(error instanceof ProjectFault, String(error));
    return error.message;
  }
  return assert.fail("no fault");
}

const WHOLE = `
name = "shop"
main = "src/index.ts"
compatibility_date = "2026-11-04"
compatibility_flags = ["nodejs_compat"]
routes = ["example.com/*", { pattern = "api.example.com/v1/*", zone_name = "example.com" }, { pattern = "shop.example.com", custom_domain = true }]
workers_dev = false
minify = true
keep_vars = true
rules = [{ type = "Text", globs = ["**/*.md"] }]

[vars]
GREETING = "hello"
LIMITS = { most = 5, list = [1, 2] }

[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"

[[r2_buckets]]
binding = "OLD"
bucket_name = "old-photos"

[[services]]
binding = "AUTH"
service = "auth"
entrypoint = "Login"

[triggers]
crons = ["*/15 * * * *"]

[version_metadata]
binding = "VERSION"

[dev]
port = 8123
`;

test("a whole file is read", () => {
  const { warnings, rules, vars, ...project } = read(WHOLE);
  assert.deepEqual(warnings, []);
  assert.equal(rules.length, 1);
  assert.equal(JSON.stringify(vars), '{"GREETING":"hello","LIMITS":{"most":5,"list":[1,2]}}');
  assert.deepEqual(project, {
    path: "/p/selvedge.toml",
    folder: "/p",
    environment: null,
    accountId: null,
    name: "shop",
    main: "/p/src/index.ts",
    mainPlace: "selvedge.toml:3: main: ",
    compatibilityDate: "2026-11-04",
    compatibilityFlags: ["nodejs_compat"],
    routes: [
      { pattern: "example.com/*", zoneId: null, zoneName: null, isDomain: false },
      { pattern: "api.example.com/v1/*", zoneId: null, zoneName: "example.com", isDomain: false },
      { pattern: "shop.example.com", zoneId: null, zoneName: null, isDomain: true },
    ],
    onSubdomain: false,
    crons: ["*/15 * * * *"],
    define: {},
    buckets: [
      { binding: "PHOTOS", bucketName: "photos", keepsDelimiter: false },
      { binding: "OLD", bucketName: "old-photos", keepsDelimiter: true },
    ],
    services: [{ binding: "AUTH", service: "auth", entrypoint: "Login" }],
    versionBinding: "VERSION",
    tsconfig: null,
    isBundled: true,
    isMinified: true,
    keepsVars: true,
    dev: { host: null, port: 8123 },
  });
});

test("JSON with comments and a comma at the end says the same", () => {
  const text = `{
    // The shop
    "name": "shop",
    "store_buckets": [{ "binding": "PHOTOS", "bucket_name": "photos" },],
  }`;
  for (const kind of ["json", "jsonc"]) {
    const project = read(text, null, `/p/selvedge.${kind}`);
    assert.equal(project.name, "shop");
    assert.equal(project.buckets[0]!.bucketName, "photos");
  }
});

test("an empty file is a project that says nothing", () => {
  const { name, main, compatibilityDate, onSubdomain, crons } = read("");
  assert.deepEqual(
    { name, main, compatibilityDate, onSubdomain, crons },
    {
      name: null,
      main: null,
      compatibilityDate: null,
      onSubdomain: null,
      crons: null,
    },
  );
});

suite("a fault names file, line and key:", () => {
  const bucket = (lines: string) => `\n[[store_buckets]]\n${lines}`;
  const cases: [name: string, text: string, said: string | RegExp][] = [
    ["broken TOML", 'name = "shop"\nmain = \n', /^selvedge\.toml:2: .+ \(column \d+\)$/],
    ["a name of the wrong type", "name = 5", "selvedge.toml:1: name: must be text, but is 5"],
    ["a name with capitals", 'name = "Shop"', /^selvedge\.toml:1: name: must be of a-z/],
    ["an empty main", '\n\nmain = ""', "selvedge.toml:3: main: must not be empty"],
    [
      "a day that is none",
      'compatibility_date = "2026-02-30"',
      /:1: compatibility_date: must be a day/,
    ],
    [
      "a date of TOML",
      "compatibility_date = 2026-11-04",
      /:1: compatibility_date: must be text, but is "2026-11-04/,
    ],
    [
      "a day with long dashes",
      'compatibility_date = "2026–11–04"',
      /compatibility_date: has a dash in it; write plain hyphens/,
    ],
    [
      "flags that are no list",
      'compatibility_flags = "a"',
      'selvedge.toml:1: compatibility_flags: must be a list, but is "a"',
    ],
    [
      "a bucket that is no table",
      'store_buckets = ["photos"]',
      'selvedge.toml:1: store_buckets[0]: must be a table, but is "photos"',
    ],
    [
      "a bucket without a binding",
      bucket('bucket_name = "photos"'),
      "selvedge.toml:2: store_buckets[0].binding: is missing",
    ],
    [
      "a bucket without a name",
      bucket('binding = "A"'),
      "selvedge.toml:2: store_buckets[0].bucket_name: is missing",
    ],
    [
      "a binding that is no identifier",
      bucket('binding = "my-bucket"\nbucket_name = "photos"'),
      /^selvedge\.toml:3: store_buckets\[0\]\.binding: must be a JavaScript identifier/,
    ],
    [
      "a binding that begins with a digit",
      bucket('binding = "1A"\nbucket_name = "photos"'),
      /identifier/,
    ],
    [
      "a reserved word as a binding",
      bucket('binding = "class"\nbucket_name = "photos"'),
      /:3: store_buckets\[0\]\.binding: is a reserved word/,
    ],
    [
      "a bucket's name with capitals",
      bucket('binding = "A"\nbucket_name = "Photos"'),
      /^selvedge\.toml:4: store_buckets\[0\]\.bucket_name: must be 3 to 63/,
    ],
    ["a bucket's name that is too short", bucket('binding = "A"\nbucket_name = "ab"'), /3 to 63/],
    [
      "a date among the vars",
      "[vars]\nA = 1\nDAY = 2026-11-04",
      /^selvedge\.toml:3: vars\.DAY: must be text, a number/,
    ],
    ["a date deep in the vars", "[vars]\nA = { b = [2026-11-04] }", /^selvedge\.toml:2: vars\.A: /],
    [
      "a route that is a number",
      'routes = [\n"a.example/*",\n5]',
      /^selvedge\.toml:3: routes\[1\]: must be a pattern/,
    ],
    [
      "a route without a pattern",
      'routes = [{ zone_name = "a" }]',
      /^selvedge\.toml:1: routes\[0\]/,
    ],
    [
      "route beside routes",
      'route = "a/*"\nroutes = ["b/*"]',
      "selvedge.toml:1: route: cannot stand beside routes; keep one of them",
    ],
    [
      "a cron of six fields",
      '[triggers]\ncrons = ["* * * * * *"]',
      /^selvedge\.toml:2: triggers\.crons\[0\]: must have five fields/,
    ],
    [
      "an unknown kind of module",
      'rules = [{ type = "Python", globs = [] }]',
      /rules\[0\]\.type: must be one of ESModule/,
    ],
    [
      "a service without its script",
      '[[services]]\nbinding = "A"',
      "selvedge.toml:1: services[0].service: is missing",
    ],
    [
      "a fault of an environment",
      '[env.live]\nname = "A"',
      /^selvedge\.toml:2: env\.live\.name: must be of/,
    ],
    [
      "a name that two buckets share",
      bucket('binding = "A"\nbucket_name = "one"') + bucket('binding = "A"\nbucket_name = "two"'),
      'selvedge.toml:6: store_buckets[1].binding: "A" is the name of store_buckets[0].binding already; on env each needs its own',
    ],
    [
      "a name that a var and a bucket share",
      `[vars]\nA = "x"${bucket('binding = "A"\nbucket_name = "one"')}`,
      'selvedge.toml:4: store_buckets[0].binding: "A" is the name of vars.A already; on env each needs its own',
    ],
  ];
  for (const [name, text, said] of cases) {
    test(name, () => {
      const fault = faultOf(text);
      if (typeof said === "string") assert.equal(fault, said);
      else assert.match(fault, said);
    });
  }

  test("in JSON, too", () => {
    const text =
      '{\n  "name": "shop",\n  "store_buckets": [\n    { "binding": "1", "bucket_name": "photos" }\n  ]\n}';
    assert.match(
      faultOf(text, null, "/p/wrangler.jsonc"),
      /^wrangler\.jsonc:4: store_buckets\[0\]\.binding: must be a Java/,
    );
    assert.equal(faultOf('{\n"name": }', null, "/p/a.json"), "a.json:2: value expected");
    assert.equal(faultOf("[]", null, "/p/a.json"), "a.json: must be a table, but is []");
  });

  test("and all of them at once", () => {
    assert.equal(
      faultOf("name = 5\nmain = 6"),
      "selvedge.toml:1: name: must be text, but is 5\nselvedge.toml:2: main: must be text, but is 6",
    );
  });
});

suite("a warning tells of", () => {
  test("a key that nobody knows, with what it may have been", () => {
    const { warnings } = read(
      'nmae = "a"\n[[store_buckets]]\nbinding = "A"\nbucket_name = "photos"\nbuket = 1\n[env.x]\nmian = "a"',
    );
    assert.deepEqual(warnings, [
      "selvedge.toml:1: nmae: is not a key that is known here. Did you mean name?",
      "selvedge.toml:5: store_buckets[0].buket: is not a key that is known here.",
      "selvedge.toml:7: env.x.mian: is not a key that is known here. Did you mean main?",
    ]);
  });

  test("what the original has and this platform has not", () => {
    const { warnings } = read(
      '[[kv_namespaces]]\nbinding = "KV"\nid = "1"\n[observability]\nenabled = true',
    );
    assert.deepEqual(warnings, [
      "selvedge.toml:1: kv_namespaces: there is no such thing here, and the script will not find it",
    ]);
  });
});

suite("an environment", () => {
  const text = `
name = "shop"
main = "a.ts"
compatibility_date = "2026-01-01"
route = "a.example/*"
[vars]
A = "top"
B = "top"
[[store_buckets]]
binding = "PHOTOS"
bucket_name = "photos"
[env.staging]
compatibility_date = "2026-02-02"
[env.staging.vars]
A = "staging"
[env.live]
name = "real-shop"
routes = ["b.example/*"]
[[env.live.store_buckets]]
binding = "PHOTOS"
bucket_name = "live-photos"
`;

  test("inherits what is inherited, and has its own of the rest", () => {
    const staging = read(text, "staging");
    assert.equal(staging.name, "shop-staging");
    assert.equal(staging.main, "/p/a.ts");
    assert.equal(staging.compatibilityDate, "2026-02-02");
    assert.equal(staging.routes![0]!.pattern, "a.example/*");
    assert.deepEqual(staging.vars, { A: "staging" });
    assert.deepEqual(staging.buckets, []);
    assert.deepEqual(staging.warnings, [
      'selvedge.toml:14: env.staging.vars: has no "B", which the top level has: vars are not inherited',
      "selvedge.toml:12: env.staging: store_buckets of the top level is not inherited: give the environment its own",
    ]);
  });

  test("may have a name and routes of its own", () => {
    const live = read(text, "live");
    assert.equal(live.name, "real-shop");
    assert.deepEqual(
      live.routes!.map(({ pattern }) => pattern),
      ["b.example/*"],
    );
    assert.equal(live.buckets[0]!.bucketName, "live-photos");
    assert.deepEqual(live.vars, {});
  });

  test("that is not there is a fault that lists those that are", () => {
    assert.equal(
      faultOf(text, "stagin"),
      'selvedge.toml: there is no environment "stagin": it has staging, live. Did you mean staging?',
    );
    assert.equal(faultOf("", "x"), 'selvedge.toml: there is no environment "x": it has none.');
    assert.match(faultOf(text, "constructor"), /there is no environment "constructor"/);
  });
});
