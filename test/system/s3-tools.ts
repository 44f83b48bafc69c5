/** Debian's S3 tools, as they are shipped, against the real server: the commands of docs/clients.md. */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { PYTHON } from "../support/debian.ts";
import { mustRun, runProgram } from "../support/program.ts";
import { commandsUnder, forServer, ROOT, shell } from "../support/readme.ts";
import { ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY, startS3 } from "../support/s3.ts";
import { ODD_TREE, sameTree, writeTree } from "../support/tree.ts";

const MIB = 1024 ** 2;

const server = await startS3();
after(() => server[Symbol.asyncDispose]());

/** The tools read their settings in the home folder and where they stand: both are this one. */
const home = await mkdtemp(join(tmpdir(), "selvedge-s3-tools-"));
after(() => rm(home, { recursive: true, force: true }));

const tree = join(home, "tree");
await writeTree(tree, ODD_TREE);

const aws = {
  HOME: home,
  AWS_ACCESS_KEY_ID: ACCESS_KEY_ID,
  AWS_SECRET_ACCESS_KEY: SECRET_ACCESS_KEY,
  AWS_DEFAULT_REGION: REGION,
  AWS_EC2_METADATA_DISABLED: "true",
};

suite("the README", () => {
  test("its lines make a bucket and fill it with aws and rclone", async () => {
    const { code, output } = await shell(forServer(commandsUnder("S3"), server), ROOT, server);
    assert.equal(code, 0, output);
    assert.match(output, /docs\/readme\.md$/m);
    assert.match(output, /docs\/more\/decisions\/0001-runtime\.md$/m);
  });
});

suite("rclone", () => {
  const env = {
    ...aws,
    RCLONE_CONFIG: join(home, "rclone.conf"),
    RCLONE_CONFIG_EDGE_TYPE: "s3",
    RCLONE_CONFIG_EDGE_PROVIDER: "Other",
    RCLONE_CONFIG_EDGE_ENV_AUTH: "true",
    RCLONE_CONFIG_EDGE_ENDPOINT: server.endpoint,
    RCLONE_S3_CHUNK_SIZE: "5M",
    RCLONE_S3_UPLOAD_CUTOFF: "5M",
  };
  const rclone = (...args: string[]) => mustRun("/usr/bin/rclone", args, { cwd: home, env });

  test("a tree goes up, is checked, comes down and is the same", async () => {
    await rclone("mkdir", "edge:rclone");
    await rclone("sync", tree, "edge:rclone/tree");
    await rclone("check", "--download", tree, "edge:rclone/tree");
    await rclone("sync", "edge:rclone/tree", join(home, "rclone-down"));
    await sameTree(join(home, "rclone-down"), ODD_TREE);
  });

  test("what is in step is not sent again, and what is gone is deleted", async () => {
    const copy = join(home, "rclone-down");
    await rm(join(copy, "plain.txt"));
    const { code, stderr } = await runProgram(
      "/usr/bin/rclone",
      ["sync", "-v", copy, "edge:rclone/tree"],
      { cwd: home, env },
    );
    assert.equal(code, 0, stderr);
    assert.match(stderr, /plain\.txt: Deleted/);
    assert.doesNotMatch(stderr, /Copied/);
    await writeFile(join(copy, "plain.txt"), ODD_TREE["plain.txt"]!);
  });

  test("objects are moved and listed, and a bucket is purged", async () => {
    await rclone("moveto", "edge:rclone/tree/empty", "edge:rclone/moved");
    const names = (await rclone("lsf", "-R", "--files-only", "edge:rclone")).trim().split("\n");
    assert.ok(names.includes("moved") && !names.includes("tree/empty"), names.join());
    await rclone("purge", "edge:rclone");
    assert.doesNotMatch(await rclone("lsd", "edge:"), /rclone/);
  });
});

suite("aws s3", () => {
  // Debian's own first: another may stand before it on the developer's path.
  const run = (...args: string[]) =>
    mustRun("/usr/bin/aws", ["--endpoint-url", server.endpoint, ...args], { cwd: home, env: aws });

  test("a tree goes up and comes down the same", async () => {
    await run("s3", "mb", "s3://awscli");
    await run("s3", "sync", "--only-show-errors", tree, "s3://awscli/tree");
    await run("s3", "sync", "--only-show-errors", "s3://awscli/tree", join(home, "aws-down"));
    await sameTree(join(home, "aws-down"), ODD_TREE);
    assert.equal(await run("s3", "sync", tree, "s3://awscli/tree"), "");
  });

  test("200 MiB go in parts and come back as they were", async () => {
    const octets = randomBytes(MIB);
    const file = join(home, "large");
    await writeFile(file, Buffer.concat(Array.from({ length: 200 }, () => octets)));
    await run("s3", "cp", "--only-show-errors", file, "s3://awscli/large");
    await run("s3", "cp", "--only-show-errors", "s3://awscli/large", `${file}-back`);
    assert.equal(await sha256(`${file}-back`), await sha256(file));
    await rm(file);
    await rm(`${file}-back`);
  });

  test("copies, lists, presigned addresses, removals", async () => {
    await run("s3", "cp", "s3://awscli/tree/plain.txt", "s3://awscli/copied.txt");
    assert.match(await run("s3", "ls", "s3://awscli/"), /6 copied\.txt/);
    const url = (await run("s3", "presign", "s3://awscli/copied.txt")).trim();
    assert.equal(await (await fetch(url)).text(), "plain\n");
    const info = await run("s3api", "head-object", "--bucket", "awscli", "--key", "copied.txt");
    assert.equal((JSON.parse(info) as { ContentLength: number }).ContentLength, 6);
    await run("s3", "rb", "--force", "s3://awscli");
    assert.doesNotMatch(await run("s3", "ls"), /awscli/);
  });
});

suite("s3cmd", () => {
  const config = join(home, "s3cfg");
  const { host } = new URL(server.endpoint);
  const run = (...args: string[]) =>
    mustRun("/usr/bin/s3cmd", ["-c", config, "--no-progress", ...args], { cwd: home, env: aws });

  test("a tree goes up and comes down the same", async () => {
    const lines = [
      "[default]",
      `access_key = ${ACCESS_KEY_ID}`,
      `secret_key = ${SECRET_ACCESS_KEY}`,
      `host_base = ${host}`,
      `host_bucket = ${host}`,
      "use_https = False",
      "multipart_chunk_size_mb = 5",
    ];
    await writeFile(config, `${lines.join("\n")}\n`);
    await run("mb", "s3://s3cmd");
    await run("sync", `${tree}/`, "s3://s3cmd/tree/");
    await mkdir(join(home, "s3cmd-down"));
    await run("sync", "s3://s3cmd/tree/", `${join(home, "s3cmd-down")}/`);
    await sameTree(join(home, "s3cmd-down"), ODD_TREE);
  });

  test("an object is shown, copied, and all are removed with their bucket", async () => {
    assert.match(await run("info", "s3://s3cmd/tree/plain.txt"), /File size:\s+6/);
    await run("cp", "s3://s3cmd/tree/plain.txt", "s3://s3cmd/copied.txt");
    assert.match(await run("ls", "s3://s3cmd/"), /copied\.txt/);
    await run("del", "--recursive", "--force", "s3://s3cmd/");
    await run("rb", "s3://s3cmd");
  });
});

suite("boto3", () => {
  test("objects, metadata, parts, lists, conditions and errors", async () => {
    const program = `
import boto3, hashlib, os
from botocore.config import Config
from botocore.exceptions import ClientError
# Without it this version signs addresses in the way that came before.
s3 = boto3.client("s3", endpoint_url="${server.endpoint}", config=Config(signature_version="s3v4"))
s3.create_bucket(Bucket="boto3")
s3.put_object(Bucket="boto3", Key="a b/+é", Body=b"hello", Metadata={"who": "boto3"}, ContentType="text/x")
got = s3.get_object(Bucket="boto3", Key="a b/+é")
assert got["Body"].read() == b"hello" and got["Metadata"] == {"who": "boto3"} and got["ContentType"] == "text/x"
large = os.urandom(12 * 1024 * 1024)
with open("boto3-large", "wb") as file:
    file.write(large)
s3.upload_file("boto3-large", "boto3", "large")
s3.download_file("boto3", "large", "boto3-back")
with open("boto3-back", "rb") as file:
    assert hashlib.sha256(file.read()).digest() == hashlib.sha256(large).digest()
for number in range(25):
    s3.put_object(Bucket="boto3", Key="n/%02d" % number, Body=b"")
pages = s3.get_paginator("list_objects_v2").paginate(Bucket="boto3", Prefix="n/", PaginationConfig={"PageSize": 10})
assert [item["Key"] for page in pages for item in page["Contents"]] == ["n/%02d" % number for number in range(25)]
assert s3.list_objects_v2(Bucket="boto3", Prefix="a b/")["Contents"][0]["Key"] == "a b/+é"
try:
    s3.get_object(Bucket="boto3", Key="missing")
    raise Exception("it was there")
except s3.exceptions.NoSuchKey:
    pass
try:
    s3.get_object(Bucket="boto3", Key="large", IfMatch='"no"')
    raise Exception("it matched")
except ClientError as error:
    assert error.response["ResponseMetadata"]["HTTPStatusCode"] == 412
url = s3.generate_presigned_url("get_object", Params={"Bucket": "boto3", "Key": "a b/+é"})
import urllib.request
assert urllib.request.urlopen(url).read() == b"hello"
bucket = boto3.resource("s3", endpoint_url="${server.endpoint}").Bucket("boto3")
bucket.objects.all().delete()
bucket.delete()
print("done")
`;
    const said = await mustRun(PYTHON, ["-c", program], { cwd: home, env: aws });
    assert.equal(said, "done\n");
  });
});

suite("restic", () => {
  const env = {
    ...aws,
    RESTIC_PASSWORD: "a password",
    RESTIC_REPOSITORY: `s3:${server.endpoint}/restic/repository`,
  };
  const restic = (...args: string[]) => mustRun("/usr/bin/restic", args, { cwd: home, env });

  test("a backup is made, checked in every octet, and restored the same", async () => {
    await restic("init");
    await restic("backup", tree);
    await restic("check", "--read-data");
    await restic("restore", "latest", "--target", join(home, "restored"));
    await sameTree(join(home, "restored", tree), ODD_TREE);
    await restic("forget", "--keep-last", "1", "--prune");
  });
});

async function sha256(file: string): Promise<string> {
  return createHash("sha256")
    .update(await readFile(file))
    .digest("hex");
}
