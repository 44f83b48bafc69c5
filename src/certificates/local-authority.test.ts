import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createSecureContext } from "node:tls";
import { LocalAuthority } from "./local-authority.ts";

const DAY_MS = 86_400_000;
let clock = Date.now();
const now = () => clock;
const folder = await mkdtemp(join(tmpdir(), "selvedge-local-"));
after(() => rm(folder, { recursive: true }));
const root = async () => new X509Certificate(await readFile(join(folder, "local-ca.crt")));

test("it signs for a name and its wildcard with a root that stays, and whose key nobody may read", async () => {
  const authority = await LocalAuthority.open(folder, now);
  const first = await root();
  const leaf = authority.leafFor("example.com");
  const certificate = new X509Certificate(leaf.cert);
  assert.ok(first.ca && certificate.checkIssued(first) && certificate.verify(first.publicKey));
  assert.equal(certificate.subjectAltName, "DNS:example.com, DNS:*.example.com");
  assert.equal((await stat(join(folder, "local-ca.key"))).mode & 0o777, 0o600);
  createSecureContext({ cert: leaf.cert, key: leaf.key });
  const again = await LocalAuthority.open(folder, now);
  assert.equal((await root()).fingerprint256, first.fingerprint256);
  assert.ok(new X509Certificate(again.leafFor("example.org").cert).verify(first.publicKey));
});

test("a leaf stays the same object until a third of its life is left", async () => {
  const authority = await LocalAuthority.open(folder, now);
  const leaf = authority.leafFor("example.com");
  clock += 4 * DAY_MS;
  assert.equal(authority.leafFor("example.com"), leaf);
  clock += DAY_MS;
  const next = authority.leafFor("example.com");
  assert.notEqual(next, leaf);
  assert.ok(next.notAfter > clock + 6 * DAY_MS);
});

test("of very many, those that were asked for last are kept", async () => {
  const authority = await LocalAuthority.open(folder, now);
  const [kept, gone] = [authority.leafFor("kept.example"), authority.leafFor("gone.example")];
  for (let i = 0; i < 999; i++) {
    if (i === 500) authority.leafFor("kept.example");
    authority.leafFor(`${i}.example`);
  }
  assert.equal(authority.leafFor("kept.example"), kept);
  assert.notEqual(authority.leafFor("gone.example"), gone);
});

test("a root near its end is made anew with the same key; a key that is none is an error", async () => {
  const before = await root();
  clock = before.validToDate.getTime() - 29 * DAY_MS;
  await LocalAuthority.open(folder, now);
  const made = await root();
  assert.notEqual(made.fingerprint256, before.fingerprint256);
  assert.deepEqual(
    made.publicKey.export({ format: "jwk" }),
    before.publicKey.export({ format: "jwk" }),
  );
  await writeFile(join(folder, "local-ca.key"), "none");
  await assert.rejects(LocalAuthority.open(folder, now), /local-ca\.key: it holds no private key/);
});
