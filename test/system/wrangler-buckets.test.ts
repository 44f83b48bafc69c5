/** What the stock wrangler sets and shows of buckets, and what the store then has. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, suite, test } from "node:test";
import { keyHeaders, startServer } from "../support/server.ts";
import { keyCredentials, noWrangler, wranglerFor } from "../support/wrangler.ts";
import { bearer, call } from "./api.ts";
import { accountKey, firstIds, policy } from "./policies.ts";

const HOOK = "https://hooks.example.net/photos";
const DAY_SECONDS = 86_400;
/** What the store lists at a time. */
const PAGE = 1_000;
const AT_ONCE = 50;

interface Counted {
  viewer: { accounts: { r2StorageAdaptiveGroups: { max: object }[] }[] };
}

suite("wrangler and buckets", { skip: noWrangler }, async () => {
  const args = ["--edge", "127.0.0.1:0", "--s3", "0.0.0.0:0"];
  const server = await startServer({ args });
  after(() => server[Symbol.asyncDispose]());
  const folder = await mkdtemp(join(tmpdir(), "selvedge-wrangler-"));
  after(() => rm(folder, { recursive: true, force: true }));
  const [project, home] = [join(folder, "project"), join(folder, "home")];
  await mkdir(project);
  await mkdir(home);
  const { account } = await firstIds(server);
  const credentials = { ...keyCredentials, CLOUDFLARE_ACCOUNT_ID: account };
  const wrangler = wranglerFor(server, credentials, { home, project });
  const bucket = (...args: readonly string[]) => wrangler(["r2", "bucket", ...args]);
  const object = (args: readonly string[], input?: string) =>
    wrangler(["r2", "object", ...args, "--remote"], input);

  /** The bucket through our own API. */
  const ours = async (method: string, place = "", body?: unknown) => {
    const path = `/accounts/${account}/storage/buckets/photos${place}`;
    const answer = await call(server, method, path, body === undefined ? {} : { body });
    assert.equal(answer.status, 200, answer.text);
    return answer.result as Record<string, unknown>;
  };
  const s3Port = new URL(server.ready["s3"]!).port;
  const s3 = `127.0.0.1:${s3Port}`;
  const projectFile = async (name: string, content: unknown) => {
    await writeFile(join(project, name), JSON.stringify(content));
    return name;
  };

  await call(server, "POST", `/accounts/${account}/r2/buckets`, { body: { name: "photos" } });

  test("put objects with what is known of them, from a pipe and back", async () => {
    const of = "photos/notes/one.txt";
    const expires = "Wed, 21 Oct 2037 07:28:00 GMT";
    const known = ["--content-type", "text/x-note", "--cache-control", "max-age=5"];
    const kept = ["--expires", expires, "--storage-class", "InfrequentAccess"];
    const said = await object(["put", of, "--pipe", ...known, ...kept], "a note");
    assert.match(said, /Upload complete/);
    assert.match(await object(["get", of, "--pipe"]), /a note$/);
    const [shown] = (await ours("GET", "/objects")) as unknown as Record<string, unknown>[];
    const { key, size, http_metadata, storage_class } = shown!;
    assert.deepEqual(
      { key, size, http_metadata, storage_class },
      {
        key: "notes/one.txt",
        size: 6,
        http_metadata: {
          contentType: "text/x-note",
          cacheControl: "max-age=5",
          cacheExpiry: "2037-10-21T07:28:00Z",
        },
        storage_class: "InfrequentAccess",
      },
    );
    await assert.rejects(
      object(["put", of, "--pipe", "--expires", "never"], "x"),
      /expires: .*never.* is not a date/,
    );
    await assert.rejects(object(["put", of, "--pipe", "-s", "Cold"], "x"), /cf-r2-storage-class/);
    assert.match(await object(["get", of, "--pipe"]), /a note$/, "as it was");
  });

  test("info counts the objects; update sets the storage class of those to come", async () => {
    assert.match(
      await bucket("update", "storage-class", "photos", "--storage-class", "InfrequentAccess"),
      /Updated bucket photos to InfrequentAccess default storage class/,
    );
    assert.equal((await ours("GET"))["storage_class"], "InfrequentAccess");
    const { created, ...info } = JSON.parse(await bucket("info", "photos", "--json")) as {
      created: string;
    };
    assert.equal(created, (await ours("GET"))["creation_date"]);
    assert.deepEqual(info, {
      name: "photos",
      location: "(unknown)",
      default_storage_class: "InfrequentAccess",
      object_count: "1",
      bucket_size: "6 B",
    });
    await assert.rejects(bucket("info", "nowhere"), /The specified bucket does not exist/);
  });

  test("cors", async () => {
    const allowed = { origins: ["https://shop.example"], methods: ["GET"], headers: ["x-shop"] };
    const rule = { allowed, exposeHeaders: ["ETag"], maxAgeSeconds: 60 };
    const file = await projectFile("cors.json", { rules: [rule] });
    assert.match(await bucket("cors", "set", "photos", "--file", file, "-y"), /Set CORS config/);
    assert.deepEqual(await ours("GET", "/cors"), { rules: [rule] });
    const preflight = await fetch(`http://${s3}/photos/notes/one.txt`, {
      method: "OPTIONS",
      headers: { Origin: "https://shop.example", "Access-Control-Request-Method": "GET" },
    });
    assert.equal(preflight.headers.get("access-control-allow-origin"), "https://shop.example");
    const said = await bucket("cors", "list", "photos");
    assert.match(said, /allowed_origins: +https:\/\/shop\.example\n/);
    assert.match(said, /max_age_seconds: +60/);
    assert.match(await bucket("cors", "delete", "photos", "-y"), /CORS configuration deleted/);
    await assert.rejects(
      bucket("cors", "list", "photos"),
      /The CORS configuration does not exist\. \[code: 10059\]/,
    );
  });

  test("lifecycle, and what S3 alone can say in a rule stays", async () => {
    const age = (days: number) => ({ condition: { type: "Age", maxAge: days * DAY_SECONDS } });
    const tagged = {
      id: "tagged",
      enabled: true,
      conditions: { prefix: "old/", tags: { keep: "no" } },
      deleteObjectsTransition: age(9),
    };
    await ours("PUT", "/lifecycle", { rules: [tagged] });
    const when = ["--expire-days", "30", "--ia-transition-date", "2099-01-01"];
    const add = ["lifecycle", "add", "photos", "logs", "logs/", ...when];
    assert.match(await bucket(...add, "--abort-multipart-days", "7"), /Added lifecycle rule 'logs/);
    const added = {
      id: "logs",
      enabled: true,
      conditions: { prefix: "logs/" },
      deleteObjectsTransition: age(30),
      storageClassTransitions: [
        {
          condition: { type: "Date", date: "2099-01-01T00:00:00Z" },
          storageClass: "InfrequentAccess",
        },
      ],
      abortMultipartUploadsTransition: age(7),
    };
    assert.deepEqual(await ours("GET", "/lifecycle"), { rules: [tagged, added] });
    assert.match(
      await bucket("lifecycle", "list", "photos"),
      /name: +logs\n[\s\S]*Expire objects after 30 days, .* on 2099-01-01, Abort .* after 7 days/,
    );
    const remove = ["lifecycle", "remove", "photos", "--name"];
    assert.match(await bucket(...remove, "logs"), /Lifecycle rule 'logs' removed/);
    assert.deepEqual(await ours("GET", "/lifecycle"), { rules: [tagged] });
    const file = await projectFile("lifecycle.json", { rules: [added] });
    assert.match(
      await bucket("lifecycle", "set", "photos", "--file", file, "-y"),
      /Set lifecycle configuration/,
    );
    assert.deepEqual(await ours("GET", "/lifecycle"), { rules: [added] });
    await bucket(...remove, "logs");
    assert.deepEqual(await ours("GET", "/lifecycle"), { rules: [] });
  });

  test("domain: its objects are read under it, for as long as it is there", async () => {
    const made = await call(server, "POST", "/zones", { body: { name: "example.com" } });
    const zone = (made.result as { id: string }).id;
    const of = ["photos", "--domain", "pics.example.com"];
    const visit = async () => {
      const headers = { host: "pics.example.com" };
      const sent = request(new URL("/notes/one.txt", server.ready["edge"]), { headers }).end();
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      return [response.statusCode, await text(response)];
    };
    assert.match(
      await bucket("domain", "add", ...of, "--zone-id", zone, "-y"),
      /connected successfully/,
    );
    assert.deepEqual(await visit(), [200, "a note"]);
    assert.match(
      await bucket("domain", "list", "photos"),
      /domain: +pics\.example\.com\nenabled: +Yes\n[\s\S]*zone_name: +example\.com/,
    );
    assert.match(await bucket("domain", "update", ...of, "--min-tls", "1.2"), /updated success/);
    assert.match(await bucket("domain", "get", ...of), /min_tls_version: +1\.2\n/);
    await assert.rejects(
      bucket("domain", "update", ...of, "--min-tls", "1.3"),
      /for more, set the zone's min_tls_version/,
    );
    assert.match(await bucket("domain", "remove", ...of, "-y"), /removed successfully/);
    assert.deepEqual(await ours("GET", "/domains/custom"), { domains: [] });
    await assert.rejects(bucket("domain", "get", ...of), /has no domain "pics\.example\.com"/);
  });

  test("dev-url: anyone reads the bucket where it says", async () => {
    const read = async () => (await fetch(`http://${s3}/photos/notes/one.txt`)).status;
    const url = `'https://127\\.0\\.0\\.1:${s3Port}/photos'`;
    assert.match(await bucket("dev-url", "get", "photos"), /disabled/);
    assert.equal(await read(), 403);
    const said = await bucket("dev-url", "enable", "photos", "-y");
    assert.match(said, new RegExp(`Public access enabled at ${url}`));
    assert.equal(await read(), 200);
    assert.match(await bucket("dev-url", "get", "photos"), new RegExp(`enabled at ${url}`));
    await bucket("dev-url", "disable", "photos", "-y");
    assert.equal(await read(), 403);
  });

  test("notification shows who is told, and says who can be", async () => {
    const made = await ours("POST", "/notifications", {
      events: ["object-create", "object-delete"],
      suffix: ".jpg",
      target: { type: "webhook", url: HOOK },
    });
    const said = await bucket("notification", "list", "photos");
    for (const line of [
      `rule_id: +${made["id"] as string}\n`,
      `queue_name: +${HOOK}\n`,
      "prefix: +\\(all prefixes\\)\n",
      "suffix: +\\.jpg\n",
      "event_type: +PutObject,CompleteMultipartUpload,CopyObject,DeleteObject,LifecycleDeletion",
    ]) {
      assert.match(said, new RegExp(line));
    }
    const instead = /There are no queues here: .* see selvedge bucket notification add/;
    const queue = ["photos", "--queue", "work"];
    await assert.rejects(
      bucket("notification", "create", ...queue, "--event-type", "object-create"),
      instead,
    );
    await assert.rejects(bucket("notification", "delete", ...queue), instead);
    assert.equal(((await ours("GET", "/notifications")) as unknown as unknown[]).length, 1);
  });

  test("what is not offered is shown as not there, and refused by its name", async () => {
    const from = ["--provider", "AWS", "--bucket", "elsewhere", "--region", "us-east-1"];
    const keys = ["access-key-id", "secret-access-key", "r2-access-key-id", "r2-secret-access-key"];
    const given = keys.flatMap((name) => [`--${name}`, "key"]);
    const lock = ["lock", "add", "photos", "a-week", "--retention-days", "7", "-y"];
    await Promise.all([
      assert.rejects(bucket(...lock), /Bucket locks are not offered here/),
      assert.rejects(
        bucket("sippy", "enable", "photos", ...from, ...given),
        /Sippy is not offered here: .*rclone/,
      ),
      assert.rejects(
        bucket("local-uploads", "enable", "photos", "-y"),
        /Local uploads are not offered here/,
      ),
      assert.rejects(bucket("catalog", "enable", "photos"), /Data catalogs are not offered here/),
    ]);
    const shown = await Promise.all(
      ["lock list", "sippy get", "local-uploads get"].map((verb) =>
        bucket(...verb.split(" "), "photos"),
      ),
    );
    assert.match(shown[0]!, /There are no lock rules/);
    assert.match(shown[1]!, /No Sippy configuration found/);
    assert.match(shown[2]!, /Local uploads are disabled/);
  });

  test("of jurisdictions there is one", async () => {
    assert.match(await bucket("list", "-J", "default"), /name: +photos/);
    const only = /the only jurisdiction here is "default"/;
    await assert.rejects(bucket("list", "-J", "eu"), only);
    await assert.rejects(bucket("create", "elsewhere", "-J", "eu"), only);
    assert.match(await bucket("info", "photos", "-J", "default"), /object_count: +1\n/);
  });

  test("counts reach beyond a page, and are told to who may read the account's buckets", async () => {
    const many = `/accounts/${account}/r2/buckets`;
    await call(server, "POST", many, { body: { name: "many" } });
    for (let next = 0; next < PAGE + 1; next += AT_ONCE) {
      const keys = Array.from({ length: AT_ONCE }, (_, i) => next + i).filter((i) => i <= PAGE);
      const put = (i: number) => call(server, "PUT", `${many}/many/objects/${i}`, { body: "ab" });
      await Promise.all(keys.map(put));
    }
    const query = "query { viewer { accounts { r2StorageAdaptiveGroups { max } } } }";
    const ask = (body: object, headers?: Record<string, string>) =>
      call(server, "POST", "/graphql", { body, ...(headers && { headers }) });
    const variables = { accountTag: account, filter: { bucketName: "many" } };
    const answer = await fetch(`${server.base}/graphql`, {
      method: "POST",
      headers: { ...keyHeaders, "Content-Type": "application/json" },
      body: JSON.stringify({ query, variables }),
    });
    const { data } = (await answer.json()) as { data: Counted };
    const [group] = data.viewer.accounts[0]!.r2StorageAdaptiveGroups;
    const counted = { objectCount: PAGE + 1, payloadSize: 2 * (PAGE + 1), metadataSize: 0 };
    assert.deepEqual(group!.max, counted);

    const policies = [policy("allow", accountKey(account), "scriptsRead")];
    const token = await call(server, "POST", "/user/tokens", { body: { name: "t", policies } });
    const other = bearer((token.result as { value: string }).value);
    assert.equal((await ask({ query, variables }, other)).status, 403);
    const elsewhere = { ...variables, accountTag: "0".repeat(32) };
    assert.equal((await ask({ query, variables: elsewhere })).status, 403);
    assert.equal((await ask({ query })).status, 400);
    const unknown = await ask({ query: "query { viewer { zones { zoneTag } } }", variables });
    assert.deepEqual([unknown.status, unknown.errors[0]?.code], [400, 1002]);
  });
});
