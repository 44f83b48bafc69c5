/** The commands for S3 keys: the real program against a real server. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { Cli } from "../support/cli.ts";
import { startS3 } from "../support/s3.ts";

const server = await startS3();
after(() => server[Symbol.asyncDispose]());
const cli = await Cli.for(server.origin);
after(() => cli[Symbol.asyncDispose]());

interface Key {
  readonly access_key_id: string;
  readonly secret_access_key?: string;
  readonly name: string;
  readonly permission: string;
  readonly buckets: readonly { name: string; prefixes: readonly string[] }[] | null;
  readonly expires_on: string | null;
}

test("a key is made with its secret, listed without it, and revoked", async () => {
  const made = await cli.run(["key", "create", "backup", "--bucket", "backups"]);
  assert.equal(made.code, 0, made.stderr);
  assert.match(made.stdout, /^Access key id +[0-9a-f]{32}\nSecret access key +[0-9a-f]{64}\n/);
  assert.match(made.stdout, /^May +read-write\nBuckets +backups\nExpires +-$/m);
  assert.equal(made.stderr, "The secret is not shown again.\n");
  const secret = /[0-9a-f]{64}/.exec(made.stdout)![0];
  const listed = await cli.must(["key", "list"]);
  assert.match(listed, /^ACCESS KEY +NAME +MAY +BUCKETS +EXPIRES +LAST USED$/m);
  assert.match(listed, /^SELVEDGETESTKEY00001 +first start +admin +all +- +-$/m);
  assert.match(listed, /^[0-9a-f]{32} +backup +read-write +backups +- +-$/m);
  assert.ok(!listed.includes(secret));
  const [, key] = await cli.json<Key[]>(["key", "list"]);
  const revoked = await cli.json<Key>(["key", "revoke", "backup", "--yes"]);
  assert.deepEqual(revoked, { access_key_id: key!.access_key_id });
  assert.equal((await cli.json<Key[]>(["key", "list"])).length, 1);
});

test("a key is scoped to buckets and prefixes, and ends", async () => {
  const options = ["--permission", "read-only", "--expires", "12h"];
  const places = ["site/public/", "site/img/", "logs"].flatMap((place) => ["--bucket", place]);
  const key = await cli.json<Key>(["key", "create", "www", ...options, ...places]);
  assert.match(key.secret_access_key!, /^[0-9a-f]{64}$/);
  assert.equal(key.permission, "read-only");
  assert.deepEqual(key.buckets, [
    { name: "site", prefixes: ["public/", "img/"] },
    { name: "logs", prefixes: [] },
  ]);
  const hours = (Date.parse(key.expires_on!) - Date.now()) / 3_600_000;
  assert.ok(hours > 11.9 && hours <= 12, String(hours));
  assert.match(await cli.must(["key", "list"]), /site\/public\/, site\/img\/, logs/);
  const day = ["key", "create", "till", "--expires", "2099-01-31"];
  assert.equal((await cli.json<Key>(day)).expires_on, "2099-01-31T00:00:00Z");
});

test("what cannot be is said, with its exit code", async () => {
  const said = async (...args: string[]) => {
    const { code, stdout, stderr } = await cli.run(["key", ...args]);
    assert.equal(stdout, "");
    return [code, stderr] as const;
  };
  assert.deepEqual(await said("revoke", "nobody", "--yes"), [
    3,
    "selvedge: There is no S3 key nobody.\n",
  ]);
  assert.match((await said("revoke", "www"))[1], /There is no terminal to ask at/);
  assert.equal((await said("create", "x", "--expires", "soon"))[0], 2);
  assert.equal((await said("create", "x", "--permission", "root"))[0], 2);
  const [code, stderr] = await said("create", "x", "--bucket", "Bad_Name");
  assert.equal(code, 1);
  assert.match(stderr, /not the name of a bucket/);
  await cli.must(["key", "create", "www"]);
  assert.match((await said("revoke", "www", "--yes"))[1], /2 S3 keys have the name www/);
  assert.match(await cli.must(["--help"]), /^ {2}key /m);
});
