/** The platform's nameserver over TCP, TLS and HTTPS, as clients reach it. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { copyFile, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import type { TLSSocket } from "node:tls";
import { decode, encode, type RecordType } from "dns-packet";
import fc from "fast-check";
import { parseHostPort } from "#kit/address.ts";
import { ownCertificate } from "../../src/nameserver/streams/own-certificate.ts";
import { missingDebianPackages } from "../support/debian.ts";
import { runProgram } from "../support/program.ts";
import { runSelvedge, startServer, type TestServer } from "../support/server.ts";
import { framedQuery, StreamClient, within } from "../support/stream-client.ts";
import { succeeded, TestZone } from "./dns-api.ts";

const DNS_MESSAGE = "application/dns-message";

let server: TestServer;
let zone: TestZone;
const name = () => `www.${zone.name}`;

before(async () => {
  const missing = missingDebianPackages(["knot-dnsutils", "bind9-dnsutils", "curl"]);
  if (missing !== null) throw new Error(missing);
  server = await startServer({ args: ["--dns-tls", "127.0.0.1:0"] });
  zone = await TestZone.make(server);
  await zone.create({ type: "A", name: "www", content: "192.0.2.1", ttl: 120 });
});
after(() => server[Symbol.asyncDispose]());

function query(name: string, type: RecordType): Buffer {
  return encode({ type: "query", id: 0, questions: [{ type, name }] });
}

/** What a client prints. */
async function run(command: string, ...args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await runProgram(command, args);
  return stdout + stderr;
}

function at(door: "dns" | "dns_tls"): string[] {
  const { host, port } = parseHostPort(server.ready[door]!);
  return [`@${host}`, "-p", String(port)];
}

suite("over TCP", () => {
  test("dig gets its answer on the port of UDP", async () => {
    assert.equal(await run("dig", ...at("dns"), "+tcp", "+short", name()), "192.0.2.1\n");
    assert.equal(await run("dig", ...at("dns"), "+notcp", "+short", name()), "192.0.2.1\n");
  });

  test("an answer that UDP cuts short comes whole", async () => {
    const content = `"${"x".repeat(200)}"`;
    for (let i = 0; i < 20; i++) {
      await zone.create({ type: "TXT", name: "many", content: content.replace("x", `${i}-`) });
    }
    const said = await run("dig", ...at("dns"), "+stats", `many.${zone.name}`, "TXT");
    assert.match(said, /Truncated, retrying in TCP mode/);
    assert.match(said, /ANSWER: 20,/);
    assert.match(said, /\(TCP\)/);
  });
});

suite("over TLS", () => {
  test("kdig gets its answer with the certificate that the first start made", async () => {
    const trust = [
      `+tls-ca=${join(server.data, "dns-tls.crt")}`,
      "+tls-hostname=ns1.selvedge.test",
    ];
    const said = await run("kdig", ...at("dns_tls"), "+tls", ...trust, "+padding", name());
    assert.match(said, /TLS session \(TLS1\.3\)/);
    assert.match(said, /status: NOERROR/);
    assert.match(said, /IN\tA\t192\.0\.2\.1$/m);
    assert.match(said, /PADDING/);
  });

  test("the operator's certificate is used, and a new one as soon as it is there", async () => {
    const folder = await mkdtemp(join(tmpdir(), "selvedge-test-"));
    const issue = async (name: string) => {
      const dataDir = await mkdtemp(join(folder, "issued-"));
      await ownCertificate({ dataDir, names: [name], host: "127.0.0.1", now: Date.now });
      await copyFile(join(dataDir, "dns-tls.key"), join(folder, "our.key"));
      await copyFile(join(dataDir, "dns-tls.crt"), join(folder, "our.crt"));
    };
    await issue("first.example");
    await using own = await startServer({
      args: ["--dns-tls", "127.0.0.1:0"],
      env: {
        SELVEDGE_DNS_TLS_CERTIFICATE: join(folder, "our.crt"),
        SELVEDGE_DNS_TLS_KEY: join(folder, "our.key"),
      },
    });
    const shown = async () => {
      using client = await StreamClient.openTls(parseHostPort(own.ready["dns_tls"]!));
      return (client.socket as TLSSocket).getPeerX509Certificate()!.subject;
    };
    assert.equal(await shown(), "CN=first.example");
    await issue("second.example");
    while ((await shown()) !== "CN=second.example") {
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await assert.rejects(readFile(join(own.data, "dns-tls.key")), { code: "ENOENT" });
    await rm(folder, { recursive: true });
  });

  test("the certificate names the name servers and the address", async () => {
    const { subjectAltName } = new X509Certificate(
      await readFile(join(server.data, "dns-tls.crt")),
    );
    assert.equal(
      subjectAltName,
      "DNS:ns1.selvedge.test, DNS:ns2.selvedge.test, IP Address:127.0.0.1",
    );
  });

  test("an address that is taken stops the start with a sentence", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => taken.once("listening", resolve));
    const { port } = taken.address() as { port: number };
    const data = await mkdtemp(join(tmpdir(), "selvedge-test-"));
    const doors = [
      "--api",
      "127.0.0.1:0",
      "--dns",
      "127.0.0.1:0",
      "--dns-tls",
      `127.0.0.1:${port}`,
    ];
    const child = runSelvedge(["serve", "--data", data, ...doors]);
    let said = "";
    child.stderr!.on("data", (chunk: Buffer) => (said += chunk.toString()));
    const [code] = (await once(child, "close")) as [number | null];
    assert.equal(code, 1);
    const why = "another program uses this port. Choose another, or 0 for a free one.";
    assert.ok(
      said.includes(`selvedge: Cannot listen on 127.0.0.1:${port} (--dns-tls): ${why}`),
      said,
    );
    await rm(data, { recursive: true });
    taken.close();
  });
});

suite("over HTTPS", () => {
  const url = () => `${server.origin}/dns-query`;
  const ask = async (name: string, type: RecordType) => {
    const answer = await fetch(`${url()}?dns=${query(name, type).toString("base64url")}`);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("content-type"), DNS_MESSAGE);
    const packet = decode(Buffer.from(await answer.arrayBuffer()));
    return { packet, cache: answer.headers.get("cache-control") };
  };

  test("a question gets its answer without credentials, and caches know how long to keep it", async () => {
    const { packet, cache } = await ask(name(), "A");
    assert.deepEqual(
      packet.answers?.map((record) => (record as { data: string }).data),
      ["192.0.2.1"],
    );
    assert.equal(packet.flag_aa, true);
    assert.equal(cache, "max-age=120");
  });

  test("what does not exist may be kept as its SOA says, and a refusal may not", async () => {
    assert.equal((await ask(`none.${zone.name}`, "A")).cache, "max-age=1800");
    const { packet, cache } = await ask("elsewhere.test", "A");
    assert.equal((packet as unknown as { rcode: string }).rcode, "REFUSED");
    assert.equal(cache, "no-store");
  });

  test("curl posts a message", async () => {
    const folder = await mkdtemp(join(tmpdir(), "selvedge-test-"));
    const [sent, received] = [join(folder, "query"), join(folder, "response")];
    await writeFile(sent, query(name(), "A"));
    const headers = ["-H", `Content-Type: ${DNS_MESSAGE}`, "-w", "%{http_code} %{content_type}"];
    const said = await run(
      "curl",
      "-s",
      "-o",
      received,
      ...headers,
      "--data-binary",
      `@${sent}`,
      url(),
    );
    assert.equal(said, `200 ${DNS_MESSAGE}`);
    assert.equal(decode(await readFile(received)).answers?.length, 1);
    await rm(folder, { recursive: true });
  });

  test("a zone is never transferred", async () => {
    for (const type of ["AXFR", "IXFR"] as const) {
      const { packet } = await ask(zone.name, type);
      assert.equal((packet as unknown as { rcode: string }).rcode, "REFUSED");
      assert.equal(packet.answers?.length, 0);
    }
  });

  test("another method is not allowed, and says which are", async () => {
    const answer = await fetch(url(), { method: "PUT", body: "x" });
    assert.equal(answer.status, 405);
    assert.equal(answer.headers.get("allow"), "GET, POST");
  });

  test("a body larger than any message is refused", async () => {
    const headers = { "Content-Type": DNS_MESSAGE };
    const body = new Uint8Array(65_536);
    assert.equal((await fetch(url(), { method: "POST", headers, body })).status, 413);
  });

  test("a record is answered as soon as the API has made it", async () => {
    for (let i = 0; i < 20; i++) {
      succeeded(await zone.call("POST", "", { type: "A", name: `new${i}`, content: "192.0.2.9" }));
      assert.equal((await ask(`new${i}.${zone.name}`, "A")).packet.answers?.length, 1);
    }
  });

  test("without a nameserver there is no such path", async () => {
    await using quiet = await startServer({ env: { SELVEDGE_DNS: "off" } });
    assert.equal((await fetch(`${quiet.origin}/dns-query?dns=AAAA`)).status, 404);
  });
});

test("random octets on every transport hurt nobody", async () => {
  const noise = fc.sample(fc.uint8Array({ minLength: 1, maxLength: 3_000 }), 300);
  const addresses = [parseHostPort(server.ready["dns"]!), parseHostPort(server.ready["dns_tls"]!)];
  for (const [i, octets] of noise.entries()) {
    using client = await StreamClient.open(addresses[i % 2]!);
    client.send(octets, framedQuery(1, name()));
    client.socket.end();
    await within(client.closed);
    const headers = { "Content-Type": DNS_MESSAGE };
    const body = new Uint8Array(octets);
    const answer = await fetch(`${server.origin}/dns-query`, { method: "POST", headers, body });
    assert.ok([200, 400].includes(answer.status), `${answer.status}`);
    await answer.arrayBuffer();
  }
  using client = await StreamClient.open(addresses[0]!);
  client.send(framedQuery(7, name()));
  assert.equal((await client.next())!.id, 7);
  assert.doesNotMatch(server.output.stderr, /"level":"(?:warn|error)"/);
});
