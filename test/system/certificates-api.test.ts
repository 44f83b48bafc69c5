/** Certificates over the wire, as the stock `cloudflare` SDK asks for them. */
import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, randomBytes } from "node:crypto";
import { after, suite, test } from "node:test";
import { makeCertificate } from "#kit/x509.ts";
import { Cloudflare } from "../clients/index.ts";
import { until } from "../support/patience.ts";
import { EMAIL, KEY, startServer } from "../support/server.ts";
import { bearer, call } from "./api.ts";
import { succeeded, TestZone } from "./dns-api.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Nobody listens there: what is ordered fails at once, and says so. */
const env = { SELVEDGE_ACME_DIRECTORY: "https://127.0.0.1:1/dir" };
const CERTIFICATES_READ = "7b7216b327b04b8fbc8f524e1f9b7531";

const server = await startServer({ env });
after(() => server[Symbol.asyncDispose]());
const client = new Cloudflare({
  baseURL: server.base,
  apiEmail: EMAIL,
  apiKey: KEY,
  apiToken: null,
  userServiceKey: null,
});

function makePair(names: readonly string[], days = 30) {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const certificate = makeCertificate({
    publicKey: createPublicKey(privateKey),
    subject: names[0]!,
    names,
    addresses: [],
    isAuthority: false,
    issuer: { subject: "An authority", privateKey: newKey() },
    validFrom: Date.now() - 2 * DAY_MS,
    validUntil: Date.now() + days * DAY_MS,
    serial: randomBytes(16),
  });
  return { certificate, private_key: privateKey.export({ type: "pkcs8", format: "pem" }) };
}

const newKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;

suite("custom certificates", () => {
  test("are made, listed, shown, replaced, put in order and deleted", async () => {
    const zone = await TestZone.make(server);
    const { customCertificates } = client;
    const at = { zone_id: zone.id };
    const first = await customCertificates.create({
      ...at,
      ...makePair([zone.name, `*.${zone.name}`]),
      bundle_method: "force",
    });
    assert.deepEqual(first.hosts, [zone.name, `*.${zone.name}`]);
    assert.deepEqual(
      [first.status, first.bundle_method, first.issuer, first.signature, first.zone_id],
      ["active", "force", "An authority", "ECDSAWithSHA256", zone.id],
    );
    assert.ok(Date.parse(first.expires_on!) > Date.now());
    assert.doesNotMatch(JSON.stringify(first), /PRIVATE/);
    const second = await customCertificates.create({ ...at, ...makePair([`www.${zone.name}`]) });
    const ids = async () =>
      (await Array.fromAsync(customCertificates.list({ ...at, status: "active" }))).map(
        ({ id }) => id,
      );
    assert.deepEqual(await ids(), [second.id, first.id]);
    const certificates = [
      { id: first.id, priority: 20 },
      { id: second.id, priority: 10 },
    ];
    const ordered = await Array.fromAsync(
      customCertificates.prioritize.update({ ...at, certificates }),
    );
    assert.deepEqual(
      ordered.map(({ id, priority }) => [id, priority]),
      [
        [first.id, 20],
        [second.id, 10],
      ],
    );
    const edited = await customCertificates.edit(first.id, { ...at, ...makePair([zone.name]) });
    assert.deepEqual(edited.hosts, [zone.name]);
    assert.deepEqual(await customCertificates.get(edited.id, at), edited);
    assert.deepEqual(await customCertificates.delete(edited.id, at), { id: edited.id });
    assert.deepEqual(await ids(), [second.id]);
  });

  test("that cannot be are refused by the field that is wrong", async () => {
    const zone = await TestZone.make(server);
    const good = makePair([zone.name]);
    const other = makePair(["elsewhere.example"]);
    const cases = [
      [{ ...good, certificate: "none" }, 2110, "/certificate"],
      [{ ...good, private_key: "none" }, 2111, "/private_key"],
      [{ ...good, private_key: other.private_key }, 2106, "/private_key"],
      [makePair([zone.name], -1), 2105, "/certificate"],
      [other, 1464, "/certificate"],
      [{ certificate: good.certificate }, 1001, "/private_key"],
      [{ ...good, bundle_method: "best" }, 1001, "/bundle_method"],
    ] as const;
    for (const [body, code, pointer] of cases) {
      const answer = await call(server, "POST", `${zone.path}/custom_certificates`, { body });
      assert.deepEqual([answer.status, answer.errors[0]?.code], [400, code], answer.text);
      assert.equal(answer.errors[0]?.source?.pointer, pointer);
      assert.doesNotMatch(answer.text, /BEGIN/);
    }
    const list = succeeded(await call(server, "GET", `${zone.path}/custom_certificates`));
    assert.deepEqual(list.result, []);
  });
});

suite("certificate packs", () => {
  /** Ours, which the SDK's types do not have. */
  const nextOf = (pack: unknown) =>
    Date.parse((pack as { readonly next_attempt_on: string }).next_attempt_on);

  test("are ordered, tell why they wait, are tried again and deleted", async () => {
    const zone = await TestZone.make(server);
    const { certificatePacks } = client.ssl;
    const at = { zone_id: zone.id };
    const made = await certificatePacks.create({
      ...at,
      type: "advanced",
      hosts: [zone.name, `a.b.${zone.name}`],
      certificate_authority: "lets_encrypt",
      validation_method: "txt",
      validity_days: 90,
    });
    assert.deepEqual([made.type, made.hosts], ["advanced", [zone.name, `a.b.${zone.name}`]]);
    assert.deepEqual(await certificatePacks.quota.get(at), {
      advanced: { allocated: 100, used: 1 },
    });
    const status = async () => (await certificatePacks.get(made.id, at)).status;
    await until(async () => (await status()) === "issuance_timed_out");
    const failed = await certificatePacks.get(made.id, at);
    assert.match(failed.validation_errors![0]!.message!, /Cannot reach 127\.0\.0\.1:1: .*REFUSED/);
    const now = Date.now();
    assert.ok(nextOf(failed) > now + 4 * MINUTE_MS && nextOf(failed) < now + 6 * MINUTE_MS);
    assert.deepEqual(await Array.fromAsync(certificatePacks.list(at)), []);
    const all = await Array.fromAsync(certificatePacks.list({ ...at, status: "all" }));
    assert.deepEqual(all, [failed]);
    await certificatePacks.edit(made.id, at);
    // The wait has doubled.
    await until(async () => nextOf(await certificatePacks.get(made.id, at)) > now + 9 * MINUTE_MS);
    const [verification] = await client.ssl.verification.get(at);
    assert.deepEqual(
      [verification?.cert_pack_uuid, verification?.certificate_status],
      [made.id, "timing_out"],
    );
    await client.ssl.verification.edit(made.id, { ...at, validation_method: "txt" });
    assert.deepEqual(await certificatePacks.delete(made.id, at), { id: made.id });
  });

  test("come by themselves when a name is proxied, unless the zone wants none", async () => {
    const zone = await TestZone.make(server);
    const at = { zone_id: zone.id };
    const { certificatePacks, universal } = client.ssl;
    const packs = () => Array.fromAsync(certificatePacks.list({ ...at, status: "all" }));
    assert.deepEqual(await universal.settings.get(at), { enabled: true });
    await zone.create({ type: "A", name: "www", content: "192.0.2.1", proxied: true });
    await until(async () => (await packs()).length === 1);
    const [pack] = await packs();
    assert.deepEqual([pack?.type, pack?.hosts], ["universal", [zone.name, `*.${zone.name}`]]);
    assert.deepEqual(await universal.settings.edit({ ...at, enabled: false }), { enabled: false });
    assert.deepEqual(await packs(), []);
    await universal.settings.edit({ ...at, enabled: true });
    assert.equal((await packs()).length, 1);
  });

  test("for names outside the zone are refused", async () => {
    const zone = await TestZone.make(server);
    const body = { type: "advanced", hosts: [zone.name, "example.net"] };
    const path = `${zone.path}/ssl/certificate_packs/order`;
    const answer = await call(server, "POST", path, { body });
    assert.equal(answer.status, 400);
    assert.deepEqual(answer.errors[0], {
      code: 1464,
      message: `"example.net" does not lie in the zone ${zone.name}`,
      source: { pointer: "/hosts" },
    });
  });
});

test("who may only read certificates changes none", async () => {
  const zone = await TestZone.make(server);
  const policy = {
    effect: "allow",
    permission_groups: [{ id: CERTIFICATES_READ }],
    resources: { [`com.cloudflare.api.account.zone.${zone.id}`]: "*" },
  };
  const body = { name: "reader", policies: [policy] };
  const { result } = succeeded(await call(server, "POST", "/user/tokens", { body }));
  const headers = bearer((result as { value: string }).value);
  const path = `${zone.path}/custom_certificates`;
  succeeded(await call(server, "GET", path, { headers }));
  const refused = await call(server, "POST", path, { headers, body: makePair([zone.name]) });
  assert.equal(refused.status, 403);
});
