/** The commands for what a bucket is set to: the real program against a real server. */
import assert from "node:assert/strict";
import { request } from "node:http";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, suite, test } from "node:test";
import { Cli } from "../support/cli.ts";
import { startS3 } from "../support/s3.ts";
import { call } from "./api.ts";
import { accountKey, firstIds, policy } from "./policies.ts";

const server = await startS3();
after(() => server[Symbol.asyncDispose]());
const cli = await Cli.for(server.origin);
after(() => cli[Symbol.asyncDispose]());

/** `bucket cors`, with what it says when it fails. */
function commands(group: string) {
  return {
    must: (...args: string[]) => cli.must(["bucket", group, ...args]),
    json: <T>(...args: string[]) => cli.json<T>(["bucket", group, ...args]),
    refused: async (...args: string[]) => {
      const { code, stdout, stderr } = await cli.run(["bucket", group, ...args]);
      assert.equal(stdout, "");
      return [code, stderr] as const;
    },
  };
}

async function file(name: string, content: string): Promise<string> {
  await writeFile(join(cli.folder, name), content);
  return name;
}

before(async () => {
  await cli.must(["bucket", "create", "photos"]);
  await cli.must(["object", "put", "photos/hello.txt", "-"], "hello");
});

suite("selvedge bucket cors", () => {
  const { must, json, refused } = commands("cors");
  const rules = [
    {
      id: "site",
      allowed: { origins: ["https://example.com"], methods: ["GET", "PUT"], headers: ["range"] },
      exposeHeaders: ["ETag"],
      maxAgeSeconds: 3600,
    },
    { allowed: { origins: ["*"], methods: ["GET"] } },
  ];

  test("sets rules from a file, which browsers are then answered by, lists and deletes them", async () => {
    assert.deepEqual(await json("list", "photos"), []);
    const given = await file("cors.json", JSON.stringify({ rules }));
    assert.equal(await must("set", "photos", "--file", given), "photos has 2 CORS rules now.\n");
    const preflight = await fetch(`${server.endpoint}/photos/hello.txt`, {
      method: "OPTIONS",
      headers: { origin: "https://example.com", "access-control-request-method": "PUT" },
    });
    assert.equal(preflight.headers.get("access-control-allow-origin"), "https://example.com");
    const listed = await must("list", "photos");
    assert.match(listed, /^ID +ORIGINS +METHODS +HEADERS +EXPOSED +MAX AGE$/m);
    assert.match(listed, /^site +https:\/\/example\.com +GET, PUT +range +ETag +3600 s$/m);
    assert.match(listed, /^- +\* +GET +- +- +-$/m);
    assert.deepEqual(await json("delete", "photos", "--yes"), rules);
    assert.deepEqual(await refused("delete", "photos", "--yes"), [
      3,
      "selvedge: photos has no CORS rules.\n",
    ]);
  });

  test("takes what list --json prints, from standard input too", async () => {
    const set = ["bucket", "cors", "set", "photos", "--file", "-"];
    await cli.must(set, JSON.stringify(rules));
    const listed = JSON.stringify(await json("list", "photos"));
    assert.deepEqual(await cli.json(set, listed), rules);
    assert.deepEqual(await json("list", "photos"), rules);
  });

  test("names the line of what the server refuses in a file, and changes nothing", async () => {
    const before = await json("list", "photos");
    const given = '{"rules": [{"allowed": {\n"origins": "*",\n"methods": [1]}}]}';
    assert.deepEqual(await refused("set", "photos", "--file", await file("bad.json", given)), [
      1,
      [
        "selvedge: bad.json:2: rules.0.allowed.origins: expected array, received string\n",
        "bad.json:3: rules.0.allowed.methods.0: expected string, received number\n",
      ].join(""),
    ]);
    const patch = await file(
      "patch.json",
      '[{"allowed": {"origins": ["*"], "methods": ["PATCH"]}}]',
    );
    const [code, stderr] = await refused("set", "photos", "--file", patch);
    assert.equal(code, 1);
    assert.match(stderr, /^selvedge: patch\.json: AllowedMethod "PATCH" is none of GET, PUT/);
    assert.deepEqual(await json("list", "photos"), before);
  });

  test("says what cannot be, with its exit code", async () => {
    assert.deepEqual(await refused("list", "fotos"), [
      3,
      "selvedge: There is no bucket fotos. Did you mean photos?\n",
    ]);
    assert.deepEqual(await refused("set", "photos"), [
      2,
      "selvedge: Name the file that has the rules: --file FILE.\n",
    ]);
    const missing = await refused("set", "photos", "--file", "none.json");
    assert.deepEqual(missing, [
      3,
      "selvedge: Cannot read none.json: there is no such file or folder.\n",
    ]);
    const unasked =
      "Delete the CORS rules of photos? There is no terminal to ask at: say so with --yes.";
    assert.deepEqual(await refused("delete", "photos"), [2, `selvedge: ${unasked}\n`]);
  });
});

suite("selvedge bucket lifecycle", () => {
  const { must, json, refused } = commands("lifecycle");
  const DAY = 86_400;

  test("adds rules to those that are there, lists and removes them", async () => {
    const added = await must("add", "photos", "--prefix", "tmp/", "--expire-days", "7");
    assert.match(added, /^Name +rule-1\nObjects +tmp\/\*\nDoes +delete after 7 days\n$/);
    await must("add", "photos", "--abort-multipart-days", "1");
    const options = ["--ia-transition-days", "30", "--expire-date", "2099-01-31"];
    const rule = await json("add", "photos", "--name", "old", "--prefix", "old/", ...options);
    assert.deepEqual(rule, {
      id: "old",
      enabled: true,
      conditions: { prefix: "old/" },
      deleteObjectsTransition: { condition: { type: "Date", date: "2099-01-31" } },
      storageClassTransitions: [
        { condition: { type: "Age", maxAge: 30 * DAY }, storageClass: "InfrequentAccess" },
      ],
    });
    const listed = await must("list", "photos");
    assert.match(listed, /^NAME +STATE +OBJECTS +DOES$/m);
    assert.match(listed, /^rule-1 +on +tmp\/\* +delete after 7 days$/m);
    assert.match(listed, /^rule-2 +on +\* +abort uploads after 1 day$/m);
    const deeds = "move to InfrequentAccess after 30 days, delete from 2099-01-31 on";
    assert.match(listed, new RegExp(`^old +on +old/\\* +${deeds}$`, "m"));
    const removed = await json<{ id: string }>("remove", "photos", "rule-2", "--yes");
    assert.equal(removed.id, "rule-2");
    const left = await json<{ id: string }[]>("list", "photos");
    assert.deepEqual(
      left.map(({ id }) => id),
      ["rule-1", "old"],
    );
  });

  test("keeps what only S3 and files can say when it adds a rule", async () => {
    const rule = {
      id: "tagged",
      enabled: false,
      conditions: { prefix: "", tags: { kind: "draft" }, objectSizeGreaterThan: 1024 },
      deleteObjectsTransition: { condition: { type: "Age", maxAge: DAY } },
      forVersions: { expiration: { days: 3, kept: 2 } },
    };
    const set = ["set", "photos", "--file", await file("rules.json", JSON.stringify([rule]))];
    assert.equal(await must(...set), "photos has one lifecycle rule now.\n");
    await must("add", "photos", "--name", "next", "--prefix", "n/", "--expire-days", "1");
    assert.deepEqual((await json<object[]>("list", "photos"))[0], rule);
    const shown =
      /^tagged +off +\*, tagged kind=draft, over 1 KiB +delete after 1 day, for versions/m;
    assert.match(await must("list", "photos"), shown);
    assert.equal(
      await must("set", "photos", "--file", await file("none.json", '{"rules": []}')),
      "photos has no lifecycle rules now.\n",
    );
    assert.deepEqual(await json("list", "photos"), []);
  });

  test("asks before a rule that deletes objects of every key", async () => {
    const question =
      "deletes objects of every key in photos. Set it? There is no terminal to ask at";
    const add = ["add", "photos", "--name", "all", "--expire-days", "365"];
    const [code, stderr] = await refused(...add);
    assert.equal(code, 2);
    assert.ok(stderr.startsWith(`selvedge: The rule all ${question}`), stderr);
    assert.deepEqual(await json("list", "photos"), []);
    await must(...add, "--yes");
    const rules = await file("all.json", JSON.stringify(await json("list", "photos")));
    assert.equal((await refused("set", "photos", "--file", rules))[0], 2);
    await must("set", "photos", "--file", rules, "--yes");
    await must("remove", "photos", "all", "--yes");
  });

  test("says what cannot be, with its exit code", async () => {
    const [code, stderr] = await refused("add", "photos");
    assert.equal(code, 2);
    assert.match(stderr, /Say what the rule does: --expire-days, --expire-date/);
    const both = ["--prefix", "a", "--expire-days", "1", "--expire-date", "2099-01-31"];
    assert.deepEqual(await refused("add", "photos", ...both), [
      2,
      "selvedge: Name one of --expire-days and --expire-date.\n",
    ]);
    for (const day of ["2099-02-30", "soon"]) {
      assert.equal((await refused("add", "photos", "--expire-date", day))[0], 2, day);
    }
    assert.equal((await refused("add", "photos", "--expire-days", "0"))[0], 2);
    await must("add", "photos", "--name", "tmp", "--prefix", "tmp/", "--expire-days", "1");
    const again = await refused("add", "photos", "--name", "tmp", "--abort-multipart-days", "1");
    assert.equal(again[0], 1);
    assert.match(again[1], /^selvedge: photos has a rule tmp already\. Choose another --name/);
    assert.deepEqual(await refused("remove", "photos", "tmq", "--yes"), [
      3,
      "selvedge: photos has no lifecycle rule tmq. Did you mean tmp?\n",
    ]);
    const given = '{"rules": [{"id": "x", "enabled": true,\n"conditions": {"prefx": "a/"}}]}';
    assert.deepEqual(await refused("set", "photos", "--file", await file("stray.json", given)), [
      2,
      "selvedge: stray.json:2: rules[0].conditions.prefx: is not a key that is known here. Did you mean prefix?\n",
    ]);
    assert.equal((await refused("list", "fotos"))[0], 3);
  });
});

suite("selvedge bucket public", () => {
  const { must, json, refused } = commands("public");
  const url = () => `${server.endpoint}/photos`;
  const statuses = async () => {
    const asked = [`${url()}/hello.txt`, url()].map(async (at) => (await fetch(at)).status);
    return Promise.all(asked);
  };

  test("lets anyone read, and list if asked for, until it is off again", async () => {
    assert.match(await must("status", "photos"), /^Over S3 +nobody without an access key$/m);
    assert.deepEqual(await statuses(), [403, 403]);
    assert.equal(
      await must("on", "photos", "--yes"),
      `Anyone can read the objects of photos now: ${url()}/KEY\n`,
    );
    assert.deepEqual(await statuses(), [200, 403]);
    const shown = await must("status", "photos");
    assert.match(shown, /^Over S3 +anyone can read, but not list$/m);
    assert.ok(shown.includes(`Address    ${url()}/KEY\n`), shown);
    const listed = await json<{ url: string; listing: boolean }>(
      "on",
      "photos",
      "--listing",
      "--yes",
    );
    assert.deepEqual([listed.url, listed.listing], [url(), true]);
    assert.deepEqual(await statuses(), [200, 200]);
    const status = await json<{ url: string | null; domains: object[] }>("status", "photos");
    assert.deepEqual([status.url, status.domains], [url(), []]);
    const off = await must("off", "photos");
    assert.equal(off, "Nobody can read photos over S3 without an access key now.\n");
    assert.deepEqual(await statuses(), [403, 403]);
    assert.equal((await json<{ url: string | null }>("status", "photos")).url, null);
  });

  test("is not switched on without a word, by who may not, or for no bucket", async () => {
    const question = "Let anyone read the objects of photos, without an access key?";
    const [code, stderr] = await refused("on", "photos");
    assert.equal(code, 2);
    assert.ok(stderr.startsWith(`selvedge: ${question} There is no terminal`), stderr);
    const { account } = await firstIds(server);
    const body = {
      name: "reader",
      policies: [policy("allow", accountKey(account), "storageRead")],
    };
    const { result } = await call(server, "POST", "/user/tokens", { body });
    const reader = cli.with({ SELVEDGE_TOKEN: (result as { value: string }).value });
    assert.match(await reader.must(["bucket", "public", "status", "photos"]), /nobody without/);
    assert.equal((await reader.run(["bucket", "public", "on", "photos", "--yes"])).code, 4);
    assert.equal((await refused("on", "fotos", "--yes"))[0], 3);
    assert.deepEqual(await statuses(), [403, 403]);
  });
});

suite("selvedge bucket domain", () => {
  const { must, json, refused } = commands("domain");
  const host = "files.example.com";

  async function atEdge(): Promise<string> {
    const asked = request(`${server.ready["edge"]!}/hello.txt`, { headers: { host } });
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    asked.once("error", reject);
    asked.once("response", (response) => void text(response).then(resolve, reject));
    asked.end();
    return promise;
  }

  test("needs a zone of the account", async () => {
    assert.deepEqual(await refused("add", "photos", host, "--yes"), [
      3,
      `selvedge: There is no zone for ${host} in this account. Make one with "selvedge zone create example.com".\n`,
    ]);
    await cli.must(["zone", "create", "example.com"]);
  });

  test("lets anyone read under a hostname, which gets a record, until it is removed", async () => {
    const add = ["add", "photos", "Files.example.com."];
    const question = `Let anyone read the objects of photos at https://${host}?`;
    const [code, stderr] = await refused(...add);
    assert.equal(code, 2);
    assert.ok(stderr.startsWith(`selvedge: ${question} There is no terminal`), stderr);
    const added = await must(...add, "--yes");
    assert.match(added, /^Hostname +files\.example\.com\nZone +example\.com$/m);
    assert.match(added, /^Record +files\.example\.com auto AAAA 100:: proxied/m);
    assert.match(added, /^Address +https:\/\/files\.example\.com\/KEY$/m);
    assert.equal(await atEdge(), "hello");
    assert.match(
      await must("list", "photos"),
      /^files\.example\.com +on +example\.com +https:\/\/files\.example\.com$/m,
    );
    const off = await cli.run(["bucket", "public", "off", "photos"]);
    assert.match(
      off.stderr,
      /^warning: Anyone can still read it at https:\/\/files\.example\.com\./,
    );
    const status = await cli.must(["bucket", "public", "status", "photos"]);
    assert.match(status, /^Hostnames +anyone can read, but not list\nAddress +https:\/\/files\./m);
    assert.equal((await refused(...add, "--yes"))[0], 1, "it is there already");
    assert.deepEqual(await json("remove", "photos", host, "--yes"), { domain: host });
    assert.deepEqual(await json("list", "photos"), []);
    assert.notEqual(await atEdge(), "hello");
    assert.deepEqual(await cli.json(["record", "list", "example.com"]), []);
  });

  test("takes a record that is there if it is proxied, and says so if it is not", async () => {
    await cli.must(["record", "add", "example.com", "other", "A", "192.0.2.1"]);
    const add = ["add", "photos", "other.example.com", "--yes"];
    assert.deepEqual(await refused(...add), [
      1,
      'selvedge: other.example.com has a DNS record that leads elsewhere. Remove it, or have it proxied with "selvedge record edit ZONE other.example.com --proxied".\n',
    ]);
    assert.deepEqual(await json("list", "photos"), []);
    await cli.must(["record", "edit", "example.com", "other", "--proxied"]);
    const { url, records } = await json<{ url: string; records: { content: string }[] }>(...add);
    assert.deepEqual(
      [url, records.map(({ content }) => content)],
      ["https://other.example.com", ["192.0.2.1"]],
    );
  });

  test("says what cannot be, with its exit code", async () => {
    for (const given of ["https://x.example.com/", "*.example.com", "x%2eexample.com", "x y", ""]) {
      assert.deepEqual(await refused("add", "photos", given, "--yes"), [
        2,
        `selvedge: "${given}" is no hostname. Write one such as files.example.com.\n`,
      ]);
    }
    assert.equal((await refused("remove", "photos", "none.example.com", "--yes"))[0], 3);
    assert.equal((await refused("add", "fotos", "x.example.com", "--yes"))[0], 3);
  });
});
