/** The S3 clients of npm, as they are shipped and with their defaults, against the real server. */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { after, suite, test } from "node:test";
import { connectStore } from "selvedge/store";
import { ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY, startS3 } from "../support/s3.ts";
import { EMAIL, KEY } from "../support/server.ts";

await import("../clients/install.ts");
const { createPresignedPost, getSignedUrl, MinioClient, S3, Upload } =
  await import("../clients/s3.ts");

const MIB = 1024 ** 2;

const server = await startS3();
after(() => server[Symbol.asyncDispose]());
const credentials = { accessKeyId: ACCESS_KEY_ID, secretAccessKey: SECRET_ACCESS_KEY };
const client = new S3.S3Client({
  endpoint: server.endpoint,
  region: REGION,
  credentials,
  forcePathStyle: true,
});
after(() => client.destroy());

const Bucket = "from-the-sdk";
/** The same bucket through the other door. */
const binding = connectStore({ url: server.origin, email: EMAIL, key: KEY }).bucket(Bucket);
await client.send(new S3.CreateBucketCommand({ Bucket }));

suite("@aws-sdk/client-s3", () => {
  test("a bucket is made, listed, found and deleted", async () => {
    const made = await client.send(new S3.CreateBucketCommand({ Bucket: "for-a-moment" }));
    assert.equal(made.Location, "/for-a-moment");
    const { Buckets = [] } = await client.send(new S3.ListBucketsCommand({}));
    assert.ok(Buckets.some(({ Name }) => Name === "for-a-moment"));
    await client.send(new S3.HeadBucketCommand({ Bucket: "for-a-moment" }));
    await client.send(new S3.DeleteBucketCommand({ Bucket: "for-a-moment" }));
    const gone = client.send(new S3.HeadBucketCommand({ Bucket: "for-a-moment" }));
    await assert.rejects(gone, { name: "NotFound" });
  });

  test("a bucket that holds objects is not deleted", async () => {
    await put("keeps-the-bucket", "x");
    const refused = client.send(new S3.DeleteBucketCommand({ Bucket }));
    await assert.rejects(refused, { name: "BucketNotEmpty" });
  });

  test("an object comes back with its octets, metadata and checksum", async () => {
    const put = await client.send(
      new S3.PutObjectCommand({
        Bucket,
        Key: "with everything/é+ü?.txt",
        Body: "hello",
        ContentType: "text/plain; charset=utf-8",
        CacheControl: "max-age=60",
        ContentDisposition: 'attachment; filename="a.txt"',
        ContentLanguage: "en",
        Metadata: { "some-key": "some value" },
      }),
    );
    assert.equal(put.ETag, `"${createHash("md5").update("hello").digest("hex")}"`);
    assert.equal(put.ChecksumCRC32, "NhCmhg==");
    const got = await client.send(
      new S3.GetObjectCommand({ Bucket, Key: "with everything/é+ü?.txt" }),
    );
    assert.equal(await got.Body?.transformToString(), "hello");
    assert.equal(got.ContentType, "text/plain; charset=utf-8");
    assert.equal(got.CacheControl, "max-age=60");
    assert.equal(got.ContentDisposition, 'attachment; filename="a.txt"');
    assert.equal(got.ContentLanguage, "en");
    assert.deepEqual(got.Metadata, { "some-key": "some value" });
    assert.equal(got.ChecksumCRC32, "NhCmhg==");
    assert.equal(got.ContentLength, 5);
  });

  for (const ChecksumAlgorithm of ["CRC32", "CRC32C", "CRC64NVME", "SHA1", "SHA256"] as const) {
    test(`a body with ${ChecksumAlgorithm} is checked there and back`, async () => {
      const Key = `checked-${ChecksumAlgorithm}`;
      const Body = randomBytes(300_000);
      const put = await client.send(
        new S3.PutObjectCommand({ Bucket, Key, Body, ChecksumAlgorithm }),
      );
      const value = put[`Checksum${ChecksumAlgorithm}`];
      assert.ok(value);
      const got = await client.send(
        new S3.GetObjectCommand({ Bucket, Key, ChecksumMode: "ENABLED" }),
      );
      assert.equal(got[`Checksum${ChecksumAlgorithm}`], value);
      assert.deepEqual(Buffer.from(await got.Body!.transformToByteArray()), Body);
    });
  }

  test("a wrong checksum is refused, and nothing is stored", async () => {
    const refused = client.send(
      new S3.PutObjectCommand({ Bucket, Key: "wrong", Body: "hello", ChecksumCRC32: "AAAAAA==" }),
    );
    await assert.rejects(refused, { name: "BadDigest" });
    await assert.rejects(get("wrong"), { name: "NoSuchKey" });
  });

  test("a stream of unknown length goes in chunks with its checksum behind", async () => {
    const Body = randomBytes(3 * MIB + 17);
    await client.send(
      new S3.PutObjectCommand({
        Bucket,
        Key: "streamed",
        Body: Readable.from(pieces(Body, 100_000)),
        ContentLength: Body.length,
      }),
    );
    assert.deepEqual(await get("streamed"), Body);
  });

  test("ranges and conditions are kept", async () => {
    const { ETag } = await put("ranged", "0123456789");
    const part = await client.send(
      new S3.GetObjectCommand({ Bucket, Key: "ranged", Range: "bytes=2-4" }),
    );
    assert.equal(await part.Body?.transformToString(), "234");
    assert.equal(part.ContentRange, "bytes 2-4/10");
    const unchanged = client.send(
      new S3.GetObjectCommand({ Bucket, Key: "ranged", IfNoneMatch: ETag }),
    );
    await assert.rejects(
      unchanged,
      (error: { $metadata: { httpStatusCode: number } }) => error.$metadata.httpStatusCode === 304,
    );
    const behind = client.send(
      new S3.GetObjectCommand({ Bucket, Key: "ranged", Range: "bytes=10-" }),
    );
    await assert.rejects(behind, { name: "InvalidRange" });
    const again = client.send(
      new S3.PutObjectCommand({ Bucket, Key: "ranged", Body: "other", IfNoneMatch: "*" }),
    );
    await assert.rejects(again, { name: "PreconditionFailed" });
    assert.equal((await get("ranged")).toString(), "0123456789");
  });

  test("of many writers that want to be the first exactly one is", async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, (_, i) =>
        client.send(
          new S3.PutObjectCommand({ Bucket, Key: "lock", Body: `${i}`, IfNoneMatch: "*" }),
        ),
      ),
    );
    assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
  });

  test("an object is copied within the door, with its metadata or with others", async () => {
    await client.send(
      new S3.PutObjectCommand({ Bucket, Key: "original", Body: "abc", Metadata: { a: "1" } }),
    );
    const CopySource = `${Bucket}/original`;
    await client.send(new S3.CopyObjectCommand({ Bucket, Key: "copy-1", CopySource }));
    await client.send(
      new S3.CopyObjectCommand({
        Bucket,
        Key: "copy-2",
        CopySource,
        MetadataDirective: "REPLACE",
        Metadata: { b: "2" },
      }),
    );
    const first = await client.send(new S3.HeadObjectCommand({ Bucket, Key: "copy-1" }));
    const second = await client.send(new S3.HeadObjectCommand({ Bucket, Key: "copy-2" }));
    assert.deepEqual([first.Metadata, second.Metadata], [{ a: "1" }, { b: "2" }]);
    assert.equal((await get("copy-2")).toString(), "abc");
  });

  test("tags are kept, shown and removed", async () => {
    await client.send(
      new S3.PutObjectCommand({ Bucket, Key: "tagged", Body: "x", Tagging: "a=1&b=two%20words" }),
    );
    const shown = await client.send(new S3.GetObjectTaggingCommand({ Bucket, Key: "tagged" }));
    assert.deepEqual(shown.TagSet, [
      { Key: "a", Value: "1" },
      { Key: "b", Value: "two words" },
    ]);
    await client.send(
      new S3.PutObjectTaggingCommand({
        Bucket,
        Key: "tagged",
        Tagging: { TagSet: [{ Key: "c", Value: "3" }] },
      }),
    );
    const head = await client.send(new S3.GetObjectCommand({ Bucket, Key: "tagged" }));
    assert.equal(head.TagCount, 1);
    await client.send(new S3.DeleteObjectTaggingCommand({ Bucket, Key: "tagged" }));
    const none = await client.send(new S3.GetObjectTaggingCommand({ Bucket, Key: "tagged" }));
    assert.deepEqual(none.TagSet, []);
  });

  test("an object sealed with the client's own key opens only with it", async () => {
    const SSECustomerKey = randomBytes(32).toString("base64");
    const SSECustomerKeyMD5 = createHash("md5")
      .update(Buffer.from(SSECustomerKey, "base64"))
      .digest("base64");
    const sealed = { SSECustomerAlgorithm: "AES256", SSECustomerKey, SSECustomerKeyMD5 };
    const Key = "sealed";
    await client.send(new S3.PutObjectCommand({ Bucket, Key, Body: "mine", ...sealed }));
    const got = await client.send(new S3.GetObjectCommand({ Bucket, Key, ...sealed }));
    assert.equal(await got.Body?.transformToString(), "mine");
    const without = client.send(new S3.GetObjectCommand({ Bucket, Key }));
    await assert.rejects(without, { name: "InvalidRequest" });
  });

  test("ten thousand keys are listed page by page, in order, and deleted in batches", async () => {
    const keys = Array.from({ length: 10_000 }, (_, i) => `many/${String(i).padStart(5, "0")}`);
    const todo = keys.values();
    const work = async () => {
      for (const key of todo) await binding.put(key, "");
    };
    await Promise.all(Array.from({ length: 32 }, work));
    const listed: string[] = [];
    const pages = S3.paginateListObjectsV2({ client }, { Bucket, Prefix: "many/" });
    for await (const { Contents = [] } of pages) listed.push(...Contents.map(({ Key }) => Key!));
    assert.deepEqual(listed, keys);
    const grouped = await client.send(new S3.ListObjectsV2Command({ Bucket, Delimiter: "/" }));
    assert.ok(grouped.CommonPrefixes?.some(({ Prefix }) => Prefix === "many/"));
    const old = await client.send(new S3.ListObjectsCommand({ Bucket, Prefix: "many/" }));
    assert.deepEqual([old.Contents?.length, old.IsTruncated], [1000, true]);
    for (let at = 0; at < keys.length; at += 1000) {
      const Objects = keys.slice(at, at + 1000).map((Key) => ({ Key }));
      const { Deleted, Errors } = await client.send(
        new S3.DeleteObjectsCommand({ Bucket, Delete: { Objects } }),
      );
      assert.deepEqual([Deleted?.length, Errors], [1000, undefined]);
    }
    const left = await client.send(new S3.ListObjectsV2Command({ Bucket, Prefix: "many/" }));
    assert.equal(left.KeyCount, 0);
  });

  test("a wrong secret is told as such", async () => {
    const other = new S3.S3Client({
      endpoint: server.endpoint,
      region: REGION,
      credentials: { ...credentials, secretAccessKey: "wrong" },
      forcePathStyle: true,
    });
    await assert.rejects(other.send(new S3.ListBucketsCommand({})), {
      name: "SignatureDoesNotMatch",
    });
    other.destroy();
  });
});

suite("uploads in parts", () => {
  test("lib-storage sends 200 MiB in parts, and they come back as they were", async () => {
    const source = new HashedOctets(200 * MIB);
    await new Upload({
      client,
      params: { Bucket, Key: "large", Body: Readable.from(source) },
      queueSize: 4,
      partSize: 8 * MIB,
    }).done();
    const got = await client.send(new S3.GetObjectCommand({ Bucket, Key: "large" }));
    assert.match(got.ETag ?? "", /^"[0-9a-f]{32}-25"$/);
    const hash = createHash("sha256");
    for await (const octets of got.Body as Readable) hash.update(octets as Buffer);
    assert.equal(hash.digest("hex"), source.digest());
  });

  test("parts of different sizes, listed, copied into, and completed", async () => {
    const Key = "by-hand";
    const first = randomBytes(5 * MIB);
    await put("piece", randomBytes(6 * MIB));
    const { UploadId } = await client.send(new S3.CreateMultipartUploadCommand({ Bucket, Key }));
    const one = await client.send(
      new S3.UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: first }),
    );
    const two = await client.send(
      new S3.UploadPartCopyCommand({
        Bucket,
        Key,
        UploadId,
        PartNumber: 2,
        CopySource: `${Bucket}/piece`,
        CopySourceRange: `bytes=0-${5 * MIB}`,
      }),
    );
    const three = await client.send(
      new S3.UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 3, Body: "end" }),
    );
    const { Parts = [] } = await client.send(new S3.ListPartsCommand({ Bucket, Key, UploadId }));
    assert.deepEqual(
      Parts.map(({ Size }) => Size),
      [5 * MIB, 5 * MIB + 1, 3],
    );
    const { Uploads = [] } = await client.send(new S3.ListMultipartUploadsCommand({ Bucket }));
    assert.deepEqual(
      Uploads.map((upload) => [upload.Key, upload.UploadId]),
      [[Key, UploadId]],
    );
    await client.send(
      new S3.CompleteMultipartUploadCommand({
        Bucket,
        Key,
        UploadId,
        MultipartUpload: {
          Parts: [
            { PartNumber: 1, ETag: one.ETag },
            { PartNumber: 2, ETag: two.CopyPartResult?.ETag },
            { PartNumber: 3, ETag: three.ETag },
          ],
        },
      }),
    );
    const part = await client.send(new S3.GetObjectCommand({ Bucket, Key, PartNumber: 3 }));
    assert.deepEqual([await part.Body?.transformToString(), part.PartsCount], ["end", 3]);
    const whole = await get(Key);
    assert.deepEqual(whole.subarray(0, first.length), first);
    assert.equal(whole.length, 10 * MIB + 4);
  });

  test("an upload begun on one side is finished on the other", async () => {
    const first = randomBytes(5 * MIB);
    const here = await binding.createMultipartUpload("begun-by-the-binding");
    const Key = here.key;
    const UploadId = here.uploadId;
    const one = await here.uploadPart(1, first);
    const two = await client.send(
      new S3.UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 2, Body: "end" }),
    );
    const Parts = [
      { PartNumber: 1, ETag: one.etag },
      { PartNumber: 2, ETag: two.ETag },
    ];
    await client.send(
      new S3.CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts } }),
    );
    const seen = await (await binding.get(Key))!.arrayBuffer();
    assert.deepEqual(Buffer.from(seen), Buffer.concat([first, Buffer.from("end")]));

    const there = await client.send(
      new S3.CreateMultipartUploadCommand({ Bucket, Key: "begun-by-s3" }),
    );
    const part = await client.send(
      new S3.UploadPartCommand({
        Bucket,
        Key: "begun-by-s3",
        UploadId: there.UploadId,
        PartNumber: 1,
        Body: "all",
      }),
    );
    const upload = binding.resumeMultipartUpload("begun-by-s3", there.UploadId!);
    await upload.complete([{ partNumber: 1, etag: part.ETag!.replaceAll('"', "") }]);
    assert.equal((await get("begun-by-s3")).toString(), "all");
  });

  test("an aborted upload is gone", async () => {
    const Key = "aborted";
    const { UploadId } = await client.send(new S3.CreateMultipartUploadCommand({ Bucket, Key }));
    await client.send(new S3.AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
    const late = client.send(
      new S3.UploadPartCommand({ Bucket, Key, UploadId, PartNumber: 1, Body: "x" }),
    );
    await assert.rejects(late, { name: "NoSuchUpload" });
  });
});

suite("signed addresses and forms, used by plain fetch", () => {
  test("a presigned PUT stores and a presigned GET reads", async () => {
    const Key = "by address";
    const to = await getSignedUrl(client, new S3.PutObjectCommand({ Bucket, Key }));
    const stored = await fetch(to, { method: "PUT", body: "from afar" });
    assert.equal(stored.status, 200, await stored.text());
    const from = await getSignedUrl(
      client,
      new S3.GetObjectCommand({ Bucket, Key, ResponseContentType: "text/x-told" }),
    );
    const got = await fetch(from);
    assert.equal(await got.text(), "from afar");
    assert.equal(got.headers.get("content-type"), "text/x-told");
  });

  test("an address that was changed opens nothing", async () => {
    await put("secret", "x");
    const url = await getSignedUrl(client, new S3.GetObjectCommand({ Bucket, Key: "public" }));
    const answer = await fetch(url.replace("/public?", "/secret?"));
    assert.equal(answer.status, 403);
    assert.match(await answer.text(), /<Code>SignatureDoesNotMatch<\/Code>/);
  });

  test("a browser's form stores a file", async () => {
    const { url, fields } = await createPresignedPost(client, {
      Bucket,
      Key: "forms/${filename}",
      Conditions: [
        ["content-length-range", 1, 100],
        { "Content-Type": "text/plain" },
        ["starts-with", "$key", "forms/"],
      ],
      Fields: { "Content-Type": "text/plain", success_action_status: "201" },
    });
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append("file", new File(["by form"], "note.txt"));
    const answer = await fetch(url, { method: "POST", body: form });
    assert.equal(answer.status, 201, await answer.text());
    assert.equal((await get("forms/note.txt")).toString(), "by form");
  });

  test("a form with more than its policy allows stores nothing", async () => {
    const { url, fields } = await createPresignedPost(client, {
      Bucket,
      Key: "forms/too-large",
      Conditions: [["content-length-range", 1, 10]],
    });
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append("file", new File(["x".repeat(11)], "a"));
    const answer = await fetch(url, { method: "POST", body: form });
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /<Code>EntityTooLarge<\/Code>/);
    await assert.rejects(get("forms/too-large"), { name: "NoSuchKey" });
  });
});

suite("the minio client", () => {
  const { hostname, port } = new URL(server.endpoint);
  const minio = new MinioClient({
    endPoint: hostname,
    port: Number(port),
    useSSL: false,
    accessKey: ACCESS_KEY_ID,
    secretKey: SECRET_ACCESS_KEY,
  });

  test("it makes a bucket, stores, reads, lists and removes", async () => {
    await minio.makeBucket("from-minio");
    assert.equal(await minio.bucketExists("from-minio"), true);
    await minio.putObject("from-minio", "a/b", "octets", 6, { "X-Amz-Meta-Who": "minio" });
    const { size, metaData } = await minio.statObject("from-minio", "a/b");
    assert.deepEqual([size, metaData["who"]], [6, "minio"]);
    assert.equal((await readAll(await minio.getObject("from-minio", "a/b"))).toString(), "octets");
    const names: (string | undefined)[] = [];
    for await (const { name } of minio.listObjectsV2("from-minio", "", true)) {
      names.push(name as string);
    }
    assert.deepEqual(names, ["a/b"]);
    await minio.removeObjects("from-minio", ["a/b"]);
    await minio.removeBucket("from-minio");
    assert.equal(await minio.bucketExists("from-minio"), false);
  });

  test("it sends 20 MiB in parts", async () => {
    const octets = randomBytes(20 * MIB);
    await minio.putObject(Bucket, "minio-large", Readable.from(pieces(octets, 65_536)));
    assert.deepEqual(await get("minio-large"), octets);
  });
});

function put(Key: string, Body: string | Buffer) {
  return client.send(new S3.PutObjectCommand({ Bucket, Key, Body }));
}

async function get(Key: string): Promise<Buffer> {
  const { Body } = await client.send(new S3.GetObjectCommand({ Bucket, Key }));
  return Buffer.from(await Body!.transformToByteArray());
}

async function readAll(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const all: Buffer[] = [];
  for await (const octets of stream) all.push(octets as Buffer);
  return Buffer.concat(all);
}

function* pieces(octets: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < octets.length; at += size) yield octets.subarray(at, at + size);
}

/** Octets that differ throughout, made as they are asked for, and their hash. */
class HashedOctets {
  readonly #size: number;
  readonly #hash = createHash("sha256");

  constructor(size: number) {
    this.#size = size;
  }

  *[Symbol.iterator](): Generator<Buffer> {
    const block = randomBytes(MIB);
    for (let at = 0; at < this.#size; at += block.length) {
      block.writeUInt32LE(at / block.length);
      this.#hash.update(block);
      yield Buffer.from(block);
    }
  }

  digest(): string {
    return this.#hash.digest("hex");
  }
}
