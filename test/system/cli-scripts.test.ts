/** The commands for scripts: the real program, on this machine and against a real server. */
import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Cli } from "../support/cli.ts";
import { CliEvents } from "../support/cli-events.ts";
import { until } from "../support/patience.ts";
import { mustRun } from "../support/program.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { call } from "./api.ts";
import { accountKey, firstIds, policy } from "./policies.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** A project as a user has it: made by `init`, with nothing installed. */
async function makeProject(origin: string, name: string): Promise<Cli> {
  const cli = await Cli.for(origin);
  await cli.must(["init", "--name", name]);
  return cli;
}

async function edit(cli: Cli, file: string, change: (text: string) => string): Promise<void> {
  const path = join(cli.folder, file);
  await writeFile(path, change(await readFile(path, "utf8")));
}

const respond = (expression: string) =>
  `export default { async fetch(request, env) { return new Response(${expression}); } } satisfies ExportedHandler<Env>;\n`;

const SERVICES = '\n[[services]]\nbinding = "AUTH"\nservice = "auth"\nentrypoint = "Login"\n';

/** Answers WebSockets; what is none goes to the service. */
const ECHO = `export default {
  fetch(request, env) {
    if (request.headers.get("upgrade") === null) return env.AUTH.fetch(request);
    const { 0: client, 1: server } = new WebSocketPair();
    server.accept();
    server.addEventListener("message", ({ data }) => server.send(data + " back"));
    return new Response(null, { status: 101, webSocket: client });
  },
  scheduled({ cron }) {
    console.log("cron", cron);
  },
};
`;

suite("a project on this machine", () => {
  let cli: Cli;
  before(async () => {
    cli = await makeProject("http://127.0.0.1:1", "shop");
    await writeFile(join(cli.folder, ".dev.vars"), "API_KEY=secret\n");
  });
  after(() => cli[Symbol.asyncDispose]());

  const checkTypes = () =>
    mustRun(join(ROOT, "node_modules/.bin/tsc"), ["--project", "."], {
      cwd: cli.folder,
      env: { PATH: process.env["PATH"]! },
    });

  test("init makes what type-checks, and does not write over it", async () => {
    await checkTypes();
    const { devDependencies } = JSON.parse(
      await readFile(join(cli.folder, "package.json"), "utf8"),
    ) as { devDependencies: object };
    assert.deepEqual(Object.keys(devDependencies), ["typescript"]);
    const before = await readFile(join(cli.folder, "selvedge.toml"), "utf8");
    assert.match(before, /^name = "shop"\n/);
    const { code, stderr } = await cli.run(["init", ".", "--name", "other"]);
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^selvedge: This folder has .*selvedge\.toml.* already\. Nothing was written/,
    );
    assert.equal(await readFile(join(cli.folder, "selvedge.toml"), "utf8"), before);
  });

  test("types writes what the project binds, and tsc holds the script to it", async () => {
    await rm(join(cli.folder, "selvedge-env.d.ts"));
    assert.equal(await cli.must(["types"]), "Wrote selvedge-env.d.ts.\n");
    await checkTypes();
    const written = await readFile(join(cli.folder, "selvedge-env.d.ts"), "utf8");
    assert.match(written, /GREETING: string;\n {2}API_KEY: string;\n {2}BUCKET: StoreBucket;/);
    assert.equal(written.includes("secret"), false);
    await writeFile(
      join(cli.folder, "src/wrong.ts"),
      "export const f = (env: Env) => env.BUKET;\n",
    );
    await assert.rejects(
      checkTypes(),
      /src\/wrong\.ts.+Property 'BUKET' does not exist on type 'Env'/,
    );
    await writeFile(join(cli.folder, "src/wrong.ts"), "");
  });

  test("a fault of the project file has file, line and key, and exit code 2", async () => {
    await writeFile(
      join(cli.folder, "bad.toml"),
      'name = "shop"\n[[store_buckets]]\nbinding = "1"\nbucket_name = "shop"\n',
    );
    const { code, stderr } = await cli.run(["types", "--config", "bad.toml"]);
    assert.equal(code, 2);
    assert.match(
      stderr,
      /^selvedge: bad\.toml:3: store_buckets\[0\]\.binding: must be a JavaScript/,
    );
    const missing = await cli.run(["types", "--config", "none.toml"]);
    assert.equal(missing.code, 3);
    assert.match(
      missing.stderr,
      /^selvedge: Cannot read the project file .*: there is no such file/,
    );
  });

  test("dev runs it, reloads it, shows what fails, and ends at Ctrl-C", async () => {
    await using dev = new CliEvents(cli.start(["dev", "--port", "0", "--json"]));
    const url = (await dev.nextOf("ready"))["url"] as string;
    const second = await cli.run(["dev", "--port", "0"]);
    assert.deepEqual(
      [second.code, second.stderr],
      [
        1,
        'selvedge: Another "selvedge dev" runs in this project. Use that one, or end it first.\n',
      ],
    );
    const put = await fetch(`${url}/a/b.txt`, {
      method: "PUT",
      body: "text",
      headers: { "content-type": "text/x" },
    });
    assert.equal(put.status, 201);
    const got = await fetch(`${url}/a/b.txt`);
    assert.equal(got.headers.get("content-type"), "text/x");
    assert.equal(await got.text(), "text");
    const logged = await dev.next((event) => event["method"] === "GET");
    assert.deepEqual([logged["path"], logged["status"]], ["/a/b.txt", 200]);

    await writeFile(
      join(cli.folder, "src/boom.ts"),
      "// Why\n\nexport function boom(): never {\n  throw new Error('boom');\n}\n",
    );
    const boom = `import { boom } from "./boom";\n${respond("env.API_KEY + (request.url.endsWith('boom') ? boom() : '')")}`;
    await writeFile(join(cli.folder, "src/index.ts"), boom);
    await dev.nextOf("built");
    assert.equal(await (await fetch(url)).text(), "secret");
    assert.equal((await fetch(`${url}/boom`)).status, 500);
    const { message } = await dev.nextOf("exception");
    assert.match(
      message as string,
      /^Error: boom\n\s+at boom \(src\/boom\.ts:4:9\)\n\s+at .*src\/index\.ts:2:/,
    );

    await writeFile(join(cli.folder, "src/index.ts"), "export default {\n  fetch( {\n};\n");
    assert.match((await dev.nextOf("failed"))["message"] as string, /src\/index\.ts:3:/);
    assert.equal(await (await fetch(url)).text(), "secret", "the last good version goes on");
    await writeFile(
      join(cli.folder, "src/index.ts"),
      "throw new Error('at start');\nexport default {};\n",
    );
    assert.match(
      (await dev.nextOf("failed"))["message"] as string,
      /at start[\s\S]+src\/index\.ts:1:/,
    );

    await writeFile(join(cli.folder, "src/index.ts"), respond("env.GREETING"));
    await dev.nextOf("built");
    await edit(cli, "selvedge.toml", (text) =>
      text.replace(/GREETING = .*/, 'GREETING = "changed"'),
    );
    await dev.nextOf("built");
    assert.equal(await (await fetch(url)).text(), "changed");
    assert.equal(await dev.interrupt(), 0);
  });

  test("dev serves WebSockets, crons, and services that do not run here", async () => {
    await using dev = new CliEvents(cli.start(["dev", "--port", "0", "--json"]));
    const url = (await dev.nextOf("ready"))["url"] as string;
    await edit(cli, "selvedge.toml", (text) => `${text}${SERVICES}`);
    await dev.nextOf("built");
    await writeFile(join(cli.folder, "src/index.ts"), ECHO);
    await dev.nextOf("built");
    assert.equal(await (await fetch(url)).text(), "The service auth does not run here\n");
    const socket = new WebSocket(url.replace("http", "ws"));
    const said = new Promise((resolve) => {
      socket.addEventListener("message", ({ data }) => resolve(data));
    });
    socket.addEventListener("open", () => socket.send("hello"));
    assert.equal(await said, "hello back");
    socket.close();
    const cron = await fetch(`${url}/cdn-cgi/handler/scheduled?cron=5+*+*+*+*`);
    assert.equal(cron.status, 200);
    assert.equal((await dev.nextOf("log"))["message"], "cron 5 * * * *");
    assert.equal(await dev.interrupt(), 0);
    await edit(cli, "selvedge.toml", (text) => text.replace(SERVICES, ""));
  });

  test("dev runs the older syntax, and a file of the original's", async () => {
    const settings =
      'name = "old"\nmain = "old.js"\ncompatibility_date = "2026-11-01"\n[vars]\nGREETING = "hi"\n';
    await writeFile(join(cli.folder, "wrangler.toml"), settings);
    await writeFile(
      join(cli.folder, "old.js"),
      'addEventListener("fetch", (event) => event.respondWith(new Response(GREETING)));\n',
    );
    const args = ["dev", "--config", "wrangler.toml", "--port", "0", "--json"];
    await using dev = new CliEvents(cli.start(args));
    const url = (await dev.nextOf("ready"))["url"] as string;
    assert.equal(await (await fetch(url)).text(), "hi");
    assert.equal(await dev.interrupt(), 0);
  });

  test("dev drops no request while it reloads", async () => {
    await writeFile(join(cli.folder, "src/index.ts"), respond('"none"'));
    await using dev = new CliEvents(cli.start(["dev", "--port", "0", "--json"]));
    const url = (await dev.nextOf("ready"))["url"] as string;
    const stop = new AbortController();
    const seen = new Set<string>();
    const asking = Array.from({ length: 4 }, async () => {
      while (!stop.signal.aborted) {
        const answer = await fetch(url);
        assert.equal(answer.status, 200);
        seen.add(await answer.text());
      }
    });
    const asked = Promise.all(asking);
    for (const round of ["one", "two", "three"]) {
      await writeFile(join(cli.folder, "src/index.ts"), respond(`"${round}"`));
      await Promise.race([dev.nextOf("built"), asked]);
      await until(() => seen.has(round));
    }
    stop.abort();
    await asked;
    assert.equal(await dev.interrupt(), 0);
  });
});

suite("a project on a server", () => {
  let server: TestServer;
  let cli: Cli;
  before(async () => {
    server = await startServer({ args: ["--edge", "127.0.0.1:0"] });
    cli = await makeProject(server.origin, "files");
  });
  after(async () => {
    await server.end(); // Not a kill: it ends the scripts' processes.
    await server[Symbol.asyncDispose]();
    await cli[Symbol.asyncDispose]();
  });

  interface Deployed {
    readonly version_id: string;
    readonly urls: string[];
    readonly changes: { readonly what: string; readonly before: string; readonly after: string }[];
  }
  const deploy = (...args: string[]) => cli.json<Deployed>(["deploy", ...args]);
  let host: string;
  const ask = (path = "/", at = host, init: Parameters<typeof askEdge>[3] = {}) =>
    askEdge(server.ready["edge"]!, at, path, init);

  test("deploy names the bucket that is missing, and how it is made; --yes makes it", async () => {
    for (const args of [[], ["--dry-run", "--yes"]]) {
      const { code, stderr } = await cli.run(["deploy", ...args]);
      assert.equal(code, 3);
      assert.match(
        stderr,
        /There is no bucket files-objects[^\n]+\n {2}selvedge bucket create files-objects\n$/,
      );
    }
    const { urls } = await deploy("--yes");
    host = new URL(urls[0]!).host;
    assert.equal((await cli.run(["bucket", "info", "files-objects"])).code, 0);
    await cli.must(["delete", "--yes"]);
  });

  test("a dry run shows what would come, and nothing does", async () => {
    const { changes } = await deploy("--dry-run");
    assert.deepEqual(
      changes.map(({ what }) => what),
      ["size", "compatibility_date", "binding GREETING", "binding BUCKET", `url http://${host}`],
    );
    assert.equal((await cli.run(["versions", "list"])).code, 3);
  });

  test("deploy ships it: an object put through the script is read back by both ways", async () => {
    const { urls, version_id } = await deploy("--message", "first");
    const [listed] = await cli.json<{ id: string }[]>(["versions", "list"]);
    assert.equal(listed!.id, version_id);
    assert.deepEqual(urls, [`http://${host}`]);
    assert.equal((await ask("/k.txt", host, { method: "PUT", body: "value" })).status, 201);
    assert.equal((await ask("/k.txt")).text, "value");
    assert.equal(await cli.must(["object", "get", "files-objects/k.txt", "-"]), "value");
  });

  test("deploy again shows the difference; a script that does not start changes nothing", async () => {
    await edit(cli, "selvedge.toml", (text) =>
      text.replace(/GREETING = .*/, 'GREETING = "second"'),
    );
    await writeFile(join(cli.folder, "src/index.ts"), respond("env.GREETING"));
    const { changes } = await deploy("--message", "second");
    assert.deepEqual(
      changes.map(({ what }) => what),
      ["size", "binding GREETING"],
    );
    assert.equal((await ask()).text, "second");
    await writeFile(
      join(cli.folder, "src/index.ts"),
      "throw new Error('at start');\nexport default {};",
    );
    const { code, stderr } = await cli.run(["deploy"]);
    assert.equal(code, 1);
    assert.match(stderr, /Nothing was deployed: [^]*at start[^]+src\/index\.ts:1:/);
    assert.equal((await ask()).text, "second");
    await writeFile(join(cli.folder, "src/index.ts"), respond("env.GREETING"));
  });

  test("versions lists and shows; rollback goes back, by number and to what was before", async () => {
    const versions = await cli.json<{ number: number; deployed: boolean }[]>(["versions", "list"]);
    assert.deepEqual(
      versions.map(({ number, deployed }) => [number, deployed]),
      [
        [2, true],
        [1, false],
      ],
    );
    assert.match(
      await cli.must(["versions", "view", "2"]),
      /\nmessage +second\n[\s\S]+GREETING: var "second"/,
    );
    await cli.must(["rollback", "--yes"]);
    assert.match((await ask()).text, /^Objects in files-objects:/);
    await cli.must(["rollback", "2", "--yes", "--message", "on again"]);
    assert.equal((await ask()).text, "second");
    assert.equal((await cli.run(["rollback", "7", "--yes"])).code, 3);
  });

  test("secrets come from standard input, are listed by name, survive a deploy, and go", async () => {
    await writeFile(
      join(cli.folder, "src/index.ts"),
      respond("[env.KEY, env.A, env.B].join()").replace("satisfies ExportedHandler<Env>", ""),
    );
    await deploy();
    await cli.must(["secret", "put", "KEY"], "s3cret\n");
    assert.equal((await ask()).text, "s3cret,,");
    await cli.must(["secret", "bulk"], '{"A":"1","B":"2"}');
    await deploy();
    assert.equal((await ask()).text, "s3cret,1,2");
    await cli.must(["secret", "delete", "A", "--yes"]);
    const left = await cli.json<{ name: string }[]>(["secret", "list"]);
    assert.deepEqual(left.map(({ name }) => name).sort(), ["B", "KEY"]);
    assert.equal((await ask()).text, "s3cret,,2");
  });

  test("tail tells requests, logs and exceptions until Ctrl-C", async () => {
    const source =
      'export default { fetch({ url }) { console.log("saw", url); if (url.endsWith("/no")) throw new Error("no"); return new Response("ok"); } };';
    await writeFile(join(cli.folder, "src/index.ts"), source);
    await deploy();
    await using tail = new CliEvents(cli.start(["tail", "--json", "--status", "error"]));
    await until(() => tail.notes.includes("Following files"));
    await ask("/yes");
    await ask("/no");
    const event = await tail.next(() => true);
    assert.equal(event["outcome"], "exception");
    assert.equal((event["logs"] as { message: unknown[] }[])[0]!.message[0], "saw");
    assert.equal((event["exceptions"] as { message: string }[])[0]!.message, "no");
    assert.equal(await tail.interrupt(), 0);
  });

  test("routes and crons of an environment are set, and shown as changes", async () => {
    await cli.must(["zone", "create", "example.com"]);
    await cli.must(["record", "add", "example.com", "www", "A", "192.0.2.1", "--proxied"]);
    const live =
      '\n[env.live]\nroutes = ["www.example.com/live/*", { pattern = "app.example.com", custom_domain = true }]\ntriggers = { crons = ["0 3 * * *"] }\n';
    await edit(cli, "selvedge.toml", (text) => text + live);
    const { changes, urls } = await deploy("--env", "live");
    assert.deepEqual(
      changes.map(({ what }) => what).filter((what) => /route|domain|cron|url/.test(what)),
      ["route www.example.com/live/*", "domain app.example.com", "cron 0 3 * * *"],
    );
    const { port } = new URL(server.ready["edge"]!);
    const opened = [`http://www.example.com:${port}/live/`, `http://app.example.com:${port}`];
    assert.deepEqual(urls, opened);
    const all = await cli.json<{ name: string; urls: string[] }[]>(["list"]);
    assert.deepEqual(
      all.map(({ name, urls }) => [name, urls.toSorted()]),
      [
        ["files", [`http://${host}`]],
        ["files-live", opened.toSorted()],
      ],
    );
    assert.equal((await ask("/any", "app.example.com")).text, "ok");
    assert.equal((await ask("/live/x", "www.example.com")).text, "ok");
    assert.notEqual((await ask("/other", "www.example.com")).text, "ok", "no route leads there");
    assert.deepEqual((await deploy("--env", "live")).changes, []);
  });

  /** Deploys as another script, with these settings and nothing else. */
  const deployWith = async (settings: string, args: readonly string[] = [], who = cli) => {
    const head = 'main = "src/index.ts"\ncompatibility_date = "2026-11-01"\n';
    await writeFile(join(cli.folder, "other.toml"), `name = "other"\n${head}${settings}\n`);
    return who.run(["deploy", "--config", "other.toml", ...args]);
  };
  const isDeployed = async () => (await cli.run(["versions", "list", "other"])).code === 0;

  test("what routes and crons cannot be is told before anything is uploaded", async () => {
    const cases: [settings: string, code: number, said: RegExp][] = [
      [
        'routes = ["a.nozone.org/*"]',
        3,
        /There is no zone for a\.nozone\.org\/\*\. Nothing was deployed\. Make it with:\n {2}selvedge zone create nozone\.org\n$/,
      ],
      [
        'routes = ["WWW.example.com/live/*"]',
        1,
        /The route www\.example\.com\/live\/\* leads to the script files-live already\. Nothing was deployed/,
      ],
      ['routes = ["www.example.com/a?b"]', 2, /other\.toml: routes: pattern: .* has a query/],
      ['triggers = { crons = ["61 * * * *"] }', 2, /other\.toml: triggers\.crons: cron: "61/],
    ];
    for (const [settings, code, said] of cases) {
      for (const args of [[], ["--dry-run"]]) {
        const ran = await deployWith(settings, args);
        assert.match(ran.stderr, said);
        assert.equal(ran.code, code, settings);
      }
    }
    assert.equal(await isDeployed(), false);
  });

  test("a route on a name that is not proxied is deployed with a warning", async () => {
    const routes = 'routes = ["new.example.com/*", "*.example.com/x/*", "www.example.com/y"]';
    const { stderr } = await deployWith(routes, ["--dry-run"]);
    assert.equal(
      stderr.match(/^warning: .*$/gm)?.join("\n"),
      "warning: new.example.com has no proxied record, so that no request comes to its route. Make one with: selvedge record add example.com new AAAA 100:: --proxied",
    );
  });

  test("a custom domain replaces nothing without a word", async () => {
    await cli.must(["record", "add", "example.com", "cd", "A", "192.0.2.7"]);
    const domain = 'routes = [{ pattern = "cd.example.com", custom_domain = true }]';
    const dry = await deployWith(domain, ["--dry-run"]);
    assert.match(
      dry.stderr,
      /^ {2}\+ domain cd\.example\.com\n {2}- record cd\.example\.com auto A 192\.0\.2\.7$/m,
    );
    const refused = await deployWith(domain);
    assert.equal(refused.code, 2);
    assert.match(
      refused.stderr,
      /selvedge: Replace the DNS records of cd\.example\.com\? There is no terminal to ask at: say so with --yes\.\n$/,
    );
    assert.equal(await isDeployed(), false);
    const records = () =>
      cli.json<{ content: string }[]>(["record", "list", "example.com", "--name", "cd"]);
    assert.equal((await records())[0]!.content, "192.0.2.7");
    assert.equal((await deployWith(domain, ["--yes"])).code, 0);
    assert.equal((await records())[0]!.content, "100::");
    assert.equal((await ask("/", "cd.example.com")).text, "ok");
    const stays = await deployWith("");
    assert.match(
      stays.stderr,
      /Its routes stay, for the project file names none: cd\.example\.com\n/,
    );
    await cli.must(["delete", "other", "--yes"]);
  });

  test("a domain of another script is taken only when that is said", async () => {
    const domain = 'routes = [{ pattern = "app.example.com", custom_domain = true }]';
    const refused = await deployWith(domain);
    assert.equal(refused.code, 2);
    assert.match(
      refused.stderr,
      /~ domain app\.example\.com: of files-live → of other\nselvedge: Take app\.example\.com from the script files-live\?/,
    );
    const json = await deployWith(domain, ["--json"]);
    assert.match(
      (JSON.parse(json.stderr) as { error: { message: string } }).error.message,
      /^Take/,
    );
  });

  test("a token that may not look is told by the server what is in the way", async () => {
    const { account } = await firstIds(server);
    const scripts = policy("allow", accountKey(account), "scriptsWrite");
    const routes = policy("allow", "com.cloudflare.api.account.zone.*", "scriptRoutesWrite");
    const tokenOf = async (...policies: object[]) => {
      const made = await call(server, "POST", "/user/tokens", { body: { name: "ci", policies } });
      const { value } = made.result as { value: string };
      return cli.with({ SELVEDGE_TOKEN: value, SELVEDGE_ACCOUNT_ID: account });
    };
    const domain = 'routes = [{ pattern = "ci.example.com", custom_domain = true }]';
    const blind = await deployWith(domain, [], await tokenOf(scripts));
    assert.equal(blind.code, 3);
    assert.match(blind.stderr, /selvedge: This token sees no zone for ci\.example\.com: /);
    const ci = await tokenOf(scripts, routes);
    await cli.must(["record", "add", "example.com", "ci", "A", "192.0.2.8"]);
    const refused = await deployWith(domain, [], ci);
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /ci\.example\.com has DNS records .* Deploy with --yes to replace it\.\n$/,
    );
    const routed = await deployWith('routes = ["www.example.com/ci/*"]', [], ci);
    assert.equal(routed.code, 0, routed.stderr);
    await cli.must(["delete", "other", "--yes"]);
  });

  test("tail goes on after a restart of the server", async () => {
    await using tail = new CliEvents(cli.start(["tail", "--json", "--name", "files"]));
    const followed = () => tail.notes.split("Following files").length - 1;
    await until(() => followed() === 1);
    const { api, edge } = server.ready;
    await server.end("SIGKILL");
    await until(() => tail.notes.includes("The connection was lost"));
    const args = ["--api", new URL(api!).host, "--edge", new URL(edge!).host];
    server = await startServer({ data: server.data, args });
    await until(() => followed() === 2);
    await ask("/again");
    const event = await tail.next(() => true);
    assert.match(JSON.stringify(event["event"]), /\/again/);
    assert.equal(await tail.interrupt(), 0);
  });

  test("delete removes it", async () => {
    await cli.must(["delete", "--yes", "--env", "live"]);
    await cli.must(["delete", "files", "--yes"]);
    assert.equal((await ask()).status, 421, "its name is gone, too");
    assert.equal((await cli.run(["versions", "list"])).code, 3);
  });
});

/** `fetch` cannot name a host of its own. */
function askEdge(
  edge: string,
  host: string,
  path: string,
  { method = "GET", body }: { readonly method?: string; readonly body?: string },
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(`${edge}${path}`, { method, headers: { host } }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => resolve({ status: response.statusCode!, text }));
      response.on("error", reject);
    });
    sent.on("error", reject);
    sent.end(body);
  });
}
