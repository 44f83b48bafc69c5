/** The stock wrangler with its API base URL pointed here, on a stock project. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, suite, test } from "node:test";
import { until } from "../support/patience.ts";
import { startServer } from "../support/server.ts";
import { keyCredentials, noWrangler, wranglerFor } from "../support/wrangler.ts";
import { call } from "./api.ts";
import { accountKey, firstIds, policy } from "./policies.ts";

/** Where no web server is. */
const NOBODY = "127.0.0.9";

const CONFIG = `
name = "shop"
main = "src/index.ts"
compatibility_date = "2026-01-01"
upload_source_maps = true
routes = ["www.example.com/*", { pattern = "shop.example.com", custom_domain = true }]

[triggers]
crons = ["0 5 * * *"]

[vars]
GREETING = "hello"

[[r2_buckets]]
binding = "BUCKET"
bucket_name = "photos"
`;

const source = (mark: string) => `
import text from "./words.txt";
interface Env { BUCKET: R2Bucket; GREETING: string; SECRET?: string }
export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname } = new URL(request.url);
    console.log("asked for", pathname);
    if (pathname === "/env") {
      return Response.json({ mark: "${mark}", text, greeting: env.GREETING, secret: env.SECRET ?? null });
    }
    if (pathname === "/throw") throw new Error("thrown on purpose");
    if (pathname === "/list") return Response.json((await env.BUCKET.list({ delimiter: "/" })).delimitedPrefixes);
    if (request.method === "PUT") {
      await env.BUCKET.put(pathname.slice(1), request.body);
      return new Response(null, { status: 204 });
    }
    const object = await env.BUCKET.get(pathname.slice(1));
    return object === null ? new Response("none", { status: 404 }) : new Response(object.body);
  },
  async scheduled(): Promise<void> {},
};
`;

suite("wrangler, unchanged", { skip: noWrangler }, async () => {
  const server = await startServer({ args: ["--edge", "127.0.0.1:0"] });
  after(() => server[Symbol.asyncDispose]());
  const folder = await mkdtemp(join(tmpdir(), "selvedge-wrangler-"));
  after(() => rm(folder, { recursive: true, force: true }));
  const project = join(folder, "project");
  const { account } = await firstIds(server);
  const home = join(folder, "home");
  const credentials = { ...keyCredentials, CLOUDFLARE_ACCOUNT_ID: account };
  const wrangler = wranglerFor(server, credentials, { home, project });
  const scripts = `/accounts/${account}/workers/scripts`;

  await mkdir(join(project, "src"), { recursive: true });
  await mkdir(home);
  await writeFile(join(project, "wrangler.toml"), CONFIG);
  await writeFile(join(project, "src/words.txt"), "some words");
  const setSource = (code: string) => writeFile(join(project, "src/index.ts"), code);
  await setSource(source("first"));
  const { result: zone } = await call(server, "POST", "/zones", { body: { name: "example.com" } });
  const record = { type: "A", name: "www", content: NOBODY, proxied: true };
  await call(server, "POST", `/zones/${(zone as { id: string }).id}/dns_records`, { body: record });

  /** As a visitor of the site. */
  async function visit(path: string, { host = "www.example.com", method = "GET", body = "" } = {}) {
    const sent = request(new URL(path, server.ready["edge"]), { method, headers: { host } }).end(
      body,
    );
    const [response] = (await once(sent, "response")) as [
      AsyncIterable<Buffer> & { statusCode: number },
    ];
    return { status: response.statusCode, body: await text(response as never) };
  }
  const env = async () => JSON.parse((await visit("/env")).body) as Record<string, unknown>;

  test("makes and lists buckets", async () => {
    assert.match(await wrangler(["r2", "bucket", "create", "photos"]), /Created bucket 'photos'/);
    assert.match(await wrangler(["r2", "bucket", "list"]), /name: +photos/);
  });

  test("deploys a script with its bindings, routes, domain and cron triggers", async () => {
    const said = await wrangler(["deploy"]);
    for (const line of [
      /env\.BUCKET \(photos\)/,
      /www\.example\.com\/\*/,
      /shop\.example\.com \(custom domain\)/,
      /schedule: 0 5 \* \* \*/,
      /Current Version ID: [0-9a-f-]{36}/,
    ]) {
      assert.match(said, line);
    }
    assert.deepEqual(await env(), {
      mark: "first",
      text: "some words",
      greeting: "hello",
      secret: null,
    });
    assert.equal((await visit("/env", { host: "shop.example.com" })).status, 200, "its own domain");
    const { result } = await call(server, "GET", `${scripts}/shop/schedules`);
    assert.equal((result as { schedules: { cron: string }[] }).schedules[0]?.cron, "0 5 * * *");
  });

  test("gives scripts buckets that behave as they did", async () => {
    assert.equal((await visit("/2026/tulip", { method: "PUT", body: "red" })).status, 204);
    assert.deepEqual(await visit("/2026/tulip"), { status: 200, body: "red" });
    assert.deepEqual(await visit("/list"), { status: 200, body: '["2026/"]' });
    const got = await wrangler(["r2", "object", "get", "photos/2026/tulip", "--remote", "--pipe"]);
    assert.match(got, /red$/);
  });

  test("puts, gets and deletes objects", async () => {
    const [from, to] = [join(folder, "from"), join(folder, "to")];
    const octets = randomBytes(20 * 1024 ** 2);
    await writeFile(from, octets);
    const object = (verb: string, ...more: string[]) =>
      wrangler(["r2", "object", verb, "photos/large/one", "--remote", ...more]);
    const type = ["--content-type", "image/x-test", "--cache-control", "no-cache"];
    assert.match(await object("put", "--file", from, ...type, "-y"), /Upload complete/);
    assert.match(await object("get", "--file", to), /Download complete/);
    assert.ok(octets.equals(await readFile(to)));
    assert.match(await object("delete"), /Delete complete/);
    await assert.rejects(object("get", "--file", to), /does not exist/);
  });

  test("deploys again, and requests meet the new version", async () => {
    await setSource(source("second"));
    assert.match(await wrangler(["deploy", "--message", "better"]), /Current Version ID/);
    assert.equal((await env())["mark"], "second");
    const lists = await Promise.all([
      wrangler(["deployments", "list"]),
      wrangler(["versions", "list"]),
    ]);
    for (const said of lists) assert.match(said, /Message: +better/);
  });

  test("sets secrets", async () => {
    assert.match(await wrangler(["secret", "put", "SECRET"], "hush"), /Uploaded secret SECRET/);
    assert.deepEqual([(await env())["mark"], (await env())["secret"]], ["second", "hush"]);
    const said = await wrangler(["secret", "list"]);
    assert.match(said, /"name": "SECRET"/);
    assert.doesNotMatch(said, /hush/);
  });

  test("rolls back", async () => {
    assert.match(await wrangler(["rollback", "-y", "-m", "back"]), /has been deployed to 100%/);
    assert.deepEqual([(await env())["mark"], (await env())["secret"]], ["second", null]);
  });

  test("shows live logs and exceptions", async (t) => {
    const tail = wrangler.start(["tail", "--format", "pretty"]);
    t.after(() => tail.kill("SIGKILL"));
    let said = "";
    for (const stream of [tail.stdout!, tail.stderr!]) {
      stream.on("data", (chunk: Buffer) => (said += chunk.toString()));
    }
    await until(() => said.includes("Connected to shop"));
    // The script is traced from the moment that a process with the tracer is up.
    const asking = setInterval(() => void visit("/throw").catch(() => {}), 200);
    t.after(() => clearInterval(asking));
    await until(() => said.includes("asked for /throw"));
    await until(() => /GET http:\/\/www\.example\.com\/throw - Exception Thrown/.test(said));
    await until(() => said.includes("Error: thrown on purpose"));
    await until(() => /at Object\.fetch \(.*src\/index\.ts:11:/.test(said));
    tail.kill("SIGINT");
    await once(tail, "close");
  });

  test("is told what is wrong with an upload, which changes nothing", async () => {
    await setSource('throw new Error("not today"); export default {};');
    await assert.rejects(wrangler(["deploy"]), /not today[\s\S]*code: 10021/);
    assert.equal((await env())["mark"], "second");
  });

  for (const owner of ["/user", `/accounts/${account}`]) {
    test(`needs nothing but a token, one of ${owner.split("/")[1]}`, async () => {
      const policies = [policy("allow", accountKey(account), "scriptsWrite", "storageWrite")];
      const made = await call(server, "POST", `${owner}/tokens`, { body: { name: "t", policies } });
      const { value } = made.result as { value: string };
      const fresh = await mkdtemp(join(folder, "fresh-"));
      const config = 'name = "plain"\nmain = "plain.js"\ncompatibility_date = "2026-01-01"\n';
      await writeFile(join(fresh, "wrangler.toml"), config);
      await writeFile(join(fresh, "plain.js"), "export default { fetch: () => new Response() };");
      const alone = wranglerFor(
        server,
        { CLOUDFLARE_API_TOKEN: value },
        { home: fresh, project: fresh },
      );
      assert.match(await alone(["whoami"]), new RegExp(account));
      assert.match(await alone(["deploy"]), /Current Version ID/);
      assert.match(await alone(["r2", "bucket", "list"]), /name: +photos/);
      await alone(["delete"]);
    });
  }

  test("deletes scripts and buckets", async () => {
    assert.match(await wrangler(["delete"]), /Successfully deleted shop/);
    assert.equal((await visit("/env")).status, 502, "the record's own host is asked");
    await wrangler(["r2", "object", "delete", "photos/2026/tulip", "--remote"]);
    assert.match(await wrangler(["r2", "bucket", "delete", "photos"]), /Deleted bucket photos/);
  });
});
