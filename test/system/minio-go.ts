/**
 * minio-go, the library that mc is made of, as Debian ships it, against the real server. `test/clients/minio-go` does
 * with it what mc's commands do; the SDK sees the same from the other side.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { mustRun, runProgram } from "../support/program.ts";
import { ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY, startS3 } from "../support/s3.ts";
import { ODD_TREE, sameTree, type Tree, writeTree } from "../support/tree.ts";

await import("../clients/install.ts");
const { S3 } = await import("../clients/s3.ts");

const MIB = 1024 ** 2;
const SOURCES = fileURLToPath(new URL("../clients/minio-go", import.meta.url));

const server = await startS3();
after(() => server[Symbol.asyncDispose]());
const client = new S3.S3Client({
  endpoint: server.endpoint,
  region: REGION,
  credentials: { accessKeyId: ACCESS_KEY_ID, secretAccessKey: SECRET_ACCESS_KEY },
  forcePathStyle: true,
});
after(() => client.destroy());

const home = await mkdtemp(join(tmpdir(), "selvedge-minio-go-"));
after(() => rm(home, { recursive: true, force: true }));
const program = join(home, "mc");
await mustRun("/usr/bin/go", ["build", "-o", program, "."], {
  cwd: SOURCES,
  // Debian's packages are sources in a tree of the old kind, and nothing is asked of the network.
  env: {
    HOME: home,
    GOCACHE: join(home, "cache"),
    GO111MODULE: "off",
    GOPATH: "/usr/share/gocode",
    CGO_ENABLED: "0",
  },
});

const env = {
  HOME: home,
  MC_ENDPOINT: server.endpoint,
  MC_ACCESS_KEY: ACCESS_KEY_ID,
  MC_SECRET_KEY: SECRET_ACCESS_KEY,
};

const Bucket = "from-mc";
await mc("mb", Bucket);

suite("buckets", () => {
  test("mb makes one, ls shows it, rb removes it", async () => {
    await mc("mb", "for-a-moment");
    assert.ok((await keysOf("ls")).includes("for-a-moment/"));
    await client.send(new S3.HeadBucketCommand({ Bucket: "for-a-moment" }));
    await mc("rb", "for-a-moment");
    assert.ok(!(await keysOf("ls")).includes("for-a-moment/"));
    assert.match(await fails("rb", "for-a-moment"), /^NoSuchBucket: /);
  });

  test("rb keeps one that holds objects, and with --force takes all with it", async () => {
    await mc("mb", "held");
    for (const key of ["a", "b/c", "ünï/+ &.txt"]) await put("held", key, key);
    assert.match(await fails("rb", "held"), /^BucketNotEmpty: /);
    await mc("rb", "-force", "held");
    assert.ok(!(await keysOf("ls")).includes("held/"));
  });

  test("stat of one finds what is asked for, or that there is none of it", async () => {
    const [about] = await mc("bucket-info", Bucket);
    assert.deepEqual(about, {
      exists: true,
      location: "auto",
      versioning: "",
      lock: "ObjectLockConfigurationNotFoundError",
      replication: null,
      encryption: "AES256",
      notification: 0,
    });
    const [other] = await mc("bucket-info", "nobodys-bucket");
    assert.equal(other?.["exists"], false);
  });

  test("a wrong secret is told as such", async () => {
    const wrong = { ...env, MC_SECRET_KEY: "wrong" };
    for (const args of [["ls"], ["ls", Bucket], ["stat", `${Bucket}/a`]]) {
      const { code, stderr } = await runProgram(program, args, { env: wrong });
      assert.equal(code, 1);
      assert.match(stderr, /^SignatureDoesNotMatch: /);
    }
  });

  test("what a bucket cannot be set to is refused by name", async () => {
    assert.deepEqual(await mc("anonymous-get", Bucket), [{ policy: "" }]);
    const policy = JSON.stringify({ Version: "2012-10-17", Statement: [] });
    const refused = await fails("anonymous-set-json", Bucket, policy);
    assert.match(refused, /^NotImplemented: .*policy/);
    await mc("anonymous-set-json", Bucket, ""); // As `anonymous set none`: there is nothing to take away.
    assert.match(await fails("version-enable", Bucket), /^NotImplemented: .*[Vv]ersion/);
  });
});

suite("objects", () => {
  const small = join(home, "small");
  const large = join(home, "large");
  const octets = randomBytes(20 * MIB);

  test("a small file goes up with metadata and tags, and comes down the same", async () => {
    await writeFile(small, "0123456789");
    const attributes = "Content-Type=text/x-small;Who=mc";
    await mc(
      "put",
      "-attr",
      attributes,
      "-tags",
      "a=1&b=two words",
      small,
      `${Bucket}/small é+&.txt`,
    );
    const seen = await head("small é+&.txt");
    assert.deepEqual([seen.ContentType, seen.Metadata], ["text/x-small", { who: "mc" }]);
    assert.equal((await read("small é+&.txt")).toString(), "0123456789");
    const [about] = await mc("stat", `${Bucket}/small é+&.txt`);
    assert.deepEqual(
      [about?.["size"], about?.["contentType"], about?.["tags"]],
      [10, "text/x-small", 2],
    );
    assert.deepEqual(about?.["metadata"], { Who: "mc" });
    await mc("get", `${Bucket}/small é+&.txt`, `${small}-back`);
    assert.equal(await readFile(`${small}-back`, "utf8"), "0123456789");
  });

  test("an empty file, and a folder that mb makes", async () => {
    await writeFile(`${small}-empty`, "");
    await mc("put", `${small}-empty`, `${Bucket}/empty`);
    await mc("mb", `${Bucket}/folder/`);
    assert.equal((await head("empty")).ContentLength, 0);
    assert.equal((await head("folder/")).ContentLength, 0);
    assert.deepEqual(await mc("stat", `${Bucket}/folder`), [{ folder: "folder/" }]);
  });

  for (const way of ["", "-trailers", "-md5"]) {
    const shown = way === "" ? "as it is" : `with ${way.slice(1)}`;
    test(`a large file goes up in parts ${shown}, and comes down the same`, async () => {
      await writeFile(large, octets);
      const key = `large${way}`;
      await mc("put", ...(way === "" ? [] : [way]), large, `${Bucket}/${key}`);
      const seen = await head(key);
      assert.match(seen.ETag ?? "", /^"[0-9a-f]{32}-2"$/);
      if (way === "-trailers") assert.match(seen.ChecksumCRC32C ?? "", /^.{8}-2$/);
      assert.ok(octets.equals(await read(key)));
      await mc("get", `${Bucket}/${key}`, `${large}-back`);
      assert.ok(octets.equals(await readFile(`${large}-back`)));
    });
  }

  test("a stream without an end that is known goes in parts with their checksums", async () => {
    const text = randomBytes(6 * MIB).toString("hex");
    const args = ["-part-size", String(5 * MIB), `${Bucket}/piped`];
    await mustRun(program, ["pipe", ...args], { env, input: text });
    const seen = await head("piped");
    assert.match(seen.ETag ?? "", /-3"$/);
    assert.match(seen.ChecksumCRC32C ?? "", /-3$/);
    assert.equal((await read("piped")).toString(), text);
    assert.equal(await raw("cat", "-part-number", "3", `${Bucket}/piped`), text.slice(10 * MIB));
  });

  test("cat shows all, or what follows an octet", async () => {
    await put(Bucket, "digits", "0123456789");
    assert.equal(await raw("cat", `${Bucket}/digits`), "0123456789");
    assert.equal(await raw("cat", "-offset", "7", `${Bucket}/digits`), "789");
    assert.match(await fails("cat", `${Bucket}/missing`), /^NoSuchKey: /);
    assert.match(await fails("stat", `${Bucket}/missing`), /^NoSuchKey: /);
  });

  test("cp copies within the server, with its metadata or with others", async () => {
    await client.send(
      new S3.PutObjectCommand({ Bucket, Key: "a +é", Body: "abc", Metadata: { a: "1" } }),
    );
    await mc("cp", `${Bucket}/a +é`, `${Bucket}/copies/1`);
    await mc("cp", "-attr", "B=2", `${Bucket}/a +é`, `${Bucket}/copies/2`);
    assert.deepEqual((await head("copies/1")).Metadata, { a: "1" });
    assert.deepEqual((await head("copies/2")).Metadata, { b: "2" });
    assert.equal((await read("copies/2")).toString(), "abc");
    assert.match(await fails("cp", `${Bucket}/missing`, `${Bucket}/copies/3`), /^NoSuchKey: /);
  });

  test("cp of what is large, and one object made of several", async () => {
    const parts = Array.from({ length: 4 }, () => randomBytes(16 * MIB));
    for (const [i, part] of parts.entries()) await put(Bucket, `parts/${i}`, part);
    const sources = parts.map((_, i) => `${Bucket}/parts/${i}`);
    await mc("concat", ...sources, `${Bucket}/whole`);
    const whole = Buffer.concat(parts);
    assert.ok(whole.equals(await read("whole")));
    assert.match((await head("whole")).ETag ?? "", /-4"$/);
    await mc("cp", `${Bucket}/whole`, `${Bucket}/whole-again`);
    assert.ok(whole.equals(await read("whole-again")));
  });

  test("what is shared can be used by anyone", async () => {
    await put(Bucket, "shared é.txt", "for you");
    const [download] = await mc("share-download", `${Bucket}/shared é.txt`);
    assert.equal(await (await fetch(String(download?.["url"]))).text(), "for you");

    const [upload] = await mc("share-put", `${Bucket}/by address`);
    const sent = await fetch(String(upload?.["url"]), { method: "PUT", body: "from you" });
    assert.equal(sent.status, 200, await sent.text());
    assert.equal((await read("by address")).toString(), "from you");

    const exact = await postForm(["share-upload", `${Bucket}/by form`], "by form");
    assert.equal(exact.status, 204, await exact.text());
    assert.equal((await read("by form")).toString(), "form");
    const within = ["share-upload", "-recursive", `${Bucket}/forms/`];
    assert.equal((await postForm(within, "forms/any")).status, 204);
    assert.equal((await postForm(within, "elsewhere")).status, 403);
  });

  test("rm removes one, and those that were never there are no fault", async () => {
    await put(Bucket, "to be removed", "x");
    assert.deepEqual(await mc("rm", `${Bucket}/to be removed`), [{ removed: "to be removed" }]);
    await assert.rejects(head("to be removed"), { name: "NotFound" });
    await mc("rm", `${Bucket}/to be removed`);
  });

  test("uploads that have not ended are listed and removed", async () => {
    for (const Key of ["open/1", "open/2", "kept"]) {
      const { UploadId } = await client.send(new S3.CreateMultipartUploadCommand({ Bucket, Key }));
      await client.send(
        new S3.UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: "part" }),
      );
    }
    assert.deepEqual(await keysOf("ls", "-incomplete", "-recursive", Bucket), [
      "kept",
      "open/1",
      "open/2",
    ]);
    assert.deepEqual((await keysOf("ls", "-incomplete", Bucket)).toSorted(), ["kept", "open/"]);
    await mc("rm", "-incomplete", "-recursive", `${Bucket}/open/`);
    const { Uploads = [] } = await client.send(new S3.ListMultipartUploadsCommand({ Bucket }));
    assert.deepEqual(
      Uploads.map(({ Key }) => Key),
      ["kept"],
    );
  });
});

suite("many objects", () => {
  const tree = join(home, "tree");
  /** More than two pages of a list. */
  const MANY = 2100;
  const many = Array.from({ length: MANY }, (_, i) => `many/${String(i).padStart(4, "0")}`);
  const files: Tree = {
    ...ODD_TREE,
    ...Object.fromEntries(many.map((name) => [name, Buffer.from(name)])),
  };
  const there = Object.keys(files).map((name) => `tree/${name}`);

  test("mirror sends a tree, and it comes down the same", async () => {
    await writeTree(tree, files);
    await mc("mb", "mirror");
    await mc("mirror-up", tree, "mirror/tree");
    await mc("mirror-down", "mirror/tree", join(home, "tree-back"));
    await sameTree(join(home, "tree-back"), files);
  });

  test("what is in step is not sent again, and what is gone is removed", async () => {
    assert.deepEqual(await mc("mirror-up", tree, "mirror/tree"), []);
    assert.deepEqual(await mc("mirror-down", "mirror/tree", join(home, "tree-back")), []);
    await rm(join(tree, "plain.txt"));
    await writeFile(join(tree, "empty"), "no more");
    assert.deepEqual(await mc("mirror-up", tree, "mirror/tree"), [
      { sent: "tree/empty" },
      { removed: "tree/plain.txt" },
    ]);
    await writeTree(tree, files);
    await mc("mirror-up", tree, "mirror/tree");
  });

  test("ls shows all keys in order, by folder or by prefix", async () => {
    const inOrder = there.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
    assert.deepEqual(await keysOf("ls", "-recursive", "mirror"), inOrder);
    assert.deepEqual(await keysOf("ls", "-recursive", "-versions", "mirror"), inOrder);
    assert.deepEqual(await keysOf("ls", "mirror"), ["tree/"]);
    const folder = await keysOf("ls", "mirror/tree/");
    assert.deepEqual(
      folder.filter((key) => key.endsWith("/")),
      ["tree/deep/", "tree/many/", "tree/with space/", "tree/ünï/"],
    );
    assert.ok(folder.includes("tree/percent%20literal.txt"));
    assert.deepEqual(
      await keysOf("ls", "mirror/tree/many/000"),
      inOrder.filter((key) => key.startsWith("tree/many/000")),
    );
    const [version] = await mc("ls", "-versions", "mirror/tree/plain.txt");
    assert.deepEqual([version?.["size"], version?.["versionId"]], [6, "null"]);
  });

  test("du adds up and find finds", async () => {
    const size = Object.values(files).reduce((sum, octets) => sum + octets.length, 0);
    assert.deepEqual(await mc("du", "mirror"), [{ size, objects: there.length }]);
    assert.deepEqual((await keysOf("find", "mirror", "*.bin")).toSorted(), [
      "tree/deep/a/b/c/d/e.bin",
      "tree/large.bin",
    ]);
  });

  test("rm --recursive removes what is below and nothing else", async () => {
    await put("mirror", "tree-beside", "x");
    assert.equal((await mc("rm", "-recursive", "mirror/tree/")).length, there.length);
    assert.deepEqual(await keysOf("ls", "-recursive", "mirror"), ["tree-beside"]);
    await mc("rb", "-force", "mirror");
  });
});

suite("settings", () => {
  test("tags of a bucket and of an object are set, listed and removed", async () => {
    await put(Bucket, "tagged", "x");
    assert.match(await fails("tag-list", Bucket), /^NoSuchTagSet: /);
    assert.deepEqual(await mc("tag-list", `${Bucket}/tagged`), [{}]);
    for (const target of [Bucket, `${Bucket}/tagged`]) {
      await mc("tag-set", target, "team=blue&note=two words");
      assert.deepEqual(await mc("tag-list", target), [{ team: "blue", note: "two words" }]);
    }
    const { TagSet } = await client.send(new S3.GetObjectTaggingCommand({ Bucket, Key: "tagged" }));
    assert.equal(TagSet?.length, 2);
    await mc("tag-remove", Bucket);
    await mc("tag-remove", `${Bucket}/tagged`);
    assert.match(await fails("tag-list", Bucket), /^NoSuchTagSet: /);
    assert.deepEqual(await mc("tag-list", `${Bucket}/tagged`), [{}]);
  });

  test("ilm rules are set, shown and removed", async () => {
    assert.match(await fails("ilm-export", Bucket), /^NoSuchLifecycleConfiguration: /);
    const Rules = [
      { ID: "logs", Status: "Enabled", Filter: { Prefix: "logs/" }, Expiration: { Days: 30 } },
      {
        ID: "open",
        Status: "Enabled",
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 3 },
      },
    ];
    await mc("ilm-import", Bucket, JSON.stringify({ Rules }));
    const [shown] = await mc("ilm-export", Bucket);
    assert.partialDeepStrictEqual(shown, { Rules: [Rules[0]] });
    const seen = await client.send(new S3.GetBucketLifecycleConfigurationCommand({ Bucket }));
    assert.partialDeepStrictEqual(seen.Rules, [
      { ID: "logs", Expiration: { Days: 30 }, Filter: { Prefix: "logs/" } },
      { ID: "open", AbortIncompleteMultipartUpload: { DaysAfterInitiation: 3 } },
    ]);
    await put(Bucket, "logs/1", "x");
    const [about] = await mc("stat", `${Bucket}/logs/1`);
    assert.equal(about?.["expires"], "logs");
    await mc("ilm-import", Bucket);
    assert.match(await fails("ilm-export", Bucket), /^NoSuchLifecycleConfiguration: /);
  });
});

/** Runs a command to its end and returns what it said, line by line. */
async function mc(...args: string[]): Promise<Record<string, unknown>[]> {
  const said = await raw(...args);
  return said
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

async function raw(...args: string[]): Promise<string> {
  return await mustRun(program, args, { env });
}

async function keysOf(...args: string[]): Promise<string[]> {
  return (await mc(...args)).map(({ key }) => String(key));
}

/** Runs a command that must fail, and returns how. */
async function fails(...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runProgram(program, args, { env });
  assert.equal(code, 1, `${args.join(" ")} ended with ${code}: ${stdout}${stderr}`);
  return stderr;
}

/** Sends a file with the form that a command gave for it, as mc's curl line does. */
async function postForm(command: readonly string[], key: string): Promise<Response> {
  const [said] = await mc(...command);
  const { url, fields } = said as { url: string; fields: Record<string, string> };
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...fields, key })) form.append(name, value);
  form.append("file", new File(["form"], "file"));
  return await fetch(url, { method: "POST", body: form });
}

function put(bucket: string, Key: string, Body: string | Buffer) {
  return client.send(new S3.PutObjectCommand({ Bucket: bucket, Key, Body }));
}

function head(Key: string) {
  return client.send(new S3.HeadObjectCommand({ Bucket, Key, ChecksumMode: "ENABLED" }));
}

async function read(Key: string): Promise<Buffer> {
  const { Body } = await client.send(new S3.GetObjectCommand({ Bucket, Key }));
  return Buffer.from(await Body!.transformToByteArray());
}
