import assert from "node:assert/strict";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { S3_KEY, S3Server } from "../../../test/support/s3-server.ts";
import { bodyOf, readBlob } from "../driver.contract.ts";
import { openBlobs } from "./index.ts";

const dataDir = await mkdtemp(join(tmpdir(), "selvedge-data-"));
after(() => rm(dataDir, { recursive: true }));

const ID = "0123456789abcdef";

test("blobs lie in the data folder unless the URL names another", async () => {
  const places = [
    ["file:", join(dataDir, "blobs")],
    ["file:other", join(dataDir, "other")],
    [`file:${dataDir}/absolute`, join(dataDir, "absolute")],
    [`FILE://${dataDir}/slashes`, join(dataDir, "slashes")],
  ];
  for (const [url, folder] of places) {
    await using driver = await openBlobs({ url: url!, dataDir, environment: {} });
    await driver.put(ID, bodyOf(Buffer.from(url!)));
    assert.deepEqual(await readdir(join(folder!, "01")), [ID.slice(2)]);
  }
});

test("keys for S3 come from the environment, our own variables first", async () => {
  await using server = await S3Server.start();
  const url = `s3://${server.bucket}/?endpoint=${server.endpoint}&region=eu-central-1`;
  const aws = { AWS_ACCESS_KEY_ID: S3_KEY.id, AWS_SECRET_ACCESS_KEY: S3_KEY.secret };
  const ours = {
    SELVEDGE_BLOBS_ACCESS_KEY_ID: S3_KEY.id,
    SELVEDGE_BLOBS_SECRET_ACCESS_KEY: S3_KEY.secret,
  };
  for (const environment of [aws, ours, { ...aws, AWS_ACCESS_KEY_ID: "not-this", ...ours }]) {
    await using driver = await openBlobs({ url, dataDir, environment });
    await driver.put(ID, bodyOf(Buffer.from("there")));
    assert.equal((await readBlob(driver, ID)).toString(), "there");
  }
});

suite("a sentence tells what is wrong with", () => {
  const keys = { AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "very-secret" };
  const cases: [
    what: string,
    url: string,
    sentence: RegExp,
    environment?: Record<string, string>,
  ][] = [
    [
      "another scheme",
      "ftp://x",
      /^Cannot use --blobs ftp:\/\/x: it must begin with file: or s3:\.$/,
    ],
    ["no scheme", "blobs", /^Cannot use --blobs blobs: it must begin with file: or s3:\.$/],
    ["a folder on a host", "file://host/path", /: a folder is file:\/PATH or file:\/\/\/PATH\.$/],
    ["no bucket", "s3:///prefix", /"" is not the name of a bucket/],
    ["a bad bucket", "s3://a/prefix", /"a" is not the name of a bucket/],
    ["a bad prefix", "s3://bucket/a%20b", /"a%20b" is not a usable prefix/],
    ["a port", "s3://bucket:9000/", /a port belongs into endpoint=/],
    [
      "an unknown parameter",
      "s3://bucket?endpont=x",
      /no "endpont" \(did you mean endpoint\?\), only endpoint, region, style\.$/,
    ],
    [
      "a bad endpoint",
      "s3://bucket?endpoint=localhost:9000",
      /"localhost:9000" is not http:\/\/HOST:PORT/,
    ],
    ["an endpoint with a path", "s3://bucket?endpoint=http://h/p", /"http:\/\/h\/p" is not http:/],
    ["a bad region", "s3://bucket?region=a/b", /"a\/b" is not a region/],
    ["a bad style", "s3://bucket?style=odd", /style is path or virtual/],
    [
      "a key in the URL",
      "s3://id:hunter2@bucket",
      /s3:\/\/id:\*\*\*@bucket: keys do not belong into it/,
    ],
    [
      "no keys",
      "s3://bucket",
      /set SELVEDGE_BLOBS_ACCESS_KEY_ID and SELVEDGE_BLOBS_SECRET_ACCESS_KEY/,
      {},
    ],
    [
      "half a key",
      "s3://bucket",
      /AWS_ACCESS_KEY_ID without AWS_SECRET_ACCESS_KEY/,
      { AWS_ACCESS_KEY_ID: "a" },
    ],
    [
      "the other half",
      "s3://bucket",
      /BLOBS_SECRET_ACCESS_KEY without SELVEDGE_BLOBS_ACCESS_KEY_ID/,
      { SELVEDGE_BLOBS_SECRET_ACCESS_KEY: "very-secret" },
    ],
    [
      "a key with a line end",
      "s3://bucket",
      /^Cannot use AWS_SECRET_ACCESS_KEY: expected visible ASCII characters\.$/,
      { ...keys, AWS_SECRET_ACCESS_KEY: "very-secret\n" },
    ],
  ];
  for (const [what, url, sentence, environment = keys] of cases) {
    test(what, async () => {
      const error = await openBlobs({ url, dataDir, environment }).catch((error: Error) => error);
      assert.ok(error instanceof Error);
      assert.match(error.message, sentence);
      assert.doesNotMatch(error.message, /hunter2|very-secret/);
    });
  }

  test("a folder that is a file", async () => {
    await writeFile(join(dataDir, "file"), "");
    const opening = openBlobs({ url: "file:file", dataDir, environment: {} });
    await assert.rejects(opening, { message: /^Cannot use the folder .*file \(--blobs\): EEXIST/ });
  });
});
