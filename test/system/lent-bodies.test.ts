/** Objects that scripts pass on to their clients as they are: the same octets, whichever way they take. */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { connect as connectHttp2 } from "node:http2";
import { request as httpsRequest } from "node:https";
import { connect as connectTcp } from "node:net";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { buffer } from "node:stream/consumers";
import { gunzipSync } from "node:zlib";
import { connectStore } from "selvedge/store";
import { until } from "../support/patience.ts";
import { EMAIL, KEY, startServer } from "../support/server.ts";
import { call } from "./api.ts";
import { firstIds } from "./policies.ts";

const MIB = 1024 ** 2;
const LARGE = 8 * MIB;
/** Parts but the last must have it. */
const PART = 5 * MIB;

const server = await startServer({ args: ["--dns", "off", "--s3", "off"] });
after(() => server[Symbol.asyncDispose]());
const { account } = await firstIds(server);
const bucket = connectStore({ url: server.origin, email: EMAIL, key: KEY }).bucket("things");
await api("POST", `/accounts/${account}/storage/buckets`, { name: "things" });
const { subdomain } = (await api("GET", `/accounts/${account}/workers/subdomain`)) as {
  subdomain: string;
};
const octets = randomBytes(LARGE);
await bucket.put("large", octets, { httpMetadata: { contentType: "x/y" } });

async function api(method: string, path: string, body?: object): Promise<unknown> {
  const { status, result, text } = await call(server, method, path, { ...(body && { body }) });
  assert.equal(status, 200, text);
  return result;
}

/** A script of that name, with the bucket; returns its host. */
async function deploy(name: string, source: string, more: readonly object[] = []): Promise<string> {
  const bindings = [{ type: "r2_bucket", name: "THINGS", bucket_name: "things" }, ...more];
  const metadata = { main_module: "a.js", compatibility_date: "2026-07-01", bindings };
  const form = new FormData();
  form.set("metadata", JSON.stringify(metadata));
  form.set("a.js", new File([source], "a.js", { type: "application/javascript+module" }));
  const path = `/accounts/${account}/workers/scripts/${name}`;
  const headers = { "X-Auth-Email": EMAIL, "X-Auth-Key": KEY };
  const answer = await fetch(server.base + path, { method: "PUT", headers, body: form });
  assert.equal(answer.status, 200, await answer.text());
  await api("POST", `${path}/subdomain`, { enabled: true });
  return `${name}.${subdomain}.scripts.localhost`;
}

/** A script that answers with what the code makes of `object`, which is the large one or that of `?key`. */
function answering(code: string): string {
  return `export default { async fetch(request, env, ctx) {
    const key = new URL(request.url).searchParams.get("key") ?? "large";
    const object = await env.THINGS.get(key);
    ${code}
  } };`;
}

const AS_IT_IS = answering(`const headers = new Headers({ etag: object.httpEtag });
  object.writeHttpMetadata(headers);
  headers.append("set-cookie", "a=1"); headers.append("set-cookie", "b=2");
  return new Response(object.body, { status: 203, statusText: "Just so", headers });`);

interface Got {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

function ask(host: string, path = "/", method = "GET", isTls = false): Promise<Got> {
  const { hostname, port } = new URL(server.ready[isTls ? "edge_tls" : "edge"]!);
  const options = { hostname, port, path, method, headers: { host } };
  const ca = isTls ? readFileSync(join(server.data, "local-ca.crt")) : undefined;
  return new Promise((resolve, reject) => {
    const sent = isTls ? httpsRequest({ ...options, servername: host, ca }) : httpRequest(options);
    sent.once("error", reject);
    sent.once("response", (response) => {
      const { statusCode: status = 0, headers } = response;
      buffer(response).then((body) => resolve({ status, headers, body }), reject);
    });
    sent.end();
  });
}

function assertSame(got: Buffer, expected: Buffer): void {
  const sum = (of: Buffer) => `${of.length} ${createHash("sha256").update(of).digest("hex")}`;
  assert.equal(sum(got), sum(expected));
}

/** The process of the script that was deployed last. */
function processOf(): number {
  const found = readdirSync("/proc").filter((name) => {
    try {
      const command = /^\d+$/.test(name) ? readFileSync(`/proc/${name}/cmdline`, "utf8") : "";
      return command.includes("workerd") && command.includes(server.data);
    } catch {
      return false; // It has ended.
    }
  });
  return Math.max(...found.map(Number));
}

/** Octets that it has read and written. */
function movedBy(pid: number): number {
  const text = readFileSync(`/proc/${pid}/io`, "utf8");
  const [read, written] = ["rchar", "wchar"].map((name) =>
    new RegExp(`${name}: (\\d+)`).exec(text)!,
  );
  return Number(read![1]) + Number(written![1]);
}

/** Files of blobs that the server has open. */
function openBlobs(): number {
  const folder = `/proc/${server.process.pid}/fd`;
  return readdirSync(folder).filter((fd) => {
    try {
      return /\/blobs\/[0-9a-f]{2}\//.test(readlinkSync(join(folder, fd)));
    } catch {
      return false;
    }
  }).length;
}

suite("an object that a script passes on as it is", () => {
  test("goes past its process, with the head that the script gave it", async () => {
    const host = await deploy("past", AS_IT_IS);
    const before = movedBy(processOf());
    const { status, headers, body } = await ask(host);
    assertSame(body, octets);
    assert.equal(status, 203);
    assert.equal(headers["content-length"], String(LARGE));
    assert.equal(headers["content-type"], "x/y");
    assert.deepEqual(headers["set-cookie"], ["a=1", "b=2"]);
    assert.deepEqual(
      Object.keys(headers).filter((name) => name.startsWith("x-selvedge")),
      [],
    );
    assert.ok(movedBy(processOf()) - before < MIB, "the octets went through workerd");
    await until(() => openBlobs() === 0);
  });

  test("is told of to those who ask for its head alone", async () => {
    const host = await deploy("head", AS_IT_IS);
    const { headers, body } = await ask(host, "/", "HEAD");
    assert.equal(headers["content-length"], String(LARGE));
    assert.equal(body.length, 0);
    await until(() => openBlobs() === 0);
  });

  test("is the same over TLS and HTTP/2", async () => {
    const host = await deploy("secure", AS_IT_IS);
    assertSame((await ask(host, "/", "GET", true)).body, octets);
    const ca = readFileSync(join(server.data, "local-ca.crt"));
    const session = connectHttp2(server.ready["edge_tls"]!, { ca, servername: host });
    after(() => session.destroy());
    const bodies = Array.from({ length: 3 }, () =>
      buffer(session.request({ ":authority": host, ":path": "/" })),
    );
    for (const body of await Promise.all(bodies)) assertSame(body, octets);
    await until(() => openBlobs() === 0);
  });

  test("may have come in parts, the last of which lies in the database", async () => {
    const upload = await bucket.createMultipartUpload("parts");
    const sizes = [PART, PART, 1000];
    const parts = sizes.map((size) => randomBytes(size));
    const uploaded = [];
    for (const [i, part] of parts.entries()) uploaded.push(await upload.uploadPart(i + 1, part));
    await upload.complete(uploaded);
    const whole = Buffer.concat(parts);
    const host = await deploy("parts", AS_IT_IS);
    const before = movedBy(processOf());
    assertSame((await ask(host, "/?key=parts")).body, whole);
    assert.ok(movedBy(processOf()) - before < MIB, "the octets went through workerd");
    const range = `{ offset: ${PART - 7}, length: ${PART + 9} }`;
    const ranged = await deploy(
      "ranged",
      `export default { async fetch(request, env) {
        return new Response((await env.THINGS.get("parts", { range: ${range} })).body);
      } };`,
    );
    assertSame((await ask(ranged)).body, whole.subarray(PART - 7, 2 * PART + 2));
    await until(() => openBlobs() === 0);
  });

  test("is the one that the script got, whatever was written since", async () => {
    const old = randomBytes(MIB);
    const host = await deploy(
      "written",
      answering(`await (request.method === "POST" ? env.THINGS.put(key, "new") : env.THINGS.delete(key));
        return new Response(object.body);`),
    );
    await bucket.put("changing", old);
    assertSame((await ask(host, "/?key=changing", "POST")).body, old);
    assert.equal(await (await bucket.get("changing"))?.text(), "new");
    await bucket.put("changing", old);
    assertSame((await ask(host, "/?key=changing")).body, old);
    assert.equal(await bucket.head("changing"), null);
    await until(() => openBlobs() === 0);
  });

  test("leaves no file open when its client goes away midway", async () => {
    const host = await deploy("midway", AS_IT_IS);
    const { hostname, port } = new URL(server.ready["edge"]!);
    const clients = Array.from({ length: 20 }, async () => {
      const socket = connectTcp(Number(port), hostname);
      socket.on("error", () => {});
      socket.write(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      await new Promise((resolve) => socket.once("data", resolve));
      socket.destroy();
    });
    await Promise.all(clients);
    await until(() => openBlobs() === 0);
    assertSame((await ask(host)).body, octets);
  });

  test("comes whole to a script that asks another for it", async () => {
    await deploy("inner", AS_IT_IS);
    const service = { type: "service", name: "INNER", service: "inner" };
    const host = await deploy(
      "outer",
      `export default { async fetch(request, env) {
        const answer = await env.INNER.fetch("http://inner/");
        const length = (await answer.arrayBuffer()).byteLength;
        return Response.json([answer.status, length, answer.headers.get("x-selvedge-body")]);
      } };`,
      [service],
    );
    assert.deepEqual(JSON.parse((await ask(host)).body.toString()), [203, LARGE, null]);
  });

  test("may be answered by a class", async () => {
    const host = await deploy(
      "class",
      `import { WorkerEntrypoint } from "cloudflare:workers";
      export default class Own extends WorkerEntrypoint {
        async fetch(request) {
          const { body } = await this.env.THINGS.get("large");
          const path = new URL(request.url).pathname;
          const name = this.constructor === Own && this.constructor.name;
          return new Response(body, { headers: { path, name, "X-Selvedge-Body": "mine" } });
        }
      }`,
    );
    const { headers, body } = await ask(host, "/here");
    assert.equal(headers["path"], "/here");
    assert.equal(headers["name"], "Own");
    assertSame(body, octets);
  });
});

suite("an object that a script wants to read", () => {
  const ways: Readonly<Record<string, string>> = {
    "as text": `const text = await object.text(); return new Response(String(text.length > 0) + object.bodyUsed);`,
    "whole, twice": `await object.arrayBuffer();
      return new Response(await object.arrayBuffer().then(() => "again", (error) => "true" + (error instanceof TypeError)));`,
    "by a reader": `let length = 0; for await (const chunk of object.body) length += chunk.length;
      return new Response(String(length === ${LARGE}) + object.bodyUsed);`,
    "through its response": `const { body } = object; const { byteLength } = await new Response(body).arrayBuffer();
      return new Response(String(byteLength === ${LARGE}) + object.bodyUsed);`,
    "and to store again": `await env.THINGS.put("copy", object.body); const { etag } = await env.THINGS.head("copy");
      return new Response(String(etag === object.etag) + object.bodyUsed);`,
  };
  for (const [how, code] of Object.entries(ways)) {
    test(`is there ${how}`, async () => {
      const host = await deploy("reader", answering(code));
      for (let i = 0; i < 3; i++) assert.equal((await ask(host)).body.toString(), "truetrue");
    });
  }

  test("is there after a while, in halves and encoded", async () => {
    const later = `const { body } = object; await new Promise((r) => setTimeout(r, 50)); return new Response(body);`;
    assertSame((await ask(await deploy("later", answering(later)))).body, octets);
    const halves = `const answer = new Response(object.body); const other = answer.clone();
      ctx.waitUntil(answer.arrayBuffer()); return other;`;
    assertSame((await ask(await deploy("halves", answering(halves)))).body, octets);
    const encoded = `return new Response(object.body, { headers: { "content-encoding": "gzip" } });`;
    const { headers, body } = await ask(await deploy("encoded", answering(encoded)));
    assert.equal(headers["content-encoding"], "gzip");
    assertSame(gunzipSync(body), octets);
  });

  test("goes through any other stream", async () => {
    const codes = [
      `return new Response(object.body.pipeThrough(new FixedLengthStream(${LARGE})));`,
      `return new Response(object.body.pipeThrough(new IdentityTransformStream()));`,
      `return new Response(object.body.pipeThrough(new TransformStream()));`,
      `const { readable, writable } = new FixedLengthStream(${LARGE});
        ctx.waitUntil(object.body.pipeTo(writable)); return new Response(readable);`,
      `const [one, other] = object.body.tee(); ctx.waitUntil(new Response(one).arrayBuffer());
        return new Response(other.pipeThrough(new FixedLengthStream(${LARGE})));`,
      `const answer = new Response(object.body).clone();
        return new Response(answer.body.pipeThrough(new FixedLengthStream(${LARGE})));`,
    ];
    for (const [i, code] of codes.entries()) {
      const host = await deploy(`through-${i}`, answering(code));
      for (let j = 0; j < 2; j++) assertSame((await ask(host)).body, octets);
    }
  });

  test("is there however long the script waits, and whatever is written meanwhile", async () => {
    const old = randomBytes(MIB);
    await bucket.put("waiting", old);
    const host = await deploy(
      "waiting",
      answering(`await env.THINGS.put(key, "new"); await env.THINGS.delete(key);
        await new Promise((resolve) => setTimeout(resolve, 3000)); return new Response(object.body);`),
    );
    assertSame((await ask(host, "/?key=waiting")).body, old);
  });

  test("comes to a client that would rather speak another protocol", async () => {
    const host = await deploy("upgrade", AS_IT_IS);
    const { hostname, port } = new URL(server.ready["edge"]!);
    const socket = connectTcp(Number(port), hostname);
    socket.write(
      `GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    let answer = Buffer.alloc(0);
    for await (const chunk of socket) {
      answer = Buffer.concat([answer, chunk as Buffer]);
      if (answer.length > LARGE) break;
    }
    assertSame(answer.subarray(answer.indexOf("\r\n\r\n") + 4), octets);
  });

  test("is passed on past the script again once that has its old habit back", async () => {
    const code = `if (request.method === "POST") return new Response(String((await object.arrayBuffer()).byteLength));
      return new Response(object.body);`;
    const host = await deploy("habit", answering(code));
    assert.equal((await ask(host, "/", "POST")).body.toString(), String(LARGE));
    for (let i = 0; i < 8; i++) assertSame((await ask(host)).body, octets);
    const before = movedBy(processOf());
    assertSame((await ask(host)).body, octets);
    assert.ok(movedBy(processOf()) - before < MIB, "the octets went through workerd");
  });
});

suite("a script that was lent an object", () => {
  test("holds no file open once its request is over, though it never read it", async () => {
    const host = await deploy(
      "hoarder",
      `export default { async fetch(request, env) {
        const all = [];
        for (let i = 0; i < 400; i++) all.push(await env.THINGS.get("large"));
        const text = await all[0].text();
        return new Response(all[1].body, { headers: { first: String(text.length > 0) } });
      } };`,
    );
    const { headers, body } = await ask(host);
    assert.equal(headers["first"], "true");
    assertSame(body, octets);
    await until(() => openBlobs() === 0);
  });

  test("gets nothing by names that it made up", async () => {
    const host = await deploy(
      "forger",
      `export default { fetch(request) {
        const name = new URL(request.url).searchParams.get("name");
        return new Response(request.method === "POST" ? "own" : null, { headers: { "x-selvedge-body": name } });
      } };`,
    );
    assert.equal((await ask(host, "/?name=AAAAAAAAAAAAAAAAAAAAAA")).status, 502);
    assert.equal((await ask(host, "/?name=3", "POST")).body.toString(), "own");
    const foreign = await ask(host, "/?name=foreign");
    assert.deepEqual([foreign.status, foreign.headers["x-selvedge-body"]], [200, "foreign"]);
  });

  test("cannot have its name used by another script", async () => {
    await deploy(
      "giver",
      `import { atEdge } from "selvedge:edge";
      import { waitUntil, WorkerEntrypoint } from "cloudflare:workers";
      export class Giver extends WorkerEntrypoint {
        async name() {
          const get = async () => new Response((await this.env.THINGS.get("large")).body);
          const answer = await atEdge({ fetch: get }, waitUntil).fetch(new Request("http://giver/"));
          return answer.headers.get("x-selvedge-body");
        }
      }
      export default { fetch() { return new Response(); } };`,
    );
    const host = await deploy(
      "thief",
      `export default { async fetch(request, env) {
        return new Response(null, { headers: { "x-selvedge-body": await env.GIVER.name() } });
      } };`,
      [{ type: "service", name: "GIVER", service: "giver", entrypoint: "Giver" }],
    );
    assert.equal((await ask(host)).status, 502);
    await until(() => openBlobs() === 0);
  });
});
