/** Who issues, and when; how is in `acme/` and against a real authority in test/system. */
import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import { acquireLease, releaseLease, statement } from "#db";
import { Log } from "#kit/log.ts";
import { until } from "../../test/support/patience.ts";
import type { Certificates } from "./certificates.ts";
import { BELOW, NOW, onBothEngines, openCertificates, ZONE } from "./certificates.contract.ts";
import { Issuer } from "./issuer.ts";

const log = new Log({ format: "json", level: "error", now: Date.now, write: () => {} });
const forgetAll = statement({ sql: "DELETE FROM certificates" });
const LEASE = { name: "certificates", holder: "another", seconds: 60 };

onBothEngines("the issuer", (db) => {
  let clock = NOW;
  const now = () => clock;
  afterEach(() => db().write(forgetAll({})));

  /** An issuer whose authority cannot be reached: what it has tried counts as failed. */
  function issuerOf({ store }: Certificates, isWanted = async () => true): Issuer {
    return new Issuer({
      db: db(),
      sealKey: new Uint8Array(32).fill(7),
      store,
      acme: {
        directory: "https://127.0.0.1:1/dir",
        authorities: null,
        email: null,
        externalAccount: null,
      },
      publish: () => assert.fail("nothing is published"),
      isWanted,
      now,
      random: () => 0,
      log,
    });
  }

  test("tries what is due, tells why it failed, and tries again when it has waited", async () => {
    const certificates = await openCertificates(db(), { now });
    await using issuer = issuerOf(certificates);
    const { id } = await certificates.packs.order(ZONE, ["example.com"], {});
    const pack = () => certificates.packs.get(ZONE.id, id);
    await issuer.look();
    const failed = await pack();
    assert.equal(failed.failures, 1);
    assert.match(failed.fault!, /Cannot reach 127\.0\.0\.1:1/);
    assert.equal(failed.nextAt, clock + 5 * 60_000);
    await issuer.look();
    assert.equal((await pack()).failures, 1);
    clock = failed.nextAt;
    await issuer.look();
    assert.equal((await pack()).failures, 2);
    await certificates.packs.restart(ZONE.id, id);
    await issuer.look();
    assert.equal((await pack()).failures, 3);
  });

  test("leaves the work to the node that holds the lease", async () => {
    const certificates = await openCertificates(db(), { now });
    const issuer = issuerOf(certificates);
    const { id } = await certificates.packs.order(ZONE, ["example.com"], {});
    assert.ok(await acquireLease(db(), LEASE, clock));
    await issuer.look();
    assert.equal((await certificates.packs.get(ZONE.id, id)).failures, 0);
    await releaseLease(db(), LEASE);
    await issuer.look();
    assert.equal((await certificates.packs.get(ZONE.id, id)).failures, 1);
    assert.equal(await acquireLease(db(), LEASE, clock), false, "it is at work");
    await issuer[Symbol.asyncDispose]();
    assert.ok(await acquireLease(db(), LEASE, clock), "it gave the lease back");
    await releaseLease(db(), LEASE);
  });

  test("changes nothing when another node has taken over meanwhile", async () => {
    const certificates = await openCertificates(db(), { now });
    const isWanted = async () => {
      clock += LEASE.seconds * 1000 + 1;
      assert.ok(await acquireLease(db(), LEASE, clock));
      return false;
    };
    await using issuer = issuerOf(certificates, isWanted);
    await certificates.packs.want(ZONE);
    await issuer.look();
    assert.equal((await certificates.packs.list(ZONE.id)).length, 1);
    await releaseLease(db(), LEASE);
  });

  test("lets no zone wait for another", async () => {
    const certificates = await openCertificates(db(), { now });
    certificates.addZone(BELOW);
    const asked = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<boolean>();
    const isWanted = () => {
      asked.resolve();
      return answer.promise;
    };
    await using ends = new AsyncDisposableStack();
    ends.use(issuerOf(certificates, isWanted).start());
    ends.defer(() => answer.resolve(false));
    await certificates.packs.want(ZONE);
    await asked.promise;
    const { id } = await certificates.packs.order(BELOW, [BELOW.name], {});
    await until(async () => (await certificates.packs.get(BELOW.id, id)).failures === 1);
    answer.resolve(false);
    await until(async () => (await certificates.packs.list(ZONE.id)).length === 0);
  });

  test("begins at once with what is ordered, and drops what nobody wants", async () => {
    const certificates = await openCertificates(db(), { now });
    await using _ = issuerOf(certificates, async () => false).start();
    const { id } = await certificates.packs.order(ZONE, ["example.com"], {});
    await until(async () => (await certificates.packs.get(ZONE.id, id)).failures === 1);
    await certificates.packs.want(ZONE);
    await until(async () => (await certificates.packs.list(ZONE.id)).length === 1);
  });
});
