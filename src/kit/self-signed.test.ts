import assert from "node:assert/strict";
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { test } from "node:test";
import { selfSigned } from "./self-signed.ts";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const options = {
  privateKey,
  names: ["ns1.example.com", "ns2.example.com"],
  addresses: [
    Uint8Array.of(192, 0, 2, 1),
    Uint8Array.of(0x20, 1, 0x0d, 0xb8, ...Array(11).fill(0), 1),
  ],
  validFrom: Date.UTC(2026, 0, 1),
  validUntil: Date.UTC(2036, 0, 1),
  serial: new Uint8Array(16).fill(0xff),
};

test("the certificate says what it was made for, and is signed by its own key", () => {
  const certificate = new X509Certificate(selfSigned(options));
  assert.equal(
    certificate.subjectAltName,
    "DNS:ns1.example.com, DNS:ns2.example.com, IP Address:192.0.2.1, IP Address:2001:DB8:0:0:0:0:0:1",
  );
  assert.equal(certificate.checkHost("ns2.example.com"), "ns2.example.com");
  assert.equal(certificate.checkHost("example.com"), undefined);
  assert.equal(certificate.checkIP("192.0.2.1"), "192.0.2.1");
  assert.equal(certificate.subject, "CN=ns1.example.com");
  assert.equal(certificate.issuer, certificate.subject);
  assert.equal(certificate.validFromDate.getTime(), options.validFrom);
  assert.equal(certificate.validToDate.getTime(), options.validUntil);
  assert.equal(certificate.ca, false);
  assert.deepEqual(certificate.keyUsage, ["1.3.6.1.5.5.7.3.1"]);
  assert.equal(certificate.serialNumber, "7F".padEnd(32, "F"));
  assert.equal(certificate.verify(publicKey), true);
  assert.equal(certificate.checkPrivateKey(privateKey), true);
});

test("many names, a long first name, a date past 2049 and a small serial are written as DER wants them", () => {
  const names = Array.from({ length: 60 }, (_, i) => `${"long-label.".repeat(10)}${i}.example.com`);
  const validUntil = Date.UTC(2060, 5, 7, 8, 9, 10);
  const serial = new Uint8Array(16);
  const certificate = new X509Certificate(selfSigned({ ...options, names, validUntil, serial }));
  assert.equal(certificate.subjectAltName?.split(", ").length, names.length + 2);
  assert.equal(certificate.checkHost(names[59]!), names[59]);
  assert.equal(certificate.validToDate.getTime(), validUntil);
  assert.equal(certificate.verify(publicKey), true);
});
