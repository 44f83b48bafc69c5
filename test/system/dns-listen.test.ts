/** Where the nameserver listens, what it says of itself, and how it stops. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { parseHostPort, printHostPort } from "#kit/address.ts";
import { missingDebianPackages } from "../support/debian.ts";
import { askTcp } from "../support/dns-client.ts";
import { decodeMessage, encodeQuery, FLAG } from "../support/dns-message.ts";
import { DnsSocket } from "../support/dns-socket.ts";
import { OutsideWorld, silence } from "../support/outside-world.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { mustRun } from "../support/program.ts";
import { runSelvedge, startServer, type TestServer } from "../support/server.ts";
import { framedQuery, StreamClient } from "../support/stream-client.ts";
import { call } from "./api.ts";
import { succeeded, TestZone } from "./dns-api.ts";

/** A stop waits for names outside for 1.5 s, and a busy machine is slow; for requests it would wait for 30 s. */
const PROMPT_MS = 15_000;

const world = await OutsideWorld.start();
after(() => world[Symbol.asyncDispose]());
const env = { SELVEDGE_RESOLVERS: world.address };

/** A zone with an address, and with one that is found outside. */
async function makeZone(server: TestServer): Promise<TestZone> {
  const zone = await TestZone.make(server, "listen.example");
  await zone.create({ type: "A", name: "www", content: "192.0.2.1" });
  await zone.create({ type: "CNAME", name: "@", content: "listen.outside.test" });
  world.say("listen.outside.test", { a: ["198.51.100.1"] });
  return zone;
}

const www = { name: "www.listen.example", type: "A" };
const flat = { name: "listen.example", type: "A" };

/** Asks at an address over UDP and TCP, also for what has to wait for the resolver. */
async function checkAnswers(host: string, port: number): Promise<void> {
  using socket = await DnsSocket.open(printHostPort({ host, port }));
  assert.equal((await socket.ask(www)).answer[0]?.data, "192.0.2.1", host);
  assert.equal((await socket.ask(flat)).answer[0]?.data, "198.51.100.1", host);
  using stream = await StreamClient.open({ host, port });
  stream.send(framedQuery(1, www.name));
  assert.equal((await stream.next())?.answers?.length, 1, host);
}

const NSID = 3;
const nsid = { size: 1232, flags: 0, options: [[NSID, Buffer.alloc(0)]] as const };
const chaos = (name: string, type = "TXT") => ({ name, type, class: "CH" });
const chaosNames = ["version.bind", "version.server", "hostname.bind", "id.server"];

suite("on one address", () => {
  let server: TestServer;
  let socket: DnsSocket;
  before(async () => {
    server = await startServer({ args: ["--dns", "[::1]:0"], env });
    await makeZone(server);
    socket = await DnsSocket.open(server.ready["dns"]!);
  });
  after(async () => {
    socket[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });

  test("of IPv6 it answers over UDP and TCP, without limits for this machine", async () => {
    const { host, port } = parseHostPort(server.ready["dns"]!);
    assert.equal(host, "::1");
    await checkAnswers(host, port);
    const answers = await socket.askAll(Array.from({ length: 500 }, () => www));
    assert.ok(answers.every(({ answer }) => answer.length === 1));
  });

  test("it says nothing of itself unless the operator wants it", async () => {
    const { answer, opt } = await socket.ask({ ...www, edns: nsid });
    assert.deepEqual([answer.length, opt!.options.size], [1, 0]);
    for (const name of chaosNames) {
      const message = await socket.ask(chaos(name));
      assert.deepEqual([message.rcode, message.answer], ["REFUSED", []], name);
    }
  });

  test("no second Selvedge can listen, nor anyone where TCP is taken or the address is not ours", async () => {
    const tcp = createServer().listen(0, "127.0.0.1");
    await once(tcp, "listening");
    const { port } = tcp.address() as AddressInfo;
    const inUse = "another program uses this port. Choose another, or 0 for a free one.";
    const cases = [
      [server.ready["dns"]!, inUse],
      [`127.0.0.1:${port}`, inUse],
      ["192.0.2.1:53530", "this machine does not have that address."],
    ] as const;
    await Promise.all(
      cases.map(async ([flag, why]) =>
        assert.equal(await failedStart(flag), `Cannot listen on ${flag} (--dns): ${why}`),
      ),
    );
    tcp.close();
  });
});

/** Starts in vain; returns what was said of it. */
async function failedStart(flag: string): Promise<string> {
  const data = await mkdtemp(join(tmpdir(), "selvedge-test-"));
  const child = runSelvedge(["serve", "--data", data, "--api", "127.0.0.1:0", "--dns", flag]);
  try {
    let stderr = "";
    child.stderr!.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
    const [code] = (await once(child, "close")) as [number | null];
    assert.equal(code, 1, stderr);
    const [, sentence] = /^selvedge: (.*)$/m.exec(stderr) ?? assert.fail(stderr);
    return sentence!;
  } finally {
    child.kill("SIGKILL");
    await rm(data, { recursive: true, force: true });
  }
}

suite("on all addresses", () => {
  const words = { SELVEDGE_DNS_IDENTITY: "node-7 züri", SELVEDGE_DNS_VERSION: 'a "b" \\ c' };
  let server: TestServer;
  before(async () => {
    server = await startServer({ args: ["--dns", "[::]:0"], env: { ...env, ...words } });
    await makeZone(server);
  });
  after(() => server[Symbol.asyncDispose]());

  test("of IPv6 and IPv4 it answers from the one that was asked", async () => {
    const { host, port } = parseHostPort(server.ready["dns"]!);
    assert.equal(host, "::");
    for (const asked of ["::1", "127.0.0.1", "127.0.0.99"]) await checkAnswers(asked, port);
    using socket = await DnsSocket.open(`127.0.0.1:${port}`);
    const answers = await socket.askAll(Array.from({ length: 500 }, () => www));
    assert.ok(
      answers.every(({ answer }) => answer.length === 1),
      "no limits over IPv4, too",
    );
  });

  test("it says who and what it is as the operator words it", async () => {
    const missing = missingDebianPackages(["bind9-dnsutils"]);
    if (missing !== null) throw new Error(missing);
    const { port } = parseHostPort(server.ready["dns"]!);
    const address = `127.0.0.1:${port}`;
    using socket = await DnsSocket.open(address);
    const identity = Buffer.from(words.SELVEDGE_DNS_IDENTITY);
    assert.deepEqual((await socket.ask({ ...www, edns: nsid })).opt!.options.get(NSID), identity);
    const plain = await socket.ask({ ...www, edns: { ...nsid, options: [] } });
    assert.equal(plain.opt!.options.size, 0, "only those who ask are told");
    for (const query of [chaos("authors.bind"), chaos("id.server", "A")]) {
      assert.equal((await socket.ask(query)).rcode, "REFUSED");
    }
    const tcp = decodeMessage((await askTcp(address, encodeQuery(chaos("ID.Server"))))!);
    assert.deepEqual([tcp.flags & FLAG.AA, tcp.answer.length], [FLAG.AA, 1]);
    assert.deepEqual([tcp.answer[0]!.ttl, tcp.answer[0]!.class], [0, "CH"]);
    const dig = (...args: string[]) => mustRun("dig", ["@127.0.0.1", "-p", String(port), ...args]);
    const texts = await Promise.all(chaosNames.map((name) => dig("+short", "CH", "TXT", name)));
    const version = '"a \\"b\\" \\\\ c"\n';
    const id = '"node-7 z\\195\\188ri"\n';
    assert.deepEqual(texts, [version, version, id, id]);
    assert.match(await dig("+nsid", www.name), /NSID: 6e 6f 64 65 2d 37 20 7a c3 bc 72 69/);
  });
});

test("nowhere when it is off; all else works", async () => {
  await using server = await startServer({ args: ["--dns", "off"] });
  assert.deepEqual(Object.keys(server.ready), ["event", "api", "s3", "edge", "edge_tls"]);
  await TestZone.make(server);
  assert.ok(succeeded(await call(server, "GET", "/zones")));
  assert.equal((await fetch(`${server.origin}/readyz`)).status, 200);
  const metrics = await (await fetch(`${server.origin}/metrics`)).text();
  assert.doesNotMatch(metrics, /selvedge_dns/);
  const query = encodeQuery(www).toString("base64url");
  assert.equal((await fetch(`${server.origin}/dns-query?dns=${query}`)).status, 404);
  assert.equal(await server.end(), 0);
});

suite("it stops", () => {
  async function stopped(server: TestServer): Promise<void> {
    const start = performance.now();
    assert.equal(await server.end(), 0, server.output.stderr);
    const ms = performance.now() - start;
    assert.ok(ms < PROMPT_MS, `${ms} ms`);
  }

  test("promptly under load, and answers what it has taken", async () => {
    // This one listens on all addresses of IPv4, which is another path to the kernel.
    const args = ["--dns", "0.0.0.0:0", "--dns-threads", "2"];
    await using server = await startServer({ args, env });
    await makeZone(server);
    const { host, port } = parseHostPort(server.ready["dns"]!);
    assert.equal(host, "0.0.0.0");
    for (const asked of ["127.0.0.1", "127.0.0.99"]) await checkAnswers(asked, port);
    const open = () => DnsSocket.open(`127.0.0.1:${port}`);
    const sockets = await Promise.all(Array.from({ length: 8 }, open));
    // Each goes on until nobody answers.
    const load = sockets.map(async (socket) => {
      let answers = 0;
      while (await socket.isAnswered(www, 1_000)) answers++;
      return answers;
    });
    using burst = await open();
    await burst.askAll(Array.from({ length: 200 }, () => www));
    const taken = Array.from({ length: 200 }, () => burst.isAnswered(www, PATIENCE_MS));
    await stopped(server);
    assert.deepEqual(new Set(await Promise.all(taken)), new Set([true]));
    const answers = await Promise.all(load);
    assert.ok(
      answers.every((count) => count > 0),
      answers.join(" "),
    );
    for (const socket of sockets) socket[Symbol.dispose]();
  });

  test("when those who wait for a name outside are answered; quiet connections do not hold it up", async () => {
    await using server = await startServer({ env });
    const zone = await TestZone.make(server, "waiting.example");
    for (const [name, said] of [
      ["told", { a: ["198.51.100.1"], held: true }],
      ["silent", silence],
    ] as const) {
      world.say(`${name}.outside.test`, said);
      const settings = { flatten_cname: true };
      await zone.create({ type: "CNAME", name, content: `${name}.outside.test`, settings });
    }
    const asked = Promise.all(
      ["told", "silent"].map((name) => world.nextAbout(`${name}.outside.test`)),
    );
    using socket = await DnsSocket.open(server.ready["dns"]!);
    using client = await StreamClient.open(parseHostPort(server.ready["dns"]!));
    using quiet = await StreamClient.open(parseHostPort(server.ready["dns"]!));
    const told = socket.ask({ name: "told.waiting.example", type: "A" });
    const silent = socket.ask({ name: "silent.waiting.example", type: "A" });
    client.send(framedQuery(1, "told.waiting.example"));
    await asked;
    const end = stopped(server);
    setTimeout(() => world.release("told.outside.test"), 100);
    assert.equal((await told).answer[0]?.data, "198.51.100.1");
    assert.equal((await client.next())?.answers?.length, 1);
    assert.equal((await silent).rcode, "SERVFAIL");
    await Promise.all([client.closed, quiet.closed, end]);
  });
});
