/** Certificates of zones: kept, told, and found for the names that they serve. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, test } from "node:test";
import { bytes, statement, text } from "#db";
import { Log } from "#kit/log.ts";
import { until } from "../../test/support/patience.ts";
import {
  BELOW,
  DAY_MS,
  is,
  makePair,
  NOW,
  onBothEngines,
  openCertificates,
  ZONE,
} from "./certificates.contract.ts";
import { LocalAuthority } from "./local-authority.ts";
import { stateOf } from "./model.ts";

const log = new Log({ format: "json", level: "error", now: Date.now, write: () => {} });
const folder = await mkdtemp(join(tmpdir(), "selvedge-certificates-"));
after(() => rm(folder, { recursive: true }));
const local = await LocalAuthority.open(folder, () => NOW);
const custom = (...names: string[]) =>
  ({ ...makePair(names), bundleMethod: "force", type: "sni_custom" }) as const;

const forgetAll = statement({ sql: "DELETE FROM certificates" });
const forgetOptOuts = statement({ sql: "DELETE FROM certificate_opt_outs" });
const sealedKeys = statement({
  sql: "SELECT sealed_key, chain FROM certificates",
  gives: { key: bytes, chain: text },
});

onBothEngines("certificates", (db, open, engine) => {
  afterEach(() => db().write(forgetAll({}), forgetOptOuts({})));

  test("a user's certificate serves its names from the moment that it is taken, and again after a start", async () => {
    const certificates = await openCertificates(db());
    const heard: string[] = [];
    certificates.follow({
      changed: ({ id }) => heard.push(id),
      removed: ({ id }) => heard.push(`no ${id}`),
    });
    const input = custom("example.com", "*.example.com");
    const made = await certificates.custom.add(ZONE, input);
    const served = certificates.forHost("www.example.com");
    assert.deepEqual(
      [served?.cert, served?.key, served?.source],
      [input.certificate, input.privateKey, "custom"],
    );
    assert.equal(certificates.forHost("example.com"), served);
    assert.deepEqual(heard, [made.id]);
    const [row] = await db().all(sealedKeys({}));
    assert.ok(!Buffer.from(row!.key).includes("PRIVATE"), "the key is sealed");
    const again = await openCertificates(db());
    assert.equal(again.forHost("www.example.com")?.key, input.privateKey);
    await certificates.custom.remove(ZONE.id, made.id);
    assert.equal(certificates.forHost("www.example.com"), null);
    assert.deepEqual(heard, [made.id, `no ${made.id}`]);
  });

  test("names that have none are served by the local authority, if they lie in a zone", async () => {
    const certificates = await openCertificates(db(), { local, ownDomains: ["scripts.localhost"] });
    const served = certificates.forHost("www.example.com");
    assert.equal(served?.source, "local");
    assert.equal(certificates.forHost("example.com"), served);
    assert.notEqual(certificates.forHost("a.b.example.com"), served);
    assert.equal(certificates.forHost("x.y.scripts.localhost")?.source, "local");
    assert.equal(certificates.forHost("example.org"), null);
    assert.equal(certificates.forHost("notexample.com"), null);
    const noNames = ["a..example.com", `${"a".repeat(64)}.b.example.com`, "*.b.example.com", ""];
    for (const name of [...noNames, `${"a.".repeat(130)}example.com`]) {
      assert.equal(certificates.forHost(name), null, name);
    }
    await certificates.packs.setUniversal(ZONE, false);
    assert.equal(certificates.forHost("www.example.com"), null);
    certificates.removeZone(ZONE);
    assert.equal(certificates.forHost("www.example.com"), null);
  });

  test("a zone's certificate does not serve the names of a zone below it", async () => {
    const certificates = await openCertificates(db());
    await certificates.custom.add(
      ZONE,
      custom("sub.example.com", "*.sub.example.com", "example.com"),
    );
    assert.notEqual(certificates.forHost("www.sub.example.com"), null);
    certificates.addZone(BELOW);
    assert.equal(certificates.forHost("www.sub.example.com"), null);
    const inside = [`a.${BELOW.name}`, `*.${BELOW.name}`];
    for (const host of inside) {
      const order = certificates.packs.order(ZONE, [host], {});
      await assert.rejects(order, is("bad-hosts", /lies in the zone sub\.example\.com/));
    }
  });

  test("an edit must fit what stays, and changes nothing when it does not", async () => {
    const certificates = await openCertificates(db());
    const made = await certificates.custom.add(ZONE, custom("example.com"));
    const other = makePair(["www.example.com"]);
    const edit = (change: object) => certificates.custom.edit(ZONE, made.id, change);
    await assert.rejects(
      edit({ certificate: other.certificate }),
      is("key-mismatch", /private_key/),
    );
    assert.equal(certificates.forHost("www.example.com"), null);
    const edited = await edit(other);
    assert.deepEqual(edited.hosts, ["www.example.com"]);
    assert.equal(certificates.forHost("example.com"), null);
    assert.equal(certificates.forHost("www.example.com")?.cert, other.certificate);
    const bundled = await edit({ bundleMethod: "optimal" });
    assert.equal(bundled.bundleMethod, "optimal");
    await assert.rejects(
      certificates.custom.edit(BELOW, made.id, {}),
      is("not-found", /no custom certificate/),
    );
  });

  test("priorities decide between certificates for the same name, all or none", async () => {
    const certificates = await openCertificates(db());
    const first = await certificates.custom.add(ZONE, custom("example.com"));
    const second = await certificates.custom.add(ZONE, custom("example.com"));
    assert.equal(certificates.forHost("example.com")?.id, second.id);
    const wishes = [
      { id: first.id, priority: 9 },
      { id: second.id, priority: 3 },
    ];
    const list = await certificates.custom.prioritize(ZONE.id, wishes);
    assert.deepEqual(
      list.map(({ id }) => id),
      [first.id, second.id],
    );
    assert.equal(certificates.forHost("example.com")?.id, first.id);
    const unknown = [
      { id: second.id, priority: 10 },
      { id: "0".repeat(32), priority: 1 },
    ];
    await assert.rejects(certificates.custom.prioritize(ZONE.id, unknown), is("not-found", /0000/));
    assert.equal(certificates.forHost("example.com")?.id, first.id);
  });

  test("a zone's own certificate is wanted once, and not at all when it has opted out", async () => {
    const certificates = await openCertificates(db());
    await Promise.all([certificates.packs.want(ZONE), certificates.packs.want(ZONE)]);
    const [pack, ...more] = await certificates.packs.list(ZONE.id);
    assert.equal(more.length, 0);
    assert.ok(pack !== undefined);
    assert.deepEqual(pack.hosts, ["example.com", "*.example.com"]);
    assert.equal(stateOf(pack, NOW), "pending_issuance");
    assert.equal(pack.nextAt, NOW);
    await assert.rejects(
      certificates.packs.remove(ZONE.id, pack.id),
      is("not-available", /universal SSL is disabled/),
    );
    await certificates.packs.setUniversal(ZONE, false);
    await certificates.packs.want(ZONE);
    assert.deepEqual(await certificates.packs.list(ZONE.id), []);
    await certificates.packs.setUniversal(ZONE, true);
    assert.equal((await certificates.packs.list(ZONE.id)).length, 1);
    await certificates.packs.want({ id: "9".repeat(32), name: "gone.example" });
  });

  test("an order names hosts of the zone, each once and in one form", async () => {
    const certificates = await openCertificates(db());
    const hosts = ["WWW.example.com.", "www.example.com", "*.bücher.example.com"];
    const pack = await certificates.packs.order(ZONE, hosts, { validityDays: 30 });
    assert.deepEqual(pack.hosts, ["www.example.com", "*.xn--bcher-kva.example.com"]);
    for (const host of [
      "example.org",
      "a b.example.com",
      "a.*.example.com",
      "**.example.com",
      "",
      "*",
    ]) {
      await assert.rejects(
        certificates.packs.order(ZONE, [host], {}),
        is("bad-hosts", /zone|hostname/),
      );
    }
    const many = Array.from({ length: 51 }, (_, i) => `n${i}.example.com`);
    await assert.rejects(certificates.packs.order(ZONE, many, {}), is("bad-hosts", /1 to 50/));
    await certificates.packs.remove(ZONE.id, pack.id);
    assert.deepEqual(await certificates.packs.list(ZONE.id), []);
    const without = await openCertificates(db(), { hasAcme: false });
    await assert.rejects(
      without.packs.order(ZONE, ["example.com"], {}),
      is("not-available", /acme\.directory is off/),
    );
  });

  test("what has expired serves no longer", async () => {
    let clock = NOW;
    const certificates = await openCertificates(db(), { now: () => clock });
    const made = await certificates.custom.add(ZONE, custom("example.com"));
    clock = made.notAfter - 1;
    assert.notEqual(certificates.forHost("example.com"), null);
    clock = made.notAfter;
    assert.equal(certificates.forHost("example.com"), null);
    assert.equal(stateOf(made, clock), "expired");
    assert.equal(made.notAfter, NOW + 90 * DAY_MS);
  });

  test("nodes on one database follow each other", async () => {
    await using otherDb = await open();
    const here = await openCertificates(db());
    await using following = await here.followOthers({ log });
    if (engine === "sqlite") return assert.equal(following, null);
    const there = await openCertificates(otherDb);
    const made = await there.custom.add(ZONE, custom("example.com"));
    await until(() => here.forHost("example.com")?.id === made.id);
    const other = makePair(["www.example.com"]);
    await there.custom.edit(ZONE, made.id, other);
    await until(() => here.forHost("www.example.com")?.cert === other.certificate);
    assert.equal(here.forHost("example.com"), null);
    await there.custom.remove(ZONE.id, made.id);
    await until(() => here.forHost("www.example.com") === null);
    await there.packs.setUniversal(ZONE, false);
    await until(() => !here.packs.isUniversal(ZONE.id));
  });
});
