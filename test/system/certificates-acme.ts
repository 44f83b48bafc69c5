/** Certificates of zones from a real ACME server, which finds the proofs at our own nameserver. RFC 8555. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, suite, test } from "node:test";
import { connect } from "node:tls";
import { type Certificate, stateOf } from "#certificates";
import { statement, text } from "#db";
import { ranges } from "#kit/cidr.ts";
import { Log } from "#kit/log.ts";
import { Metrics } from "#kit/metrics.ts";
import { certificatesIn } from "#kit/pem.ts";
import { startNameserver } from "#nameserver";
import { Records, type Zone, Zones } from "#zones";
import { openGround } from "../../src/ground.ts";
import { startCertificates } from "../../src/start-certificates.ts";
import { makeAuthority } from "../support/certificates.ts";
import { freePorts } from "../support/free-ports.ts";
import { until } from "../support/patience.ts";
import { startPebble } from "../support/pebble.ts";
import { freshPostgresUrl, stopOwnPostgres } from "../support/postgres.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { call } from "./api.ts";
import { TestZone } from "./dns-api.ts";

const MINUTE_MS = 60_000;
const by = { actor: "test" };
const firstAccount = statement({ sql: "SELECT id FROM accounts", gives: { id: text } });

await using building = new AsyncDisposableStack();
const home = await mkdtemp(join(tmpdir(), "selvedge-certificates-"));
building.defer(() => rm(home, { recursive: true, force: true }));

/** What the clock of the platform is ahead. */
let ahead = 0;
const now = () => Date.now() + ahead;
const lines: string[] = [];
const log = new Log({ format: "json", level: "info", now, write: (some) => lines.push(some) });
const authority = await makeAuthority(home);
const KNOWN = { kid: "known", hmacKey: Buffer.alloc(32, 7).toString("base64url") };
const [port] = (await freePorts(1)) as [number];
const pebble = building.use(
  await startPebble(home, authority, `127.0.0.1:${port}`, { [KNOWN.kid]: KNOWN.hmacKey }),
);
const all = building.move();
after(() => all.disposeAsync());
after(stopOwnPostgres);

const nameservers = ["ns1.selvedge.test", "ns2.selvedge.test"];
const nameserverOptions = {
  address: { host: "127.0.0.1", port },
  tlsAddress: null,
  certificate: null,
  dataDir: home,
  threads: 1,
  facts: { nameservers, edgeAddresses: ["203.0.113.7"], edgeProtocols: ["h2"] },
  resolvers: ["127.0.0.1:1"],
  cookieSecret: new Uint8Array(16),
  identity: null,
  version: null,
  rates: { answers: 0, others: 0 },
  exempt: ["127.0.0.0/8"],
  connections: 100,
  connectionsPerSource: 100,
  log,
  now,
};

type Node = Awaited<ReturnType<typeof startNode>>;

/** What of the platform has to do with certificates, on one folder from its start to its stop. */
async function startNode(externalAccount: typeof KNOWN | null = KNOWN) {
  await using starting = new AsyncDisposableStack();
  const { db, sealKey } = starting.use(
    await openGround({
      dataDir: home,
      databaseUrl: "sqlite:",
      secretKey: null,
      firstCredentials: {},
      now,
      onError: assert.fail,
    }),
  );
  const zones = new Zones(db, now);
  const platform = ranges(["203.0.113.7"]);
  const records = new Records({ db, zones, now, nameservers, mostRecords: 1_000, platform });
  const metrics = new Metrics();
  starting.use(await startNameserver({ ...nameserverOptions, zones, records, metrics }));
  const { directory } = pebble;
  const acme = {
    directory,
    email: "a@example.com",
    caFile: authority.certificate,
    externalAccount,
  };
  const config = { dataDir: home, scriptsDomain: "scripts.localhost", acme };
  const parts = { db, sealKey, zones, records, log, metrics, now };
  const certificates = await startCertificates(config, parts, starting);
  const account = (await db.first(firstAccount({})))!.id;
  const started = starting.move();
  return {
    db,
    zones,
    records,
    certificates,
    makeZone: () => zones.create(account, `zone${++made}.example`, "full"),
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

let made = 0;
async function zoneWithProxiedName({ makeZone, records }: Node): Promise<Zone> {
  const zone = await makeZone();
  const input = { content: "192.0.2.1" };
  await records.create(zone.id, { type: "A", name: "www", input, proxied: true }, by);
  return zone;
}

/** The zone's one certificate, as its node knows it. */
function packOf({ certificates }: Node, zone: Zone): Certificate | null {
  return [...certificates.store.known()].find(({ zoneId }) => zoneId === zone.id) ?? null;
}

async function packWhen(
  node: Node,
  zone: Zone,
  isSo: (pack: Certificate) => boolean,
): Promise<Certificate> {
  const isThere = () => {
    const pack = packOf(node, zone);
    return pack !== null && isSo(pack);
  };
  await until(isThere);
  return packOf(node, zone)!;
}

/** Sets the clock ahead to a time at which the pack is due, and has it looked at. */
async function goTo(time: number, { certificates }: Node, pack: Certificate): Promise<void> {
  ahead = time - Date.now();
  await certificates.store.set(pack, {});
}

const isActive = (pack: Certificate) => stateOf(pack, now()) === "active";

/** The leaf, when the chain leads to pebble's root and the names are these. */
async function checkedLeaf(pem: string, names: readonly string[]): Promise<X509Certificate> {
  const [leaf, intermediate] = certificatesIn(pem).map((one) => new X509Certificate(one));
  const issuers = await pebble.issuers();
  assert.ok(leaf!.checkIssued(intermediate!) && leaf!.verify(intermediate!.publicKey));
  assert.ok(intermediate!.verify(new X509Certificate(issuers.root).publicKey));
  const told = names.map((name) => `DNS:${name}`).sort();
  assert.deepEqual(leaf!.subjectAltName?.split(", ").sort(), told);
  return leaf!;
}

function challengesOf({ records }: Node, zone: Zone) {
  return records.at(zone, `_acme-challenge.${zone.name}`);
}

suite("a node", () => {
  let node: Node;
  before(async () => {
    node = await startNode();
  });
  afterEach(() => (ahead = 0));
  after(() => node[Symbol.asyncDispose]());

  test("gives a zone with a proxied name a certificate for its apex and all names below", async () => {
    const { certificates } = node;
    const zone = await zoneWithProxiedName(node);
    const pack = await packWhen(node, zone, isActive);
    const served = certificates.forHost(`www.${zone.name}`)!;
    assert.equal(served.source, "acme");
    assert.equal(served, certificates.forHost(zone.name));
    assert.equal(served.cert, pack.chain);
    const leaf = await checkedLeaf(served.cert, [zone.name, `*.${zone.name}`]);
    assert.ok(leaf.checkHost(`any.${zone.name}`));
    assert.deepEqual(await challengesOf(node, zone), []);
    assert.equal(pack.order, null);
    assert.doesNotMatch(lines.join(""), /PRIVATE KEY/);
  });

  test("gets names that the wildcard does not reach one when they are asked for", async () => {
    const { certificates } = node;
    const zone = await node.makeZone();
    const hosts = [`a.b.${zone.name}`, `*.c.${zone.name}`];
    await certificates.packs.order(zone, hosts, {});
    await packWhen(node, zone, isActive);
    const served = certificates.forHost(`x.c.${zone.name}`)!;
    await checkedLeaf(served.cert, hosts);
    assert.equal(certificates.forHost(`a.b.${zone.name}`), served);
    assert.equal(certificates.forHost(`other.b.${zone.name}`)!.source, "local");
  });

  test("takes away what a crash has left of an older proof, and nothing else", async () => {
    const { records } = node;
    const zone = await node.makeZone();
    const leave = (content: string, comment: string) => {
      const fields = { type: "TXT", name: "_acme-challenge", input: { content }, comment };
      return records.create(zone.id, fields, by);
    };
    await leave("stale", "Proves the zone to a certificate authority; goes by itself.");
    await leave("another's", "by certbot");
    const apex = { type: "A", name: "@", input: { content: "192.0.2.1" }, proxied: true };
    await records.create(zone.id, apex, by);
    await packWhen(node, zone, isActive);
    const left = (await challengesOf(node, zone)).map(({ content }) => content);
    assert.deepEqual(left, ['"another\'s"']);
  });

  test("renews one with a third of its life left; the old one serves meanwhile", async () => {
    const { certificates } = node;
    const zone = await zoneWithProxiedName(node);
    const first = await packWhen(node, zone, isActive);
    const served = certificates.forHost(zone.name);
    const life = first.notAfter - first.notBefore;
    const left = (first.notAfter - first.nextAt!) / life;
    assert.ok(left > 0.33 && left < 0.39, `${left} of its life left`);
    ahead = first.nextAt! - Date.now() - MINUTE_MS;
    assert.equal(certificates.forHost(zone.name), served);
    await goTo(first.nextAt! + MINUTE_MS, node, first);
    const next = await packWhen(node, zone, ({ chain }) => chain !== first.chain);
    assert.notEqual(certificates.forHost(zone.name), served);
    assert.equal(certificates.forHost(zone.name)!.cert, next.chain);
  });

  test("does not renew what nobody needs any more", async () => {
    const { records } = node;
    const zone = await zoneWithProxiedName(node);
    const pack = await packWhen(node, zone, isActive);
    const [record] = await records.at(zone, `www.${zone.name}`);
    await records.remove(zone.id, record!.id, by);
    await goTo(pack.nextAt! + MINUTE_MS, node, pack);
    await until(() => packOf(node, zone) === null);
  });

  test("tells why it failed, waits, and tries again when it is due", async () => {
    const { certificates, records } = node;
    const zone = await node.makeZone();
    // The proof would have to stand at another server.
    const input = { content: "ns.elsewhere.example" };
    const delegation = { type: "NS", name: "_acme-challenge", input };
    const { result } = await records.create(zone.id, delegation, by);
    const apex = { type: "A", name: "@", input: { content: "192.0.2.1" }, proxied: true };
    await records.create(zone.id, apex, by);
    const failed = await packWhen(node, zone, ({ failures }) => failures === 1);
    assert.equal(stateOf(failed, now()), "failed");
    assert.match(failed.fault!, /NS/);
    assert.ok(failed.nextAt! - now() > 4 * MINUTE_MS, "it waits for minutes");
    assert.equal(certificates.forHost(zone.name)!.source, "local");
    await goTo(failed.nextAt! + MINUTE_MS, node, failed);
    const again = await packWhen(node, zone, ({ failures }) => failures === 2);
    assert.ok(again.nextAt! - now() > 9 * MINUTE_MS, "the wait doubles");
    await records.remove(zone.id, result.id, by);
    await certificates.packs.restart(zone.id, failed.id);
    const pack = await packWhen(node, zone, isActive);
    assert.deepEqual([pack.failures, pack.fault], [0, null]);
    assert.equal(certificates.forHost(zone.name)!.source, "acme");
  });

  test("makes an account again that the authority has lost", async () => {
    const lose = statement({ sql: "UPDATE acme_accounts SET kid = kid || 'x'" });
    await node.db.write(lose({}));
    await node[Symbol.asyncDispose]();
    node = await startNode();
    const zone = await zoneWithProxiedName(node);
    await packWhen(node, zone, isActive);
  });

  test("without the account that the authority wants, tells so", async () => {
    const forget = statement({ sql: "DELETE FROM acme_accounts" });
    await node.db.write(forget({}));
    await node[Symbol.asyncDispose]();
    node = await startNode(null);
    const zone = await zoneWithProxiedName(node);
    const failed = await packWhen(node, zone, ({ failures }) => failures > 0);
    assert.match(failed.fault!, /acme\.eab_kid/);
    await node[Symbol.asyncDispose]();
    node = await startNode();
    await node.certificates.packs.restart(zone.id, failed.id);
    await packWhen(node, zone, isActive);
  });

  test("takes an order up again that a stop has cut short", async () => {
    const published = Promise.withResolvers<void>();
    const isChallenge = (name: string) => name.startsWith("_acme-challenge.");
    await node.zones.follow({
      changed: (_, names) => [...names.keys()].some(isChallenge) && published.resolve(),
      removed: () => {},
    });
    const zone = await zoneWithProxiedName(node);
    await published.promise;
    await node[Symbol.asyncDispose]();
    node = await startNode();
    const cut = packOf(node, zone)!;
    assert.deepEqual([cut.chain, cut.failures], [null, 0]);
    assert.ok(cut.order !== null, "the order is kept");
    const pack = await packWhen(node, zone, isActive);
    assert.equal(pack.failures, 0);
    assert.deepEqual(await challengesOf(node, zone), []);
  });
});

test("a server that is killed in the midst of an order has a certificate after its next start", async () => {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "selvedge-crash-"));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  // The authority asks where nobody answers yet, so the order stays half-way.
  const silent = createSocket("udp4").bind(0, "127.0.0.1");
  await once(silent, "listening");
  const dns = `127.0.0.1:${silent.address().port}`;
  const slow = started.use(await startPebble(folder, authority, dns));
  const env = {
    SELVEDGE_ACME_DIRECTORY: slow.directory,
    SELVEDGE_ACME_CA_FILE: authority.certificate,
  };
  const first = started.use(await startServer({ data: join(folder, "data"), env }));
  const zone = await TestZone.make(first);
  await zone.create({ type: "A", name: "@", content: "192.0.2.1", proxied: true });
  const proofs = async (at: TestZone) => (await at.all()).filter(({ type }) => type === "TXT");
  await until(async () => (await proofs(zone)).length === 2);
  await until(() => slow.log.text.includes("Pulled a task from the Tasks queue"));
  await first.end("SIGKILL");
  silent.close();
  await once(silent, "close");
  const data = join(folder, "data");
  const second = started.use(await startServer({ data, env, args: ["--dns", dns] }));
  const again = new TestZone(second, zone.id, zone.name);
  await until(async () => {
    const { result } = await call(second, "GET", `${again.path}/ssl/certificate_packs`);
    return (result as unknown[]).length === 1;
  });
  await until(async () => (await proofs(again)).length === 0);
});

test("of two nodes on one database one orders each certificate, and both serve it", async () => {
  await using started = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), "selvedge-nodes-"));
  started.defer(() => rm(folder, { recursive: true, force: true }));
  const [dns] = (await freePorts(1)).map((free) => `127.0.0.1:${free}`) as [string];
  const orders = started.use(await startPebble(folder, authority, dns));
  const env = {
    SELVEDGE_ACME_DIRECTORY: orders.directory,
    SELVEDGE_ACME_CA_FILE: authority.certificate,
    SELVEDGE_SECRET_KEY: "a secret that all nodes share",
  };
  const args = ["--database", await freshPostgresUrl()];
  const first = started.use(await startServer({ env, args: [...args, "--dns", dns] }));
  const nodes = [first, started.use(await startServer({ env, args }))];
  const zones = await Promise.all(nodes.map((node) => TestZone.make(node)));
  const apex = { type: "A", name: "@", content: "192.0.2.1", proxied: true };
  await Promise.all(zones.map((zone) => zone.create(apex)));
  const { root } = await orders.issuers();
  const issuer = new X509Certificate((await orders.issuers()).intermediate);
  for (const { name } of zones) {
    const isIssued = async (node: TestServer) => (await shownBy(node, name)).checkIssued(issuer);
    for (const node of nodes) await until(() => isIssued(node));
    const shown = await Promise.all(nodes.map((node) => shownBy(node, name)));
    assert.equal(shown[0]!.fingerprint256, shown[1]!.fingerprint256);
    assert.ok(shown[0]!.verify(issuer.publicKey));
  }
  assert.ok(issuer.verify(new X509Certificate(root).publicKey));
  const placed = orders.log.text.match(/Added order /g) ?? [];
  assert.equal(placed.length, zones.length, orders.log.text);
});

/** What a node's edge shows for a name. */
async function shownBy(node: TestServer, servername: string): Promise<X509Certificate> {
  const { hostname: host, port: edge } = new URL(node.ready["edge_tls"]!);
  const socket = connect({ host, port: Number(edge), servername, rejectUnauthorized: false });
  try {
    await once(socket, "secureConnect");
    return socket.getPeerX509Certificate()!;
  } finally {
    socket.destroy();
  }
}
