/** Certificates of zones from a real ACME server, which finds the proofs at our own nameserver. RFC 8555. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { type Certificate, type Certificates, stateOf } from "#certificates";
import { statement, text } from "#db";
import { printHostPort } from "#kit/address.ts";
import { ranges } from "#kit/cidr.ts";
import { Log } from "#kit/log.ts";
import { Metrics } from "#kit/metrics.ts";
import { certificatesIn } from "#kit/pem.ts";
import { startNameserver } from "#nameserver";
import { Records, type Zone, Zones } from "#zones";
import { openGround } from "../../src/ground.ts";
import { startCertificates } from "../../src/start-certificates.ts";
import { makeAuthority } from "../support/certificates.ts";
import { until } from "../support/patience.ts";
import { startPebble } from "../support/pebble.ts";

const HOUR_MS = 3_600_000;
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
const { db, sealKey } = building.use(
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
const nameservers = ["ns1.selvedge.test", "ns2.selvedge.test"];
const records = new Records({
  db,
  zones,
  now,
  nameservers,
  mostRecords: 1_000,
  platform: ranges(["203.0.113.7"]),
});
const nameserver = building.use(
  await startNameserver({
    zones,
    records,
    address: { host: "127.0.0.1", port: 0 },
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
    metrics: new Metrics(),
    now,
  }),
);
const account = (await db.first(firstAccount({})))!.id;
const authority = await makeAuthority(home);
const KNOWN = { kid: "known", hmacKey: Buffer.alloc(32, 7).toString("base64url") };
const dns = printHostPort(nameserver.address);
const pebble = building.use(
  await startPebble(home, authority, dns, { [KNOWN.kid]: KNOWN.hmacKey }),
);
const all = building.move();
after(() => all.disposeAsync());

/** A platform's certificates, from their start to their stop. */
async function start({ externalAccount = KNOWN as typeof KNOWN | null } = {}) {
  const started = new AsyncDisposableStack();
  const { directory } = pebble;
  const acme = {
    directory,
    email: "a@example.com",
    caFile: authority.certificate,
    externalAccount,
  };
  const config = { dataDir: home, scriptsDomain: "scripts.localhost", acme };
  const parts = { db, sealKey, zones, records, log, now };
  const certificates = await startCertificates(config, parts, started);
  return { certificates, [Symbol.asyncDispose]: () => started.disposeAsync() };
}

let made = 0;
async function zoneWithProxiedName(name = `zone${++made}.example`): Promise<Zone> {
  const zone = await zones.create(account, name, "full");
  const input = { content: "192.0.2.1" };
  await records.create(zone.id, { type: "A", name: "www", input, proxied: true }, by);
  return zone;
}

async function packOf(certificates: Certificates, { id }: Zone): Promise<Certificate> {
  await until(async () => (await certificates.packs.list(id)).length === 1);
  return (await certificates.packs.list(id))[0]!;
}

async function packWhen(
  certificates: Certificates,
  zone: Zone,
  isSo: (pack: Certificate) => boolean,
): Promise<Certificate> {
  await until(async () => isSo(await packOf(certificates, zone)));
  return packOf(certificates, zone);
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

async function challengesOf(zone: Zone) {
  return records.at(zone, `_acme-challenge.${zone.name}`);
}

test("a zone with a proxied name gets a certificate for its apex and all names below", async () => {
  await using node = await start();
  const { certificates } = node;
  const zone = await zoneWithProxiedName();
  const pack = await packWhen(certificates, zone, isActive);
  const served = certificates.forHost(`www.${zone.name}`)!;
  assert.equal(served.source, "acme");
  assert.equal(served, certificates.forHost(zone.name));
  assert.equal(served.cert, pack.chain);
  const leaf = await checkedLeaf(served.cert, [zone.name, `*.${zone.name}`]);
  assert.ok(leaf.checkHost(`any.${zone.name}`));
  assert.deepEqual(await challengesOf(zone), []);
  assert.equal(pack.order, null);
  assert.ok(pack.nextAt! < pack.notAfter && pack.nextAt! > now());
  assert.doesNotMatch(lines.join(""), /PRIVATE KEY/);
});

test("names that the wildcard does not reach get one when they are asked for", async () => {
  await using node = await start();
  const { certificates } = node;
  const zone = await zones.create(account, `zone${++made}.example`, "full");
  const hosts = [`a.b.${zone.name}`, `*.c.${zone.name}`];
  await certificates.packs.order(zone, hosts, {});
  await packWhen(certificates, zone, isActive);
  const served = certificates.forHost(`x.c.${zone.name}`)!;
  await checkedLeaf(served.cert, hosts);
  assert.equal(certificates.forHost(`a.b.${zone.name}`), served);
  assert.equal(certificates.forHost(`other.b.${zone.name}`)!.source, "local");
});

test("a zone that had proxied names before the start gets one too", async () => {
  const zone = await zoneWithProxiedName();
  await using node = await start();
  await packWhen(node.certificates, zone, isActive);
});

suite("with the clock ahead", { concurrency: false }, () => {
  after(() => (ahead = 0));

  test("a certificate is renewed with a third of its life left; the old one serves meanwhile", async () => {
    await using node = await start();
    const { certificates } = node;
    const zone = await zoneWithProxiedName();
    const first = await packWhen(certificates, zone, isActive);
    const served = certificates.forHost(zone.name);
    const life = first.notAfter - first.notBefore;
    const left = first.notAfter - first.nextAt!;
    assert.ok(left >= life / 3 - HOUR_MS && left < life * 0.4, `${left / life} of its life left`);
    ahead = first.nextAt! - Date.now() - HOUR_MS;
    assert.equal(certificates.forHost(zone.name), served);
    ahead += 2 * HOUR_MS;
    const next = await packWhen(certificates, zone, ({ chain }) => chain !== first.chain);
    assert.notEqual(certificates.forHost(zone.name), served);
    assert.equal(certificates.forHost(zone.name)!.cert, next.chain);
    ahead = 0;
  });

  test("what nobody needs any more is not renewed", async () => {
    await using node = await start();
    const { certificates } = node;
    const zone = await zoneWithProxiedName();
    const pack = await packWhen(certificates, zone, isActive);
    const [record] = await records.at(zone, `www.${zone.name}`);
    await records.remove(zone.id, record!.id, by);
    assert.equal((await certificates.packs.list(zone.id)).length, 1);
    ahead = pack.nextAt! - Date.now() + HOUR_MS;
    await until(async () => (await certificates.packs.list(zone.id)).length === 0);
    ahead = 0;
  });

  test("a failure is told with its reason, waits, and is tried again when it is due", async () => {
    await using node = await start();
    const { certificates } = node;
    const zone = await zones.create(account, `zone${++made}.example`, "full");
    // The proof would have to stand at another server's.
    const delegation = {
      type: "NS",
      name: "_acme-challenge",
      input: { content: "ns.elsewhere.example" },
    };
    const { result } = await records.create(zone.id, delegation, by);
    const input = { content: "192.0.2.1" };
    await records.create(zone.id, { type: "A", name: "@", input, proxied: true }, by);
    const failed = await packWhen(certificates, zone, ({ failures }) => failures === 1);
    assert.equal(stateOf(failed, now()), "failed");
    assert.match(failed.fault!, /NS/);
    assert.ok(failed.nextAt! - now() > 4 * 60_000, "it waits for minutes");
    assert.equal(certificates.forHost(zone.name)!.source, "local");
    ahead = 6 * 60_000;
    const again = await packWhen(certificates, zone, ({ failures }) => failures === 2);
    assert.ok(again.nextAt! - now() > 9 * 60_000, "the wait doubles");
    await records.remove(zone.id, result.id, by);
    await certificates.packs.restart(zone.id, failed.id);
    const pack = await packWhen(certificates, zone, isActive);
    assert.deepEqual([pack.failures, pack.fault], [0, null]);
    assert.equal(certificates.forHost(zone.name)!.source, "acme");
    ahead = 0;
  });
});

test("an order that a stop cuts short is taken up again, with the records it had left", async () => {
  const zone = await zoneWithProxiedName();
  const begun = Promise.withResolvers<void>();
  const listener = {
    changed: ({ name }: Zone, names: ReadonlyMap<string, readonly { type: string }[]>) => {
      if (name === zone.name && names.get(`_acme-challenge.${name}`)?.length) begun.resolve();
    },
    removed: () => {},
  };
  await zones.follow(listener);
  const first = await start();
  await begun.promise;
  await first[Symbol.asyncDispose]();
  const cut = await packOf(first.certificates, zone);
  assert.equal(cut.chain, null);
  assert.equal(cut.failures, 0);
  assert.ok(cut.order !== null, "the order is kept");
  assert.deepEqual(await challengesOf(zone), []);
  await using second = await start();
  await packWhen(second.certificates, zone, isActive);
  const taken = pebble.log.text
    .split("\n")
    .filter((line) => line.includes(cut.order!.url.split("/").at(-1)!));
  assert.ok(taken.length > 0);
});

test("without the account that it wants to know, the authority's refusal is told", async () => {
  const forget = statement({ sql: "DELETE FROM acme_accounts" });
  await db.write(forget({}));
  const zone = await zoneWithProxiedName();
  {
    await using node = await start({ externalAccount: null });
    const failed = await packWhen(node.certificates, zone, ({ failures }) => failures > 0);
    assert.match(failed.fault!, /acme\.eab_kid/);
  }
  await using node = await start();
  const pack = await packOf(node.certificates, zone);
  await node.certificates.packs.restart(zone.id, pack.id);
  await packWhen(node.certificates, zone, isActive);
});

test("an account that the authority has lost is made again", async () => {
  const lose = statement({ sql: "UPDATE acme_accounts SET kid = kid || 'x'" });
  await db.write(lose({}));
  await using node = await start();
  const zone = await zoneWithProxiedName();
  await packWhen(node.certificates, zone, isActive);
});
