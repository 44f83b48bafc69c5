/** The commands for zones and records: the real program against a real server. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { Cli } from "../support/cli.ts";
import { startServer, type TestServer } from "../support/server.ts";

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

const file = (name: string) => join(cli.folder, name);
const lastLine = (text: string) => text.trimEnd().split("\n").at(-1);

suite("selvedge zone and record", () => {
  before(() => cli.must(["zone", "create", "example.com"]));
  const record = (...args: string[]) => cli.must(["record", ...args]);
  const recordJson = <T>(...args: string[]) => cli.json<T>(["record", ...args]);

  test("a zone is listed, shown, and set", async () => {
    assert.match(
      await cli.must(["zone", "list"]),
      /^NAME.*\nexample\.com +\w+ +full +[0-9a-f]{32}\n$/,
    );
    const { id } = await cli.json<{ id: string }>(["zone", "info", "EXAMPLE.com."]);
    assert.match(await cli.must(["zone", "info", id]), /^Name servers +ns1\.selvedge\.test/m);
    const changes = ["min_tls_version=1.2", "browser_cache_ttl=60"];
    const set = await cli.json<{ value: unknown }[]>([
      "zone",
      "settings",
      "example.com",
      ...changes,
    ]);
    assert.deepEqual(
      set.map(({ value }) => value),
      ["1.2", 60],
    );
    const wrong = await cli.run(["zone", "settings", "example.com", "min_tls=1"]);
    assert.deepEqual(
      [wrong.code, wrong.stderr.includes("There is no zone setting min_tls.")],
      [3, true],
    );
    const missing = await cli.run(["zone", "info", "exampel.com"]);
    assert.equal(
      missing.stderr,
      "selvedge: There is no zone exampel.com. Did you mean example.com?\n",
    );
    const inside = await cli.run(["zone", "info", "www.example.com"]);
    assert.match(inside.stderr, /It lies in the zone example\.com\.$/m);
  });

  test("records of all kinds are added, changed and removed", async () => {
    const added: [args: string[], line: string][] = [
      [["www", "A", "192.0.2.1", "--proxied"], "www.example.com auto A 192.0.2.1 proxied"],
      [
        ["@", "mx", "mail.example.com", "--priority", "10"],
        "example.com auto MX 10 mail.example.com",
      ],
      [["@", "TXT", "v=spf1 -all", "--ttl", "60"], 'example.com 60 TXT "v=spf1 -all"'],
      [["@", "CAA", '0 issue "ca.test"'], 'example.com auto CAA 0 issue "ca.test"'],
      [
        [
          "_sip._tcp",
          "SRV",
          "--fields",
          '{"priority":1,"weight":5,"port":5060,"target":"sip.example.com"}',
        ],
        "_sip._tcp.example.com auto SRV 1 5 5060 sip.example.com",
      ],
    ];
    for (const [args, line] of added) {
      assert.equal(await record("add", "example.com", ...args), `Added ${line}\n`);
    }
    assert.equal((await recordJson<unknown[]>("list", "example.com")).length, added.length);
    const mx = await recordJson<{ id: string }[]>("list", "example.com", "--type", "MX");
    assert.equal(mx.length, 1);
    const edited = await record(
      "edit",
      "example.com",
      "www",
      "--content",
      "192.0.2.2",
      "--no-proxied",
    );
    assert.equal(edited, "Changed www.example.com auto A 192.0.2.2\n");
    const removed = await record("remove", "example.com", mx[0]!.id);
    assert.equal(removed, "Removed example.com auto MX 10 mail.example.com\n");
    const byType = await record("remove", "example.com", "@", "CAA");
    assert.equal(byType, 'Removed example.com auto CAA 0 issue "ca.test"\n');
  });

  test("what is not clear or not there is told", async () => {
    await record("add", "example.com", "www", "A", "192.0.2.3");
    const several = await cli.run(["record", "remove", "example.com", "www"]);
    assert.equal(several.code, 2);
    assert.match(
      several.stderr,
      /several records\. Name one by its id:\n {2}[0-9a-f]{32} {2}www\./,
    );
    await record("add", "example.com", "www", "TXT", "v=1");
    const mixed = await cli.run(["record", "delete", "example.com", "www"]);
    assert.match(mixed.stderr, /several records\. Name one by its id, or give its TYPE:\n/);
    await cli.must(["record", "delete", "example.com", "www", "TXT", "-y"]);
    const mail = ["record", "add", "example.com", "@", "MX", "mail.example.com"];
    const { code, stderr: said } = await cli.run(mail);
    assert.equal(code, 2);
    assert.match(said, /priority is a required field \(9101\)\. Give it with --priority\.\n$/);
    const missing = await cli.run(["record", "edit", "example.com", "wwx", "--ttl", "60"]);
    assert.equal(missing.code, 3);
    assert.match(
      missing.stderr,
      /There is no record wwx\.example\.com.*Did you mean www\.example\.com\?/,
    );
    const bad = await cli.run(["record", "add", "example.com", "x", "A", "192.0.2.256", "--json"]);
    assert.deepEqual([bad.code, bad.stdout], [1, ""]);
    const { error } = JSON.parse(bad.stderr) as {
      error: { kind: string; errors: { code: number }[] };
    };
    assert.deepEqual([error.kind, error.errors[0]!.code], ["failed", 9005]);
    const { stderr } = await cli.run(["record", "add", "example.com", "x"]);
    assert.equal(stderr, "selvedge: missing required argument 'TYPE'.\n");
  });

  test("a dry run shows the difference and changes nothing", async () => {
    const before = await recordJson("list", "example.com");
    const shown = await record("add", "example.com", "new", "A", "192.0.2.9", "--dry-run");
    assert.equal(shown, "+ new.example.com auto A 192.0.2.9\n1 to add. Nothing has changed.\n");
    const dry = await recordJson<{ changes: unknown[] }>(
      "remove",
      "example.com",
      "@",
      "TXT",
      "--dry-run",
    );
    assert.equal(dry.changes.length, 1);
    assert.deepEqual(await recordJson("list", "example.com"), before);
  });

  test("a zone goes out as a file and comes in from one", async () => {
    await record("export", "example.com", "zone.txt");
    const text = await readFile(file("zone.txt"), "utf8");
    assert.match(text, /www\.example\.com\.\s+1\s+IN\s+A\s+192\.0\.2\.2/);
    await cli.must(["zone", "create", "example.net"]);
    const zone = "www 300 IN A 192.0.2.1\nmail 300 IN A 192.0.2.2\n";
    assert.equal(
      await cli.must(["record", "import", "example.net", "-", "--dry-run"], zone).then(lastLine),
      "2 to add. Nothing has changed.",
    );
    assert.equal(
      await cli.must(["record", "import", "example.net", "-"], zone),
      "Added 2 of the 2 records in the file to example.net.\n",
    );
    const none = await cli.run(["record", "import", "example.net", "none.txt"]);
    assert.deepEqual(none, {
      code: 3,
      stdout: "",
      stderr: "selvedge: Cannot read none.txt: there is no such file or folder.\n",
    });
  });

  test("history tells what changed, and revert brings it back", async () => {
    const history = await recordJson<{ serial: number; changes: unknown[] }[]>(
      "history",
      "example.net",
    );
    assert.deepEqual([history.length, history[0]!.changes.length], [1, 2]);
    await record("remove", "example.net", "www");
    const told = await record("history", "example.net", "--limit", "1");
    assert.match(
      told,
      /^\d+ {2}\d{4}-.* {2}admin@selvedge\.local\n {2}- www\.example\.net 300 A 192\.0\.2\.1\n$/,
    );
    const serial = String(history[0]!.serial);
    const asked = await cli.run(["record", "revert", "example.net", serial]);
    assert.equal(asked.code, 2);
    assert.match(asked.stderr, /^\+ www\.example\.net 300 A 192\.0\.2\.1\n1 to add\.\n/);
    const done = await cli.json<{ records_changed: number }>([
      "record",
      "revert",
      "example.net",
      serial,
      "--yes",
    ]);
    assert.equal(done.records_changed, 1);
    assert.equal((await recordJson<unknown[]>("list", "example.net", "--name", "www")).length, 1);
    await cli.must(["zone", "delete", "example.net", "--yes"]);
    assert.equal((await cli.run(["zone", "info", "example.net"])).code, 3);
  });
});
