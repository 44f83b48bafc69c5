/** What a bucket is set to, over S3 and the management API: both see the same, and it has its effect. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { ACCESS_KEY_ID, REGION, SECRET_ACCESS_KEY, startS3 } from "../support/s3.ts";
import { until } from "../support/patience.ts";
import type { LifecycleRule } from "../clients/s3.ts";
import { type ApiAnswer, call } from "./api.ts";
import { firstIds } from "./policies.ts";
import { type Ask, ask as askAt, codeOf } from "./s3-wire.ts";

await import("../clients/install.ts");
const { S3 } = await import("../clients/s3.ts");

const off = ["--dns", "off", "--edge", "off", "--edge-tls", "off"];
const server = await startS3({ args: off });
after(() => server[Symbol.asyncDispose]());
const { account } = await firstIds(server);

const ask = (method: string, path: string, more: Omit<Ask, "path"> = {}) =>
  askAt(server.endpoint, method, { path, ...more });
const api = (method: string, bucket: string, rest: string, body?: object) =>
  call(server, method, `/accounts/${account}/r2/buckets/${bucket}/${rest}`, {
    ...(body && { body }),
  });
/** Without a key. */
const anyone = (method: string, path: string, headers: Record<string, string> = {}) =>
  fetch(server.endpoint + path, { method, headers });

let made = 0;
async function freshBucket(): Promise<string> {
  const name = `settings-${++made}`;
  assert.equal((await ask("PUT", `/${name}`)).status, 200);
  return name;
}
const set = (bucket: string, resource: string, body: string) =>
  ask("PUT", `/${bucket}`, { query: { [resource]: "" }, body });
const get = (bucket: string, resource: string) =>
  ask("GET", `/${bucket}`, { query: { [resource]: "" } });
const result = ({ status, result, text }: ApiAnswer) => {
  assert.equal(status, 200, text);
  return result;
};

suite("CORS rules", () => {
  const rule = (methods: string) =>
    `<CORSConfiguration><CORSRule><AllowedOrigin>https://a.example</AllowedOrigin>${methods}<AllowedHeader>x-amz-*</AllowedHeader><ExposeHeader>ETag</ExposeHeader><MaxAgeSeconds>60</MaxAgeSeconds></CORSRule></CORSConfiguration>`;
  const GET = "<AllowedMethod>GET</AllowedMethod>";

  test("are set, shown and deleted", async () => {
    const bucket = await freshBucket();
    const none = await get(bucket, "cors");
    assert.deepEqual([none.status, codeOf(none)], [404, "NoSuchCORSConfiguration"]);
    assert.equal((await set(bucket, "cors", rule(GET))).status, 200);
    assert.match((await get(bucket, "cors")).text, /<AllowedMethod>GET<\/AllowedMethod>/);
    assert.deepEqual(result(await api("GET", bucket, "cors")), {
      rules: [
        {
          allowed: { origins: ["https://a.example"], methods: ["GET"], headers: ["x-amz-*"] },
          exposeHeaders: ["ETag"],
          maxAgeSeconds: 60,
        },
      ],
    });
    for (let i = 0; i < 2; i++) {
      const gone = await ask("DELETE", `/${bucket}`, { query: { cors: "" } });
      assert.equal(gone.status, 204);
    }
    assert.equal((await get(bucket, "cors")).status, 404);
    const unset = await api("GET", bucket, "cors");
    assert.deepEqual([unset.status, unset.errors[0]?.code], [404, 10_059]);
  });

  test("that cannot be are refused by both, and change nothing", async () => {
    const bucket = await freshBucket();
    const patch = await set(bucket, "cors", rule("<AllowedMethod>PATCH</AllowedMethod>"));
    assert.deepEqual([patch.status, codeOf(patch)], [400, "InvalidRequest"]);
    assert.equal(codeOf(await set(bucket, "cors", "<CORSConfiguration>")), "MalformedXML");
    assert.equal(codeOf(await set(bucket, "cors", "<Other/>")), "MalformedXML");
    const bomb = '<!DOCTYPE a [<!ENTITY b "c">]><CORSConfiguration/>';
    assert.equal(codeOf(await set(bucket, "cors", bomb)), "MalformedXML");
    const rules = [{ allowed: { origins: ["*"], methods: ["PATCH"] } }];
    assert.equal((await api("PUT", bucket, "cors", { rules })).status, 400);
    assert.equal((await get(bucket, "cors")).status, 404);
  });

  test("answer browsers that ask beforehand, and show pages the answers, errors too", async () => {
    const bucket = await freshBucket();
    const rules = [
      { allowed: { origins: ["https://*.example"], methods: ["GET"] }, exposeHeaders: ["ETag"] },
    ];
    result(await api("PUT", bucket, "cors", { rules }));
    const origin = "https://a.example";
    const asks = { origin, "access-control-request-method": "GET" };
    const preflight = await anyone("OPTIONS", `/${bucket}/k?X-Amz-Signature=x`, asks);
    assert.equal(preflight.status, 200);
    assert.equal(preflight.headers.get("access-control-allow-origin"), origin);
    assert.equal((await anyone("OPTIONS", `/${bucket}/k`)).status, 400);
    const other = { ...asks, origin: "https://b.test" };
    assert.equal((await anyone("OPTIONS", `/${bucket}/k`, other)).status, 403);

    const found = await ask("GET", `/${bucket}/k`, { headers: { origin } });
    assert.equal(found.status, 404);
    assert.equal(found.headers["access-control-allow-origin"], origin);
    assert.equal(found.headers["access-control-expose-headers"], "ETag");
    const denied = await anyone("GET", `/${bucket}/k`, { origin });
    assert.equal(denied.status, 403);
    assert.equal(denied.headers.get("access-control-allow-origin"), origin);
    const plain = await ask("GET", `/${bucket}/k`);
    assert.equal(plain.headers["access-control-allow-origin"], undefined);
  });
});

suite("lifecycle rules", () => {
  const rules = (inner: string) => `<LifecycleConfiguration>${inner}</LifecycleConfiguration>`;
  const days = (more: string) =>
    rules(`<Rule>${more}<Expiration><Days>2</Days></Expiration></Rule>`);
  const ON = "<Status>Enabled</Status>";

  test("are set, shown and deleted", async () => {
    const bucket = await freshBucket();
    assert.equal(codeOf(await get(bucket, "lifecycle")), "NoSuchLifecycleConfiguration");
    const given = days(`<ID>a</ID><Prefix>logs/</Prefix>${ON}`);
    assert.equal((await set(bucket, "lifecycle", given)).status, 200);
    const shown = (await get(bucket, "lifecycle")).text;
    assert.ok(shown.includes(given.replaceAll(/<\/?LifecycleConfiguration>/g, "")), shown);
    assert.deepEqual(result(await api("GET", bucket, "lifecycle")), {
      rules: [
        {
          id: "a",
          enabled: true,
          conditions: { prefix: "logs/" },
          deleteObjectsTransition: { condition: { type: "Age", maxAge: 172_800 } },
        },
      ],
    });
    const gone = await ask("DELETE", `/${bucket}`, { query: { lifecycle: "" } });
    assert.equal(gone.status, 204);
    assert.deepEqual(result(await api("GET", bucket, "lifecycle")), { rules: [] });
  });

  test("that S3 has set stay whole when they are read and set over the API", async () => {
    const bucket = await freshBucket();
    const filter =
      "<Filter><And><Prefix>p</Prefix><Tag><Key>k</Key><Value>v</Value></Tag><ObjectSizeGreaterThan>5</ObjectSizeGreaterThan></And></Filter>";
    const versions =
      "<NoncurrentVersionExpiration><NoncurrentDays>3</NoncurrentDays></NoncurrentVersionExpiration>";
    const given = rules(
      `<Rule><ID>a</ID>${filter}${ON}<Transition><Days>1</Days><StorageClass>STANDARD_IA</StorageClass></Transition>${versions}</Rule>`,
    );
    assert.equal((await set(bucket, "lifecycle", given)).status, 200);
    const before = (await get(bucket, "lifecycle")).text;
    const shown = result(await api("GET", bucket, "lifecycle")) as object;
    result(await api("PUT", bucket, "lifecycle", shown));
    assert.equal((await get(bucket, "lifecycle")).text, before);
    result(await api("PUT", bucket, "lifecycle", { rules: [] }));
    assert.equal((await get(bucket, "lifecycle")).status, 404);
  });

  test("that cannot be are refused with the code that S3 has for it", async () => {
    const bucket = await freshBucket();
    const cases: [string, string][] = [
      [days(`<ID>${"x".repeat(256)}</ID><Prefix/>${ON}`), "InvalidArgument"],
      [days(`<Prefix/><Status>enabled</Status>`), "MalformedXML"],
      [days(`<Prefix/>${ON}`).replace("<Days>2", "<Days>0"), "InvalidArgument"],
      [
        days(`<Prefix/>${ON}`).replace("<Days>2</Days>", "<Date>20200101</Date>"),
        "InvalidArgument",
      ],
      [rules(""), "InvalidArgument"],
    ];
    for (const [body, code] of cases) {
      const refused = await set(bucket, "lifecycle", body);
      assert.deepEqual([refused.status, codeOf(refused)], [400, code], body);
    }
    const half = {
      id: "a",
      enabled: true,
      deleteObjectsTransition: { condition: { type: "Age", maxAge: 3600 } },
    };
    assert.equal((await api("PUT", bucket, "lifecycle", { rules: [half] })).status, 400);
    assert.equal((await get(bucket, "lifecycle")).status, 404);
  });

  test("are told in the answers of what they are for", async () => {
    const bucket = await freshBucket();
    await set(bucket, "lifecycle", days(`<ID>r 1</ID><Prefix>logs/</Prefix>${ON}`));
    const told = /^expiry-date="\w{3}, \d\d \w{3} \d{4} 00:00:00 GMT", rule-id="r%201"$/;
    const put = await ask("PUT", `/${bucket}/logs/a`, { body: "x" });
    assert.match(put.headers["x-amz-expiration"] as string, told);
    for (const method of ["GET", "HEAD"]) {
      const { headers } = await ask(method, `/${bucket}/logs/a`);
      assert.match(headers["x-amz-expiration"] as string, told);
    }
    const other = await ask("PUT", `/${bucket}/other`, { body: "x" });
    assert.equal(other.headers["x-amz-expiration"], undefined);
  });

  test("are carried out", async () => {
    const bucket = await freshBucket();
    await ask("PUT", `/${bucket}/old/a`, { body: "x" });
    await ask("PUT", `/${bucket}/kept`, { body: "x" });
    const given = days(`<ID>a</ID><Prefix>old/</Prefix>${ON}`);
    const past = given.replace("<Days>2</Days>", "<Date>2020-01-01</Date>");
    assert.equal((await set(bucket, "lifecycle", past)).status, 200);
    await until(async () => (await ask("HEAD", `/${bucket}/old/a`)).status === 404);
    assert.equal((await ask("HEAD", `/${bucket}/kept`)).status, 200);
    // It is counted when all is done.
    await until(async () => {
      const metrics = await (await fetch(`${server.origin}/metrics`)).text();
      return /^selvedge_objects_lifecycle_total\{what="expired"\} 1$/m.test(metrics);
    });
  });
});

suite("the tags of a bucket", () => {
  test("are set, shown and deleted", async () => {
    const bucket = await freshBucket();
    assert.equal(codeOf(await get(bucket, "tagging")), "NoSuchTagSet");
    const tag = "<Tag><Key>team</Key><Value>a &amp; b</Value></Tag>";
    const tagging = `<Tagging><TagSet>${tag}</TagSet></Tagging>`;
    assert.equal((await set(bucket, "tagging", tagging)).status, 200);
    assert.ok((await get(bucket, "tagging")).text.includes(`<TagSet>${tag}</TagSet>`));
    const twice = `<Tagging><TagSet>${tag}${tag}</TagSet></Tagging>`;
    assert.equal(codeOf(await set(bucket, "tagging", twice)), "InvalidTag");
    const gone = await ask("DELETE", `/${bucket}`, { query: { tagging: "" } });
    assert.equal(gone.status, 204);
    assert.equal((await get(bucket, "tagging")).status, 404);
  });
});

suite("a bucket is public", () => {
  test("when it is made so: anyone reads its objects, in ranges and on conditions", async () => {
    const bucket = await freshBucket();
    await ask("PUT", `/${bucket}/k`, { body: "0123456789" });
    assert.equal((await anyone("GET", `/${bucket}/k`)).status, 403);
    const shown = result(await api("PUT", bucket, "domains/managed", { enabled: true })) as {
      domain: string;
    };
    assert.deepEqual(result(await api("GET", bucket, "domains/managed")), shown);
    const whole = await fetch(`http://${shown.domain}/k`);
    assert.deepEqual([whole.status, await whole.text()], [200, "0123456789"]);
    const part = await anyone("GET", `/${bucket}/k`, { range: "bytes=2-4" });
    assert.deepEqual([part.status, await part.text()], [206, "234"]);
    const etag = whole.headers.get("etag")!;
    assert.equal((await anyone("GET", `/${bucket}/k`, { "if-none-match": etag })).status, 304);
    assert.equal((await anyone("HEAD", `/${bucket}/k`)).headers.get("content-length"), "10");
    assert.equal((await anyone("GET", `/${bucket}/none`)).status, 404);
  });

  test("for reading objects only, and not for lists unless they are asked for", async () => {
    const bucket = await freshBucket();
    await ask("PUT", `/${bucket}/k`, { body: "x" });
    result(await api("PUT", bucket, "domains/managed", { enabled: true }));
    for (const path of [
      "",
      "?list-type=2",
      "?uploads",
      "?cors",
      "/k?tagging",
      "/k?acl",
      "?versions",
    ]) {
      assert.equal((await anyone("GET", `/${bucket}${path}`)).status, 403, path);
    }
    assert.equal((await anyone("GET", `/${bucket}/k?response-content-type=text/html`)).status, 400);
    for (const method of ["PUT", "DELETE"]) {
      assert.equal((await anyone(method, `/${bucket}/k`)).status, 403, method);
    }
    result(await api("PUT", bucket, "domains/managed", { enabled: true, listing: true }));
    const list = await anyone("GET", `/${bucket}?list-type=2`);
    assert.match(await list.text(), /<Key>k<\/Key>/);
    assert.equal((await anyone("GET", `/${bucket}?uploads`)).status, 403);
  });

  test("until it is made private again", async () => {
    const bucket = await freshBucket();
    await ask("PUT", `/${bucket}/k`, { body: "x" });
    result(await api("PUT", bucket, "domains/managed", { enabled: true }));
    assert.equal((await anyone("GET", `/${bucket}/k`)).status, 200);
    result(await api("PUT", bucket, "domains/managed", { enabled: false }));
    assert.equal((await anyone("GET", `/${bucket}/k`)).status, 403);
    assert.equal((await anyone("GET", `/no-such-bucket/k`)).status, 403);
  });
});

suite("the AWS SDK", () => {
  const client = new S3.S3Client({
    endpoint: server.endpoint,
    region: REGION,
    credentials: { accessKeyId: ACCESS_KEY_ID, secretAccessKey: SECRET_ACCESS_KEY },
    forcePathStyle: true,
  });
  after(() => client.destroy());

  test("gets back what it has set", async () => {
    const Bucket = await freshBucket();
    const CORSRules = [
      {
        ID: "web",
        AllowedOrigins: ["https://*.example"],
        AllowedMethods: ["GET", "PUT"],
        AllowedHeaders: ["*"],
        ExposeHeaders: ["ETag"],
        MaxAgeSeconds: 3000,
      },
    ];
    const cors = { Bucket, CORSConfiguration: { CORSRules } };
    await client.send(new S3.PutBucketCorsCommand(cors));
    const shownCors = await client.send(new S3.GetBucketCorsCommand({ Bucket }));
    assert.deepEqual(shownCors.CORSRules, CORSRules);

    const Rules: LifecycleRule[] = [
      { ID: "old", Status: "Enabled", Prefix: "logs/", Expiration: { Days: 3 } },
      {
        ID: "many",
        Status: "Disabled",
        Filter: {
          And: { Prefix: "a", Tags: [{ Key: "k", Value: "v" }], ObjectSizeLessThan: 1000 },
        },
        Expiration: { Date: new Date("2030-01-01T00:00:00Z") },
        Transitions: [{ Days: 1, StorageClass: "STANDARD_IA" }],
      },
      {
        ID: "uploads",
        Status: "Enabled",
        Filter: {},
        AbortIncompleteMultipartUpload: { DaysAfterInitiation: 2 },
      },
    ];
    const lifecycle = { Bucket, LifecycleConfiguration: { Rules } };
    await client.send(new S3.PutBucketLifecycleConfigurationCommand(lifecycle));
    const shown = await client.send(new S3.GetBucketLifecycleConfigurationCommand({ Bucket }));
    assert.deepEqual(shown.Rules, Rules);
    await client.send(new S3.DeleteBucketLifecycleCommand({ Bucket }));
    const none = client.send(new S3.GetBucketLifecycleConfigurationCommand({ Bucket }));
    await assert.rejects(none, { name: "NoSuchLifecycleConfiguration" });

    const TagSet = [{ Key: "team", Value: "a" }];
    await client.send(new S3.PutBucketTaggingCommand({ Bucket, Tagging: { TagSet } }));
    const tags = await client.send(new S3.GetBucketTaggingCommand({ Bucket }));
    assert.deepEqual(tags.TagSet, TagSet);
  });
});
