/** DNS over TLS as clients meet it: Node's, OpenSSL's and Knot's. RFC 7858. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect as connectTcp } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { missingDebianPackages } from "../../../test/support/debian.ts";
import { runProgram } from "../../../test/support/program.ts";
import { until } from "../../../test/support/patience.ts";
import { framedQuery, StreamClient, within } from "../../../test/support/stream-client.ts";
import { startTrivialStreams, type TrivialStreams } from "../../../test/support/trivial-streams.ts";
import type { StreamLimits } from "./limits.ts";
import type { Certificate } from "./messages.ts";
import { ownCertificate } from "./own-certificate.ts";

const NAME = "ns1.example.com";

let folder: string;
let streams: TrivialStreams;
let certificate: Certificate;

async function newCertificate(): Promise<Certificate> {
  const dataDir = await mkdtemp(join(folder, "certificate-"));
  return ownCertificate({ dataDir, names: [NAME], host: "127.0.0.1", now: Date.now });
}

function startTls(limits: Partial<StreamLimits> = {}): Promise<TrivialStreams> {
  const tlsAddress = { host: "127.0.0.1", port: 0 };
  return startTrivialStreams({ tlsAddress, certificate, limits });
}

const address = () => streams.tlsAddress!;

/** What a client prints. */
async function run(command: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await runProgram(command, args);
  return stdout + stderr;
}

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "selvedge-test-"));
  certificate = await newCertificate();
  streams = await startTls();
});
after(async () => {
  await streams[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

suite("DNS over TLS", () => {
  test("answers, pipelined and deferred, as plain TCP does", async () => {
    using client = await StreamClient.openTls(address(), { ALPNProtocols: ["dot"] });
    const all = Array.from({ length: 300 }, (_, id) => id);
    const name = (id: number) => ["a.example", "big.example", "later.example"][id % 3]!;
    client.send(...all.map((id) => framedQuery(id, name(id))));
    const answers = await client.nextOf(300);
    assert.deepEqual(
      answers.map(({ id }) => id!).toSorted((a, b) => a - b),
      all,
    );
    const { data } = answers.find(({ id }) => id === 0)!.answers![0] as { data: string };
    assert.match(data, /^1\.2\./, "the responder knows that it is TLS");
  });

  test("names its protocol, from version 1.2 on, and only that", async () => {
    for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
      const range = { minVersion: version, maxVersion: version };
      using client = await StreamClient.openTls(address(), { ALPNProtocols: ["dot"], ...range });
      const socket = client.socket as TLSSocket;
      assert.equal(socket.alpnProtocol, "dot");
      assert.equal(socket.getProtocol(), version);
    }
    const old = { minVersion: "TLSv1", maxVersion: "TLSv1.1", ciphers: "ALL:@SECLEVEL=0" } as const;
    await assert.rejects(StreamClient.openTls(address(), old));
    await assert.rejects(StreamClient.openTls(address(), { ALPNProtocols: ["h2"] }));
  });

  test("shows a certificate that a client who trusts it can check", async () => {
    using client = await StreamClient.openTls(address(), {
      rejectUnauthorized: true,
      ca: certificate.cert,
      servername: NAME,
    });
    client.send(framedQuery(1, "a.example"));
    assert.equal((await client.next())!.id, 1);
  });

  test("changes its certificate without dropping a connection", async () => {
    using before = await StreamClient.openTls(address());
    const next = await newCertificate();
    streams.setCertificate(next);
    const trusting = { rejectUnauthorized: true, ca: next.cert, servername: NAME };
    for (;;) {
      using after = await StreamClient.openTls(address(), trusting).catch(() => null);
      if (after !== null) break;
    }
    before.send(framedQuery(1, "a.example"));
    assert.equal((await before.next())!.id, 1);
    certificate = next;
  });

  test("answers what was asked when the client shuts its side, then closes", async () => {
    using client = await StreamClient.openTls(address());
    client.socket.end(framedQuery(1, "later.example"));
    assert.equal((await client.next())!.id, 1);
    assert.equal(await client.next(), null);
  });

  test("closes a handshake that does not get on, and one that is no handshake", async () => {
    await using streams = await startTls({ messageMs: 1_000 });
    const silent = connectTcp(streams.tlsAddress!);
    const talking = connectTcp(streams.tlsAddress!);
    talking.on("error", () => {});
    talking.write("GET / HTTP/1.1\r\n\r\n");
    talking.resume();
    silent.resume();
    await within(Promise.all([once(silent, "close"), once(talking, "close")]));
    await until(() => streams.counters().connections === 0);
    await until(() => streams.counters().failedHandshakes === 2);
    assert.equal(streams.counters().timedOut, 1);
  });

  test("gives back the places of connections that end, however they end", async () => {
    const clients = await Promise.all(
      Array.from({ length: 20 }, () => StreamClient.openTls(address())),
    );
    clients.forEach(({ socket }, i) => {
      if (i % 2 === 0) socket.end();
      else socket.destroy();
    });
    const halfway = connectTls({ ...address(), rejectUnauthorized: false });
    halfway.on("error", () => {});
    halfway.destroy();
    await until(() => streams.counters().connections === 0);
  });
});

suite("clients of others", () => {
  before(() => {
    const missing = missingDebianPackages(["knot-dnsutils", "bind9-dnsutils", "openssl"]);
    if (missing !== null) throw new Error(missing);
  });
  const at = (port: number) => ["@127.0.0.1", "-p", String(port)];

  test("dig asks over TCP, several questions on one connection", async () => {
    const { port } = streams.address!;
    const args = [
      ...at(port),
      "+tcp",
      "+keepopen",
      "+short",
      "a.example",
      "a.example",
      "later.example",
    ];
    const lines = (await run("dig", args)).trim().split("\n");
    assert.equal(lines.length, 3);
    assert.equal(lines[0], lines[1], "the same port asked twice");
    assert.equal(lines[2], "192.0.2.7");
  });

  test("kdig asks over TLS and checks the certificate", async () => {
    const file = join(folder, "trusted.crt");
    await writeFile(file, certificate.cert);
    const args = [...at(address().port), "+tls", `+tls-ca=${file}`, `+tls-hostname=${NAME}`];
    const said = await run("kdig", [...args, "a.example"]);
    assert.match(said, /TLS session \(TLS1\.3\)/);
    assert.match(said, /status: NOERROR/);
    assert.match(said, /^a\.example\.\s+60\s+IN\s+A\s+1\.2\./m);
    const wrong = [...args.slice(0, -1), "+tls-hostname=other.example.com", "a.example"];
    assert.doesNotMatch(await run("kdig", wrong), /status: NOERROR/);
  });

  test("openssl shakes hands and finds nothing wrong", async () => {
    const connect = ["-connect", `127.0.0.1:${address().port}`, "-alpn", "dot"];
    const said = await run("openssl", ["s_client", ...connect, "-servername", NAME]);
    assert.match(said, /ALPN protocol: dot/);
    assert.match(said, /Verify return code: 18 \(self-signed certificate\)/);
  });
});
