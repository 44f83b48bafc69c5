/** What a user's certificate and key must be to be taken. */
import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { suite, test } from "node:test";
import { makeCertificate } from "#kit/x509.ts";
import { DAY_MS, is, makePair, newKey, NOW, pemOf } from "./certificates.contract.ts";
import { checkPair } from "./pair.ts";

const check = (pair: { certificate: string; privateKey: string }) =>
  checkPair(pair, "example.com", NOW);

/** An authority's certificate and what signs with it. */
function authority(subject: string) {
  const privateKey = newKey();
  const issuer = { subject, privateKey };
  const certificate = makeCertificate({
    publicKey: createPublicKey(privateKey),
    subject,
    names: [],
    addresses: [],
    isAuthority: true,
    issuer,
    validFrom: NOW,
    validUntil: NOW + DAY_MS,
    serial: new Uint8Array(16).fill(2),
  });
  return { certificate, issuer };
}

test("a chain in its order is taken, without what stands between its certificates", () => {
  const { certificate, issuer } = authority("Root");
  const leaf = makePair(["Example.com", "*.example.com", "other.example"], { issuer });
  const chain = `a comment\n${leaf.certificate}\nanother\n${certificate}`;
  const read = check({ certificate: chain, privateKey: `its key\n${leaf.privateKey}\n` });
  assert.deepEqual(read.hosts, ["example.com", "*.example.com", "other.example"]);
  assert.equal(read.chain, leaf.certificate + certificate);
  assert.equal(read.privateKey, leaf.privateKey);
  assert.deepEqual([read.notBefore, read.notAfter], [NOW - DAY_MS, NOW + 90 * DAY_MS]);
});

suite("refused is", () => {
  const good = makePair(["example.com"]);
  const root = authority("Root");
  const locked = newKey().export({
    type: "pkcs8",
    format: "pem",
    cipher: "aes-256-cbc",
    passphrase: "secret",
  });
  const weak = generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey;
  const cases = [
    [
      "text that is no certificate",
      { ...good, certificate: "none" },
      "bad-certificate",
      /holds no/,
    ],
    [
      "a certificate that is cut",
      { ...good, certificate: good.certificate.replace(/.{64}\n/, "") },
      "bad-certificate",
      /1 of the chain cannot be read/,
    ],
    [
      "a chain whose issuer comes first",
      { ...good, certificate: root.certificate + good.certificate },
      "bad-certificate",
      /Certificate 2 of the chain has not issued certificate 1/,
    ],
    [
      "a chain without end",
      { ...good, certificate: good.certificate.repeat(11) },
      "bad-certificate",
      /at most 10/,
    ],
    ["text that is no key", { ...good, privateKey: "none" }, "bad-key", /private_key is no/],
    ["a key with a passphrase", { ...good, privateKey: locked }, "bad-key", /passphrase/],
    [
      "a key that is too short",
      { ...good, privateKey: pemOf(weak) },
      "key-mismatch",
      /private_key/,
    ],
    ["another's key", { ...good, privateKey: pemOf(newKey()) }, "key-mismatch", /not the key/],
    ["one that has expired", makePair(["example.com"], { days: 0 }), "expired", /2026-11-15T12:00/],
    [
      "one for another zone",
      makePair(["example.org", "notexample.com"]),
      "bad-hosts",
      /example\.org, not/,
    ],
    ["one for no name", makePair([]), "bad-hosts", /no hostname/],
  ] as const;
  for (const [name, pair, kind, says] of cases) {
    test(name, () => assert.throws(() => check(pair), is(kind, says)));
  }
});
