/** Buckets and lists over the S3 door, as they are on the wire. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { startS3 } from "../support/s3.ts";
import { type Ask, ask as askAt, codeOf, documentOf, textsOf } from "./s3-wire.ts";

const domains = ["--s3-domain", "s3.test"];
const off = ["--dns", "off", "--edge", "off", "--edge-tls", "off"];
const server = await startS3({ args: [...off, ...domains] });
after(() => server[Symbol.asyncDispose]());

const ask = (method: string, path: string, more: Omit<Ask, "path"> = {}) =>
  askAt(server.endpoint, method, { path, ...more });

async function filled(bucket: string, keys: readonly string[]): Promise<void> {
  assert.equal((await ask("PUT", `/${bucket}`)).status, 200);
  for (const key of keys) {
    const path = `/${bucket}/${encodeURIComponent(key)}`;
    assert.equal((await ask("PUT", path, { body: "x" })).status, 200, key);
  }
}

suite("a bucket", () => {
  test("is made once, and again by its owner without a change", async () => {
    const made = await ask("PUT", "/made-1");
    assert.deepEqual([made.status, made.headers.location], [200, "/made-1"]);
    assert.equal((await ask("PUT", "/made-1/kept", { body: "x" })).status, 200);
    assert.equal((await ask("PUT", "/made-1")).status, 200);
    assert.equal((await ask("HEAD", "/made-1/kept")).status, 200);
    const head = await ask("HEAD", "/made-1");
    assert.deepEqual([head.status, head.headers["x-amz-bucket-region"]], [200, "auto"]);
  });

  test("has a name of its own form, and a location that there is", async () => {
    for (const name of ["ab", "Upper-case", "-dash", "a_b_c", "x".repeat(64)]) {
      assert.equal(codeOf(await ask("PUT", `/${name}`)), "InvalidBucketName", name);
    }
    const place = (location: string) =>
      `<?xml version="1.0"?><CreateBucketConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><LocationConstraint>${location}</LocationConstraint></CreateBucketConfiguration>`;
    assert.equal((await ask("PUT", "/located-1", { body: place("WEUR") })).status, 200);
    assert.equal((await ask("PUT", "/located-3", { body: place("eu-west-1") })).status, 200);
    const refused = await ask("PUT", "/located-2", { body: place("the-moon") });
    assert.equal(codeOf(refused), "IllegalLocationConstraintException");
    assert.equal((await ask("HEAD", "/located-2")).status, 404);
    const shown = await ask("GET", "/located-1", { query: { location: "" } });
    assert.match(shown.text, /<LocationConstraint[^>]*>auto<\/LocationConstraint>/);
  });

  test("is not made with a promise that would not be kept", async () => {
    const headers = { "x-amz-bucket-object-lock-enabled": "true" };
    const refused = await ask("PUT", "/locked-1", { headers });
    assert.deepEqual([refused.status, codeOf(refused)], [501, "NotImplemented"]);
    assert.equal((await ask("HEAD", "/locked-1")).status, 404);
    const none = { "x-amz-bucket-object-lock-enabled": "false" };
    assert.equal((await ask("PUT", "/locked-1", { headers: none })).status, 200);
  });

  test("is made by a write that asks for it, as R2 does it", async () => {
    const headers = { "cf-create-bucket-if-missing": "true" };
    assert.equal(codeOf(await ask("PUT", "/implicit-1/k", { body: "x" })), "NoSuchBucket");
    assert.equal((await ask("PUT", "/implicit-1/k", { body: "x", headers })).status, 200);
    assert.equal((await ask("GET", "/implicit-1/k")).text, "x");
  });

  test("is deleted when it is empty, and gone then", async () => {
    await filled("doomed-1", ["k"]);
    const full = await ask("DELETE", "/doomed-1");
    assert.deepEqual([full.status, codeOf(full)], [409, "BucketNotEmpty"]);
    assert.equal((await ask("DELETE", "/doomed-1/k")).status, 204);
    assert.equal((await ask("DELETE", "/doomed-1")).status, 204);
    const gone = await ask("DELETE", "/doomed-1");
    assert.deepEqual([gone.status, codeOf(gone)], [404, "NoSuchBucket"]);
    assert.equal((await ask("GET", "/doomed-1/k")).status, 404);
  });

  test("may be named by the host", async () => {
    await filled("hosted-1", ["a/b"]);
    const headers = { host: "hosted-1.s3.test" };
    assert.equal((await ask("GET", "/a/b", { headers })).text, "x");
    const list = documentOf(await ask("GET", "/", { headers }));
    assert.deepEqual(textsOf(list, "Key"), ["a/b"]);
    const others = documentOf(await ask("GET", "/", { headers: { host: "s3.test" } }));
    assert.equal(others.name, "ListAllMyBucketsResult");
  });

  test("of many is on a page of its own where the client asks for pages", async () => {
    for (const name of ["page-1", "page-2", "page-3"]) await filled(name, []);
    const all: string[] = [];
    let token = "";
    do {
      const query = {
        prefix: "page-",
        "max-buckets": "2",
        ...(token !== "" && { "continuation-token": token }),
      };
      const page = documentOf(await ask("GET", "/", { query }));
      all.push(...textsOf(page, "Name"));
      token = textsOf(page, "ContinuationToken")[0] ?? "";
      if (textsOf(page, "IsTruncated")[0] === "false") break;
    } while (token !== "");
    assert.deepEqual(all, ["page-1", "page-2", "page-3"]);
    const headers = { "cf-prefix": "page-", "cf-max-keys": "1", "cf-start-after": "page-1" };
    const answer = await ask("GET", "/", { headers });
    assert.deepEqual(textsOf(documentOf(answer), "Name"), ["page-2"]);
    assert.equal(answer.headers["cf-is-truncated"], "true");
    assert.ok(answer.headers["cf-next-continuation-token"]);
    const query = { "continuation-token": "invented!" };
    assert.equal(codeOf(await ask("GET", "/", { query })), "InvalidArgument");
  });

  test("is listed with those of its region", async () => {
    await filled("region-1", []);
    const namesIn = async (region: string) => {
      const query = { prefix: "region-", "bucket-region": region };
      return textsOf(documentOf(await ask("GET", "/", { query })), "Name");
    };
    assert.deepEqual(await namesIn("auto"), ["region-1"]);
    assert.deepEqual(await namesIn("eu-central-1"), []);
  });

  test("says of settings that it has none, or which are fixed", async () => {
    await filled("plain-1", ["k"]);
    for (const [resource, status, says] of [
      ["policy", 404, "NoSuchBucketPolicy"],
      ["publicAccessBlock", 404, "NoSuchPublicAccessBlockConfiguration"],
      ["object-lock", 404, "ObjectLockConfigurationNotFoundError"],
      ["replication", 404, "ReplicationConfigurationNotFoundError"],
      ["website", 404, "NoSuchWebsiteConfiguration"],
      ["ownershipControls", 404, "OwnershipControlsNotFoundError"],
      ["cors", 404, "NoSuchCORSConfiguration"],
      ["lifecycle", 404, "NoSuchLifecycleConfiguration"],
      ["tagging", 404, "NoSuchTagSet"],
      ["versioning", 200, "<VersioningConfiguration"],
      ["notification", 200, "<NotificationConfiguration"],
      ["logging", 200, "<BucketLoggingStatus"],
      ["accelerate", 200, "<AccelerateConfiguration"],
      ["requestPayment", 200, "<Payer>BucketOwner<"],
      ["encryption", 200, "<SSEAlgorithm>AES256<"],
      ["acl", 200, "<Permission>FULL_CONTROL<"],
    ] as const) {
      const answer = await ask("GET", "/plain-1", { query: { [resource]: "" } });
      assert.equal(answer.status, status, resource);
      assert.ok(answer.text.includes(says), answer.text);
    }
    assert.equal((await ask("GET", "/plain-1/k", { query: { acl: "" } })).status, 200);
    assert.equal((await ask("PUT", "/plain-1", { query: { policy: "" }, body: "{}" })).status, 501);
    const suspended =
      "<VersioningConfiguration><Status>Suspended</Status></VersioningConfiguration>";
    const query = { versioning: "" };
    assert.equal((await ask("PUT", "/plain-1", { query, body: suspended })).status, 200);
    const enabled = suspended.replace("Suspended", "Enabled");
    assert.equal((await ask("PUT", "/plain-1", { query, body: enabled })).status, 501);
    for (const [acl, status] of [
      ["private", 200],
      ["public-read", 501],
    ] as const) {
      const headers = { "x-amz-acl": acl };
      assert.equal(
        (await ask("PUT", "/plain-1", { query: { acl: "" }, headers })).status,
        status,
        acl,
      );
    }
  });
});

suite("lists", () => {
  const keys = ["a", "b/1", "b/2", "b/c/1", "d d", "e+e", "é", "f\u0001", "g//x"];

  async function list(query: Record<string, string>, bucket = "listed-1") {
    return documentOf(await ask("GET", `/${bucket}`, { query }));
  }

  test("show keys in the order of their octets, grouped by the delimiter", async () => {
    await filled("listed-1", keys);
    const all = await list({ "list-type": "2" });
    assert.deepEqual(
      textsOf(all, "Key"),
      keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    );
    assert.deepEqual(textsOf(all, "KeyCount"), [String(keys.length)]);
    assert.equal(textsOf(all, "Owner").length, 0);
    const grouped = await list({ "list-type": "2", delimiter: "/", "fetch-owner": "true" });
    const prefixes = grouped.children.filter(({ name }) => name === "CommonPrefixes");
    assert.deepEqual(
      prefixes.map(({ children }) => children[0]?.text),
      ["b/", "g/"],
    );
    assert.equal(textsOf(grouped, "DisplayName").length, 5);
    const within = await list({ prefix: "b/", delimiter: "/" });
    assert.deepEqual(textsOf(within, "Key"), ["b/1", "b/2"]);
    assert.deepEqual(textsOf(within, "NextMarker"), []);
  });

  test("are escaped where the client asks for it, blanks and pluses too", async () => {
    const encoded = await list({ "encoding-type": "url", prefix: "", delimiter: "/" });
    assert.deepEqual(textsOf(encoded, "Key"), ["a", "d%20d", "e%2Be", "f%01", "%C3%A9"]);
    assert.deepEqual(textsOf(encoded, "EncodingType"), ["url"]);
    const query = { "encoding-type": "rot13" };
    assert.equal(codeOf(await ask("GET", "/listed-1", { query })), "InvalidArgument");
  });

  test("go on where they ended, by token, marker and start", async () => {
    for (const delimiter of ["", "/"]) {
      const whole = await list({ "list-type": "2", delimiter });
      const wanted = [...textsOf(whole, "Key"), ...textsOf(whole, "Prefix")].filter(Boolean).sort();
      for (const version of ["1", "2"]) {
        const found: string[] = [];
        let from: Record<string, string> = {};
        for (let page = 0; ; page++) {
          const shown = await list({
            ...(version === "2" && { "list-type": "2" }),
            ...(delimiter !== "" && { delimiter }),
            "max-keys": "2",
            ...from,
          });
          found.push(...[...textsOf(shown, "Key"), ...textsOf(shown, "Prefix")].filter(Boolean));
          if (textsOf(shown, "IsTruncated")[0] === "false") break;
          const next = textsOf(shown, version === "2" ? "NextContinuationToken" : "NextMarker")[0]!;
          from = version === "2" ? { "continuation-token": next } : { marker: next };
          assert.ok(page < 20);
        }
        assert.deepEqual(found.sort(), wanted, `version ${version}, delimiter "${delimiter}"`);
      }
    }
    const after = await list({ "list-type": "2", "start-after": "b/1" });
    assert.deepEqual(textsOf(after, "StartAfter"), ["b/1"]);
    assert.equal(textsOf(after, "Key")[0], "b/2");
    const skipped = await list({ marker: "b/1", delimiter: "/" });
    assert.equal(textsOf(skipped, "Prefix").find(Boolean), "g/");
  });

  test("take odd limits as S3 does", async () => {
    const none = await list({ "max-keys": "0" });
    assert.deepEqual([textsOf(none, "Key"), textsOf(none, "IsTruncated")], [[], ["false"]]);
    assert.deepEqual(textsOf(await list({ "max-keys": "5000" }), "MaxKeys"), ["1000"]);
    for (const [name, value] of [
      ["max-keys", "-1"],
      ["max-keys", "many"],
      ["continuation-token", "invented"],
      ["list-type", "3"],
    ] as const) {
      const query = { "list-type": "2", [name]: value };
      assert.equal(codeOf(await ask("GET", "/listed-1", { query })), "InvalidArgument", name);
    }
    const empty = await list({ "list-type": "2", "continuation-token": "", delimiter: "" });
    assert.deepEqual(textsOf(empty, "ContinuationToken"), [""]);
    assert.deepEqual(textsOf(empty, "Delimiter"), []);
  });

  test("of versions show each object as the one that it has", async () => {
    const shown = await list({ versions: "", "max-keys": "3" });
    assert.equal(shown.name, "ListVersionsResult");
    assert.deepEqual(textsOf(shown, "VersionId"), ["null", "null", "null"]);
    assert.deepEqual(textsOf(shown, "NextKeyMarker"), ["b/2"]);
    const got = await ask("GET", "/listed-1/a", { query: { versionId: "null" } });
    assert.equal(got.status, 200);
    const other = await ask("GET", "/listed-1/a", { query: { versionId: "3sL4kqtJ" } });
    assert.equal(codeOf(other), "NoSuchVersion");
  });
});

suite("deletes of many", () => {
  const remove = (bucket: string, inner: string) =>
    ask("POST", `/${bucket}`, { query: { delete: "" }, body: `<Delete>${inner}</Delete>` });
  const object = (key: string, more = "") => `<Object><Key>${key}</Key>${more}</Object>`;

  test("tell of each key how it went; those that are not there count as deleted", async () => {
    await filled("many-1", ["a", "b ", "b", "c"]);
    const wrong = object("c", "<ETag>other</ETag>");
    const older = object("a", "<VersionId>x</VersionId>");
    const result = documentOf(
      await remove("many-1", object("b ") + object("none") + wrong + older),
    );
    const told = result.children.map(({ name, children }) => [
      name,
      ...children.map(({ text }) => text).slice(0, 1),
    ]);
    assert.deepEqual(told, [
      ["Deleted", "b "],
      ["Deleted", "none"],
      ["Error", "c"],
      ["Error", "a"],
    ]);
    assert.deepEqual(textsOf(result, "Code"), ["PreconditionFailed", "NoSuchVersion"]);
    const left = documentOf(await ask("GET", "/many-1"));
    assert.deepEqual(textsOf(left, "Key"), ["a", "b", "c"]);
    const quiet = documentOf(await remove("many-1", `<Quiet>true</Quiet>${object("a")}`));
    assert.deepEqual(quiet.children, []);
  });

  test("take keys that XML can only refer to", async () => {
    await filled("many-2", ["\0", "a\u0001"]);
    await remove("many-2", object("&#0;") + object("a&#x1;"));
    assert.deepEqual(textsOf(documentOf(await ask("GET", "/many-2")), "Key"), []);
  });

  test("are at most a thousand, and at least one", async () => {
    const many = Array.from({ length: 1001 }, (_, i) => object(`k${i}`)).join("");
    for (const inner of ["", many, "<Object></Object>"]) {
      const answer = await remove("many-1", inner);
      assert.deepEqual([answer.status, codeOf(answer)], [400, "MalformedXML"]);
    }
  });
});
