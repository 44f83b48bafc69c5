/** The commands for buckets and objects, and what all commands share: the real program against a real server. */
import assert from "node:assert/strict";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { connectStore } from "selvedge/store";
import { atMost } from "../../src/kit/at-once.ts";
import { Cli, ended } from "../support/cli.ts";
import { EMAIL, KEY, startServer, type TestServer } from "../support/server.ts";
import { call } from "./api.ts";
import { accountKey, firstIds, policy } from "./policies.ts";

const MIB = 1024 * 1024;

let server: TestServer;
let cli: Cli;
before(async () => {
  server = await startServer();
  cli = await Cli.for(server.origin);
});
after(async () => {
  await cli[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const lines = (text: string) => text.trimEnd().split("\n");
const file = (name: string) => join(cli.folder, name);

suite("selvedge bucket", () => {
  test("makes, lists, shows and deletes buckets", async () => {
    assert.equal(await cli.must(["bucket", "create", "first"]), "Made the bucket first.\n");
    await cli.must(["bucket", "create", "second", "--storage-class", "InfrequentAccess"]);
    const listed = lines(await cli.must(["bucket", "list"]));
    assert.match(listed[0]!, /^NAME +CREATED +CLASS$/);
    assert.match(listed[2]!, /^second +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +InfrequentAccess$/);
    const names = await cli.json<{ name: string }[]>(["bucket", "list"]);
    assert.deepEqual(
      names.map(({ name }) => name),
      ["first", "second"],
    );
    const shown = await cli.json<{ storage_class: string }>(["bucket", "info", "first"]);
    assert.equal(shown.storage_class, "Standard");
    assert.deepEqual(await cli.json(["bucket", "delete", "second", "--yes"]), { name: "second" });
  });

  test("says what is wrong and what to do, with its exit code", async () => {
    const said = async (...args: string[]) => {
      const { code, stdout, stderr } = await cli.run(["bucket", ...args]);
      assert.equal(stdout, "");
      return [code, stderr];
    };
    assert.deepEqual(await said("info", "frist"), [
      3,
      "selvedge: There is no bucket frist. Did you mean first?\n",
    ]);
    assert.deepEqual(await said("delete", "first"), [
      2,
      "selvedge: Delete the bucket first? There is no terminal to ask at: say so with --yes.\n",
    ]);
    assert.deepEqual(await said("creat", "x"), [
      2,
      "selvedge: unknown command 'creat'. Did you mean create?\n",
    ]);
    const [code, stderr] = await said("create", "first");
    assert.equal(code, 1);
    assert.match(stderr as string, /already exists, and you own it \(10004\)\.$/m);
    await cli.must(["object", "put", "first/k", "-"], "v");
    const [, notEmpty] = await said("delete", "first", "--yes");
    assert.match(notEmpty as string, /is not empty\. Empty it with "selvedge object delete first/);
    await cli.must(["object", "delete", "first/k"]);
    const [badName] = await said("create", "Bad_Name");
    assert.equal(badName, 2);
  });
});

suite("selvedge object", () => {
  before(() => cli.must(["bucket", "create", "things"]));

  test("stores, shows, fetches and deletes an object", async () => {
    await writeFile(file("page.html"), "<p>hi");
    const options = ["--metadata", "who=me", "--cache-control", "max-age=60"];
    const put = ["object", "put", "things/site/page.html", "page.html", ...options];
    assert.equal(await cli.must(put), "Stored things/site/page.html (5 B).\n");
    const head = await cli.json<Record<string, unknown>>([
      "object",
      "head",
      "things/site/page.html",
    ]);
    assert.deepEqual(
      [head["size"], head["http_metadata"], head["custom_metadata"]],
      [5, { contentType: "text/html; charset=utf-8", cacheControl: "max-age=60" }, { who: "me" }],
    );
    assert.equal(await cli.must(["object", "get", "things/site/page.html", "-"]), "<p>hi");
    await cli.must(["object", "get", "things/site/page.html", "copy.html"]);
    assert.equal(await readFile(file("copy.html"), "utf8"), "<p>hi");
    await mkdir(file("into"));
    await cli.must(["object", "get", "things/site/page.html", "into"]);
    assert.deepEqual(await readdir(file("into")), ["page.html"]);
    await cli.must(["object", "delete", "things/site/page.html"]);
    const { code, stderr } = await cli.run(["object", "get", "things/site/page.html", "gone.html"]);
    assert.deepEqual(
      [code, stderr.split(". ")[0]],
      [3, "selvedge: There is no object site/page.html in things"],
    );
    await assert.rejects(readFile(file("gone.html")));
  });

  test("takes and gives pipes, also empty ones", async () => {
    for (const value of ["from a pipe", ""]) {
      await cli.must(["object", "put", "things/pipe", "-"], value);
      assert.equal(await cli.must(["object", "get", "things/pipe", "-"]), value);
      await cli.must(["object", "get", "things/pipe", "pipe.txt"]);
      assert.equal(await readFile(file("pipe.txt"), "utf8"), value);
    }
    await cli.must(["object", "delete", "things/pipe"]);
  });

  test("stores a folder and fetches it again", async () => {
    await mkdir(file("tree/sub"), { recursive: true });
    for (const name of ["a.txt", "sub/b.txt", "sub/ü.txt"])
      await writeFile(file(`tree/${name}`), name);
    const stored = lines(await cli.must(["object", "put", "things/t", "tree", "-r", "--json"]));
    assert.deepEqual(stored.map((line) => (JSON.parse(line) as { key: string }).key).sort(), [
      "t/a.txt",
      "t/sub/b.txt",
      "t/sub/ü.txt",
    ]);
    await cli.must(["object", "get", "things/t/", "back", "--recursive"]);
    assert.equal(await readFile(file("back/sub/ü.txt"), "utf8"), "sub/ü.txt");
    assert.equal((await readdir(file("back"), { recursive: true })).length, 4);
  });

  const list = async (...args: string[]) => {
    const text = await cli.must(["object", "list", ...args, "--json"]);
    return lines(text).map((line) => JSON.parse(line) as { key?: string; prefix?: string });
  };

  test("lists by prefix and delimiter, up to a limit", async () => {
    assert.deepEqual(
      (await list("things/t/", "--delimiter", "/")).map(({ key, prefix }) => key ?? prefix),
      ["t/sub/", "t/a.txt"],
    );
    assert.equal((await list("things", "--prefix", "t/", "--limit", "2")).length, 2);
    const text = await cli.must(["object", "list", "things/t/", "--delimiter", "/"]);
    assert.match(text, /^ +t\/sub\/\n +5 B {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}t\/a\.txt\n$/);
  });

  test("lists and deletes more than fits a page", async () => {
    const bucket = connectStore({ url: server.origin, key: KEY }).bucket("things");
    const keys = Array.from({ length: 1_005 }, (_, i) => `many/${String(i).padStart(4, "0")}`);
    await atMost(64, keys, async (key) => void (await bucket.put(key, "v")));
    assert.deepEqual(
      (await list("things/many/")).map(({ key }) => key),
      keys,
    );
    assert.equal((await list("things/many/", "--limit", "1002")).length, 1_002);
    const every = ["object", "delete", "things", "--prefix", "many/", "--yes"];
    assert.deepEqual(await cli.json(every), { deleted: keys.length });
    assert.equal(await cli.must(["object", "list", "things/many/"]), "");
  });

  test("deletes many, but only when told to twice", async () => {
    const refused = await cli.run(["object", "delete", "things", "--prefix", "t/"]);
    assert.deepEqual([refused.code, refused.stdout], [2, ""]);
    assert.match(refused.stderr, /Delete 3 objects, things\/t\/\? There is no terminal/);
    const several = ["object", "delete", "things/t/a.txt", "things/t/sub/b.txt"];
    assert.equal((await cli.run(several)).code, 2);
    assert.deepEqual(await cli.json([...several, "--yes"]), { deleted: 2 });
    const rest = ["object", "delete", "things", "--prefix", "", "--yes"];
    assert.equal(await cli.must(rest), "Deleted 1 object.\n");
  });

  test("a name that would lead elsewhere is not written; the others are", async () => {
    await cli.must(["object", "put", "things/up/../../../evil", "-"], "x");
    await cli.must(["object", "put", "things/up/good", "-"], "x");
    const { code, stderr } = await cli.run(["object", "get", "things/up/", "safe", "-r"]);
    assert.equal(code, 1);
    assert.match(stderr, /warning: The key "up\/\.\.\/\.\.\/\.\.\/evil" is no path of a file/);
    assert.match(stderr, /^selvedge: 1 of 2 objects were not fetched\.$/m);
    assert.deepEqual(await readdir(file("safe")), ["good"]);
    await cli.must(["object", "delete", "things", "--prefix", "up/", "--yes"]);
  });

  test("what of a folder cannot be stored is told, and the rest is stored", async () => {
    await mkdir(file("odd"));
    await writeFile(file("odd/plain"), "x");
    await symlink("nowhere", file("odd/lost"));
    const put = await cli.run(["object", "put", "things/odd/", "odd", "-r"]);
    assert.deepEqual([put.code, put.stdout], [1, "Stored things/odd/plain (1 B).\n"]);
    assert.match(
      put.stderr,
      /^warning: .*\/odd\/lost is left out: it is a link that leads nowhere\.$/m,
    );
    assert.match(put.stderr, /^selvedge: 1 of 2 files were not stored\.$/m);
    await cli.must(["object", "rm", "things/odd/plain", "-y"]);
  });

  test("a key that is not there, or cannot be, is told", async () => {
    const gone = await cli.run(["object", "delete", "things/none", "--json"]);
    assert.deepEqual([gone.code, gone.stdout], [0, '{"deleted":0}\n']);
    assert.deepEqual(JSON.parse(gone.stderr), { warning: "There is no object none in things." });
    const long = await cli.run(["object", "put", `things/${"k".repeat(1_025)}`, "-"], "x");
    assert.equal(long.code, 2);
    assert.match(long.stderr, /A key has 1 to 1024 bytes of UTF-8\.\n$/);
  });

  test("a reader that leaves ends it quietly", async () => {
    await writeFile(file("some"), new Uint8Array(4 * MIB));
    await cli.must(["object", "put", "things/some", "some"]);
    const child = cli.start(["object", "get", "things/some", "-"]);
    let stderr = "";
    child.stderr!.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    child.stdout!.once("data", () => child.stdout!.destroy());
    assert.deepEqual([await ended(child), stderr], [141, ""]);
  });
});

suite("who asks, and whom", () => {
  test("a server that is not there is told, with the way out", async () => {
    const lost = cli.with({ SELVEDGE_API: "127.0.0.1:9" });
    for (const args of [
      ["zone", "list"],
      ["object", "list", "things"],
    ]) {
      const { code, stdout, stderr } = await lost.run(args);
      assert.deepEqual([code, stdout], [1, ""]);
      assert.match(stderr, /^selvedge: Cannot reach http:\/\/127\.0\.0\.1:9: .*SELVEDGE_API\.\n$/);
    }
  });

  test("whoami tells the server, the user and the accounts", async () => {
    const { account } = await firstIds(server);
    const shown = await cli.json<Record<string, unknown>>(["whoami"]);
    assert.equal(shown["server"], server.origin);
    assert.equal(shown["credentials"], "key");
    assert.equal((shown["user"] as { email: string }).email, EMAIL);
    assert.deepEqual(shown["accounts"], [{ id: account, name: "Selvedge" }]);
    assert.match(await cli.must(["whoami"]), new RegExp(`\nAs +${EMAIL} \\(by key\\)\n`));
  });

  test("a command line that cannot be read is told as JSON where that was asked for", async () => {
    const { code, stderr } = await cli.run(["zone", "lisst", "--json"]);
    assert.equal(code, 2);
    const message = "unknown command 'lisst'. Did you mean list?";
    assert.deepEqual(JSON.parse(stderr), { error: { kind: "usage", message } });
  });

  test("an e-mail address without its key is told", async () => {
    const half = cli.with({ SELVEDGE_KEY: "" });
    const { code, stderr } = await half.run(["zone", "list"]);
    assert.equal(code, 4);
    assert.match(stderr, /^selvedge: SELVEDGE_EMAIL is set, but SELVEDGE_KEY is not\./);
  });

  test("credentials come from a folder, a key or a token; wrong ones end with 4", async () => {
    const bare = cli.with({ SELVEDGE_KEY: "", SELVEDGE_EMAIL: "" });
    assert.equal((await bare.run(["zone", "list", "--data", server.data])).code, 0);
    assert.equal((await bare.with({ SELVEDGE_DATA: server.data }).run(["zone", "list"])).code, 0);
    const none = await bare.run(["zone", "list"]);
    assert.equal(none.code, 4);
    assert.match(
      none.stderr,
      /There are no credentials: set SELVEDGE_TOKEN, or .*credentials\.json/,
    );
    const stranger = cli.with({ SELVEDGE_TOKEN: "f".repeat(40) });
    for (const args of [
      ["zone", "list"],
      ["bucket", "list"],
      ["object", "list", "things"],
    ]) {
      const { code, stderr } = await stranger.run(args);
      assert.equal(code, 4, stderr);
      assert.match(stderr, /SELVEDGE_TOKEN/);
    }
  });

  test("a token opens what it may, and no more", async () => {
    const { account } = await firstIds(server);
    await cli.must(["bucket", "create", "mine"]);
    const policies = [policy("allow", accountKey(account), "storageRead")];
    const made = await call(server, "POST", "/user/tokens", { body: { name: "t", policies } });
    const reader = cli.with({ SELVEDGE_TOKEN: (made.result as { value: string }).value });
    const named = reader.with({ SELVEDGE_ACCOUNT_ID: account });
    assert.match(await named.must(["bucket", "list"]), /^mine /m);
    assert.equal((await named.run(["bucket", "create", "other"])).code, 4);
    assert.equal((await reader.run(["object", "list", "mine"])).code, 0);
    assert.equal((await reader.run(["object", "put", "mine/k", "-"], "v")).code, 4);
  });

  test("of several accounts one is chosen", async () => {
    const { account } = await firstIds(server);
    const made = await call(server, "POST", "/accounts", { body: { name: "Other" } });
    const other = (made.result as { id: string }).id;
    const { code, stderr } = await cli.run(["bucket", "list"]);
    assert.equal(code, 2);
    const [said, ...listed] = lines(stderr);
    assert.match(said!, /^selvedge: There are several accounts\. Choose one with --account or /);
    assert.deepEqual(listed, [`  ${other}  Other`, `  ${account}  Selvedge`]);
    assert.deepEqual(await cli.json(["bucket", "list", "--account", "Other"]), []);
    const chosen = cli.with({ SELVEDGE_ACCOUNT_ID: account });
    assert.match(await chosen.must(["bucket", "list"]), /^mine /m);
  });
});

test("help answers at every level", async () => {
  const top = await cli.must(["--help"]);
  for (const group of ["serve", "bucket", "object", "zone", "record"]) {
    assert.match(top, new RegExp(`^ {2}${group} `, "m"));
  }
  assert.match(top, /Exit codes: 0 done/);
  assert.match(await cli.must(["object", "--help"]), /^ {2}put\|add \[options\]/m);
  assert.match(await cli.must(["object", "put", "--help"]), /Examples:\n {2}selvedge object put/);
});
