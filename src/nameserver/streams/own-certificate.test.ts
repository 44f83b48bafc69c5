import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { Log } from "#kit/log.ts";
import { pairFault, readCertificate, watchCertificate } from "./certificate-files.ts";
import { ownCertificate } from "./own-certificate.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "selvedge-test-"));
  t.after(() => rm(path, { recursive: true }));
  return path;
}

const options = (dataDir: string) => ({
  dataDir,
  names: ["ns1.example.com", "ns2.example.com"],
  host: "127.0.0.1",
  now: () => Date.UTC(2026, 0, 1),
});

test("the first start makes a key and a certificate, the next one finds them", async (t) => {
  const dataDir = await folder(t);
  const made = await ownCertificate(options(dataDir));
  assert.equal(pairFault(made), null);
  const certificate = new X509Certificate(made.cert);
  assert.equal(certificate.checkHost("ns2.example.com"), "ns2.example.com");
  assert.equal(certificate.checkIP("127.0.0.1"), "127.0.0.1");
  assert.equal((await stat(join(dataDir, "dns-tls.key"))).mode & 0o777, 0o600);
  assert.equal(await readFile(join(dataDir, "dns-tls.crt"), "utf8"), made.cert);
  assert.deepEqual(await ownCertificate(options(dataDir)), made);
});

test("the certificate is made anew with the same key when names change, time runs out or it is damaged", async (t) => {
  const dataDir = await folder(t);
  const made = await ownCertificate(options(dataDir));
  const changed = [
    { names: ["ns3.example.com"] },
    { host: "::1" },
    { host: "dns.example.com" },
    { now: () => Date.UTC(2026, 0, 1) + 3_625 * DAY_MS },
  ];
  for (const change of changed) {
    const next = await ownCertificate({ ...options(dataDir), ...change });
    assert.notEqual(next.cert, made.cert, JSON.stringify(change));
    assert.equal(next.key, made.key);
    assert.equal(pairFault(next), null);
  }
  await writeFile(join(dataDir, "dns-tls.crt"), made.cert.slice(0, 100));
  const mended = await ownCertificate(options(dataDir));
  assert.equal(pairFault(mended), null);
  assert.equal(mended.key, made.key);
});

test("an address that means all addresses is in no certificate", async (t) => {
  const { cert } = await ownCertificate({ ...options(await folder(t)), host: "0.0.0.0" });
  assert.equal(
    new X509Certificate(cert).subjectAltName,
    "DNS:ns1.example.com, DNS:ns2.example.com",
  );
});

test("a key file that holds no key is not overwritten", async (t) => {
  const dataDir = await folder(t);
  const path = join(dataDir, "dns-tls.key");
  await writeFile(path, "precious");
  await assert.rejects(ownCertificate(options(dataDir)), {
    message: `Cannot use ${path}: it holds no private key. Remove it to have a new one made.`,
  });
  assert.equal(await readFile(path, "utf8"), "precious");
});

test("files that cannot be used are refused with the reason", async (t) => {
  const [one, other] = [await folder(t), await folder(t)];
  await Promise.all([one, other].map((dataDir) => ownCertificate(options(dataDir))));
  const certificate = join(one, "dns-tls.crt");
  const key = join(one, "dns-tls.key");
  assert.equal(pairFault(await readCertificate({ certificate, key })), null);
  const cases: [string, string, RegExp][] = [
    [join(one, "none"), key, /^Cannot read .*none for --dns-tls: there is no such file\.$/],
    [certificate, certificate, /: there is no private key in PEM without a passphrase\.$/],
    [key, key, /: there is no certificate in PEM\.$/],
    [certificate, join(other, "dns-tls.key"), /: the certificate is not for this key\.$/],
  ];
  for (const [certificate, key, message] of cases) {
    await assert.rejects(readCertificate({ certificate, key }), { message });
  }
});

test("files that are replaced are used when both are there, and not before", async (t) => {
  const dataDir = await folder(t);
  const files = { certificate: join(dataDir, "dns-tls.crt"), key: join(dataDir, "dns-tls.key") };
  const first = await ownCertificate(options(dataDir));
  const second = await ownCertificate(options(await folder(t)));
  const seen: unknown[] = [];
  const changed = Promise.withResolvers<void>();
  const warned = Promise.withResolvers<void>();
  const write = (line: string) => line.includes("stays in use") && warned.resolve();
  const log = new Log({ format: "json", level: "warn", now: Date.now, write });
  const watch = watchCertificate(
    files,
    first,
    (certificate) => {
      seen.push(certificate);
      changed.resolve();
    },
    log,
    10,
  );
  t.after(() => watch[Symbol.dispose]());
  await writeFile(files.certificate, second.cert);
  await warned.promise;
  assert.deepEqual(seen, []);
  await writeFile(files.key, second.key);
  await changed.promise;
  assert.deepEqual(seen, [second]);
});
