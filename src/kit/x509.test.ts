import assert from "node:assert/strict";
import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { test } from "node:test";
import { mustRun } from "../../test/support/program.ts";
import { certificatesIn, toPem } from "./pem.ts";
import { makeCertificate, makeRequest } from "./x509.ts";

const newKey = () => generateKeyPairSync("ec", { namedCurve: "P-256" });
const OPENSSL = "/usr/bin/openssl";

test("a certificate of an authority verifies against it, and only the authority may sign", () => {
  const [root, leaf] = [newKey(), newKey()];
  const common = {
    addresses: [],
    issuer: { subject: "Root", privateKey: root.privateKey },
    validFrom: Date.UTC(2026, 0, 1),
    validUntil: Date.UTC(2027, 0, 1),
    serial: new Uint8Array(16).fill(9),
  };
  const authority = new X509Certificate(
    makeCertificate({
      ...common,
      publicKey: root.publicKey,
      subject: "Root",
      names: [],
      isAuthority: true,
    }),
  );
  const names = ["example.com", "*.example.com"];
  const certificate = new X509Certificate(
    makeCertificate({
      ...common,
      publicKey: leaf.publicKey,
      subject: names[0]!,
      names,
      isAuthority: false,
    }),
  );
  assert.deepEqual([authority.ca, certificate.ca], [true, false]);
  assert.equal(certificate.issuer, "CN=Root");
  assert.ok(certificate.checkIssued(authority) && certificate.verify(authority.publicKey));
  assert.equal(authority.checkIssued(certificate), false);
  assert.equal(certificate.checkHost("www.example.com"), "*.example.com");
  assert.ok(certificate.checkPrivateKey(leaf.privateKey));
});

test("openssl reads a request, finds its names and its signature right", async () => {
  const names = ["example.com", "*.example.com", ...Array(40).fill("a-long-name.example.com")];
  const request = toPem("CERTIFICATE REQUEST", makeRequest(newKey().privateKey, names));
  const read = await mustRun(OPENSSL, ["req", "-noout", "-text", "-verify"], { input: request });
  assert.match(read, /DNS:example\.com, DNS:\*\.example\.com, DNS:a-long/);
  assert.match(read, /ASN1 OID: prime256v1/);
});

test("a chain is split into its certificates", () => {
  const [one, two] = ["one", "two"].map((text) => toPem("CERTIFICATE", Buffer.from(text)));
  assert.deepEqual(certificatesIn(`about one\n${one}\r\nabout two\n${two}`), [one, two]);
  assert.deepEqual(certificatesIn("nothing"), []);
});
