import assert from "node:assert/strict";
import { test } from "node:test";
import { type ConfigSources, readConfig } from "./config.ts";

function config(sources: Partial<ConfigSources> = {}) {
  return readConfig({ flags: {}, file: null, environment: {}, onTerminal: false, ...sources });
}

test("without any setting the platform starts on its embedded defaults", () => {
  const { listen, databaseUrl, blobsUrl, nameservers, log, warnings } = config();
  assert.deepEqual(listen, {
    api: { host: "127.0.0.1", port: 8700 },
    dns: { host: "127.0.0.1", port: 1053 },
    dnsTls: null,
    s3: { host: "127.0.0.1", port: 9000 },
    edge: { host: "127.0.0.1", port: 8080 },
    edgeTls: { host: "127.0.0.1", port: 8443 },
  });
  assert.equal(databaseUrl, "sqlite:");
  assert.equal(blobsUrl, "file:");
  assert.deepEqual(nameservers, ["ns1.selvedge.test", "ns2.selvedge.test"]);
  assert.deepEqual(log, { format: "json", level: "info" });
  assert.deepEqual(warnings, []);
});

test("logs are pretty on a terminal unless told otherwise", () => {
  assert.equal(config({ onTerminal: true }).log.format, "pretty");
  assert.equal(config({ onTerminal: true, flags: { log: "json" } }).log.format, "json");
});

test("the API's address may be given as the URL that clients use", () => {
  const environment = { SELVEDGE_API: "http://127.0.0.1:8800" };
  assert.deepEqual(config({ environment }).listen.api, { host: "127.0.0.1", port: 8800 });
});

test("a variable that is no setting is warned of, with the one that was meant", () => {
  const { warnings } = config({
    environment: { SELVEDGE_DATABSE: "x", SELVEDGE_TOKEN: "t", PATH: "" },
  });
  assert.deepEqual(warnings, [
    "SELVEDGE_DATABSE is not a setting; did you mean SELVEDGE_DATABASE?",
  ]);
});

test("a first key that could not be sent in a header is refused without being shown", () => {
  const environment = { SELVEDGE_BOOTSTRAP_KEY: "with space" };
  assert.throws(() => config({ environment }), {
    message: "Cannot use SELVEDGE_BOOTSTRAP_KEY: expected 8 to 256 visible ASCII characters.",
  });
});

test("a config file that is named must be there", () => {
  assert.throws(
    () => config({ file: "/nowhere/server.toml" }),
    /Cannot read the config file \/nowhere\/server\.toml: there is no such file\./,
  );
});

test("a certificate for DNS over TLS and its key are given together or not at all", () => {
  assert.equal(config().dns.certificate, null);
  const environment = {
    SELVEDGE_DNS_TLS_CERTIFICATE: "/etc/a.crt",
    SELVEDGE_DNS_TLS_KEY: "/etc/a.key",
  };
  assert.deepEqual(config({ environment }).dns.certificate, {
    certificate: "/etc/a.crt",
    key: "/etc/a.key",
  });
  assert.throws(() => config({ environment: { SELVEDGE_DNS_TLS_KEY: "/etc/a.key" } }), {
    message: "Cannot use dns_tls_key without dns_tls_certificate.",
  });
});

test("certificates come from an ACME authority when one is named, over HTTPS", () => {
  assert.equal(config().acme, null);
  const directory = "https://acme.example/dir";
  const environment = { SELVEDGE_ACME_DIRECTORY: directory, SELVEDGE_ACME_EAB_KID: "a" };
  assert.throws(() => config({ environment }), {
    message: "Cannot use acme.eab_kid without acme.eab_hmac_key.",
  });
  const bound = { ...environment, SELVEDGE_ACME_EAB_HMAC_KEY: "b" };
  assert.deepEqual(config({ environment: bound }).acme, {
    directory,
    email: null,
    caFile: null,
    externalAccount: { kid: "a", hmacKey: "b" },
  });
  const plain = { SELVEDGE_ACME_DIRECTORY: "http://acme.example/dir" };
  assert.throws(() => config({ environment: plain }), /ACME_DIRECTORY.*starts with https:/);
});

test("DNS over TLS needs the nameserver", () => {
  const flags = { dns: "off", dns_tls: "127.0.0.1:853" };
  assert.throws(() => config({ flags }), /^SettingsFault: Cannot use --dns-tls without --dns: /);
});

test("the S3 API has threads, host names and proxies of its own; without the last those of all doors", () => {
  const flags = { "s3.domain": "s3.test, S3.example.com", "s3.threads": "2" };
  const environment = { SELVEDGE_TRUSTED_PROXIES: "192.0.2.0/24" };
  assert.deepEqual(config({ flags, environment }).s3, {
    threads: 2,
    domains: ["s3.test", "s3.example.com"],
    trustedProxies: ["192.0.2.0/24"],
  });
  const own = { ...environment, SELVEDGE_S3_TRUSTED_PROXIES: "127.0.0.1" };
  assert.deepEqual(config({ environment: own }).s3, {
    threads: 0,
    domains: [],
    trustedProxies: ["127.0.0.1"],
  });
  assert.throws(() => config({ flags: { "s3.domain": "not a name" } }), /--s3-domain/);
});
