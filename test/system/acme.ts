/**
 * The whole loop of a certificate: an ACME client writes its challenges with its own Cloudflare plugin,
 * the ACME server finds them at our nameserver, and a certificate comes out. RFC 8555 §8.4.
 */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { makeAuthority } from "../support/certificates.ts";
import { startPebble } from "../support/pebble.ts";
import { runProgram } from "../support/program.ts";
import { startServer } from "../support/server.ts";
import { call } from "./api.ts";
import { succeeded, TestZone } from "./dns-api.ts";

const CERTBOT = "/usr/bin/certbot";
const LEGO = "/usr/bin/lego";
const DNS_WRITE = "4755a26eedb94da69e1066d98aa820be";
const EMAIL = "hostmaster@selvedge.test";

/** Called as `hook present NAME VALUE`, later as `hook cleanup NAME VALUE`. */
const HOOK = `#!/bin/sh -e
name=\${2%.}
api() { curl --silent --fail --header "Authorization: Bearer $TOKEN" "$@"; }
case $1 in
present)
  api "$RECORDS" --header "Content-Type: application/json" \\
    --data "{\\"type\\":\\"TXT\\",\\"name\\":\\"$name\\",\\"content\\":\\"$3\\",\\"ttl\\":120}" ;;
cleanup)
  id=$(api "$RECORDS?type=TXT&name=$name&content=$3" | sed 's/.*"result":\\[{"id":"\\([0-9a-f]*\\)".*/\\1/')
  api --request DELETE "$RECORDS/$id" ;;
esac
`;

await using started = new AsyncDisposableStack();
const home = await mkdtemp(join(tmpdir(), "selvedge-acme-"));
started.defer(() => rm(home, { recursive: true, force: true }));
const server = started.use(await startServer({ args: ["--dns", "127.0.0.1:0"] }));
const authority = await makeAuthority(home);
const nameserver = server.ready["dns"]!;
const pebble = started.use(await startPebble(home, authority, nameserver));
const all = started.move();
after(() => all.disposeAsync());

suite("certbot with its Cloudflare plugin", () => {
  const folders = ["config", "work", "logs"].flatMap((name) => [`--${name}-dir`, join(home, name)]);
  const env = {
    HOME: home,
    CLOUDFLARE_API_URL: server.base,
    REQUESTS_CA_BUNDLE: authority.certificate,
  };

  async function certonly(name: string, token: string, domains: readonly string[]) {
    const credentials = join(home, `${name}.ini`);
    await writeFile(credentials, `dns_cloudflare_api_token = ${token}\n`, { mode: 0o600 });
    await chmod(credentials, 0o600);
    const plugin = ["--dns-cloudflare", "--dns-cloudflare-credentials", credentials];
    const account = [
      "--server",
      pebble.directory,
      "--agree-tos",
      "--email",
      EMAIL,
      "--no-eff-email",
    ];
    // A change is served when the API has answered: nothing to wait for.
    const hurry = ["--dns-cloudflare-propagation-seconds", "0", "--non-interactive"];
    const names = domains.flatMap((domain) => ["--domain", domain]);
    const args = ["certonly", "--cert-name", name, ...plugin, ...account, ...hurry, ...folders];
    return runProgram(CERTBOT, [...args, ...names], { cwd: home, env });
  }

  test("it gets a certificate for a name, its wildcard and a name below", async () => {
    const zone = await TestZone.make(server, "certbot.example");
    const domains = [zone.name, `*.${zone.name}`, `www.${zone.name}`];
    const { code, stderr } = await certonly("good", await tokenFor(zone), domains);
    assert.equal(code, 0, stderr + pebble.log.text);
    await checkChain(join(home, "config/live/good/fullchain.pem"), domains);
    assert.deepEqual(await zone.all(), []);
  });
});

// Debian builds lego without its Cloudflare provider; the address of the API could not be changed either.
suite("lego with a hook that calls the API", { concurrency: true }, () => {
  async function run(zone: TestZone, path: string, hook: string, domain: string) {
    const account = ["--server", pebble.directory, "--accept-tos", "--email", EMAIL];
    // Its check of propagation asks port 53 of the zone's name servers, which a test cannot have.
    const dns = ["--dns", "exec", "--dns.resolvers", nameserver, "--dns.disable-cp"];
    return runProgram(LEGO, ["--path", path, ...account, ...dns, "--domains", domain, "run"], {
      cwd: home,
      env: {
        HOME: home,
        LEGO_CA_CERTIFICATES: authority.certificate,
        EXEC_PATH: hook,
        EXEC_POLLING_INTERVAL: "1",
        RECORDS: `${server.base}${zone.path}/dns_records`,
        TOKEN: await tokenFor(zone),
      },
    });
  }

  test("it gets a certificate for a wildcard", async () => {
    const zone = await TestZone.make(server, "lego.example");
    const [path, hook] = [join(home, "lego"), join(home, "hook")];
    await writeFile(hook, HOOK, { mode: 0o700 });
    const { code, stdout, stderr } = await run(zone, path, hook, `*.${zone.name}`);
    assert.equal(code, 0, stdout + stderr + pebble.log.text);
    await checkChain(join(path, "certificates", `_.${zone.name}.crt`), [`*.${zone.name}`]);
    assert.deepEqual(await zone.all(), []);
  });

  test("without the record there is no certificate", async () => {
    const zone = await TestZone.make(server, "idle.example");
    const { code, stderr } = await run(zone, join(home, "idle"), "/bin/true", zone.name);
    assert.equal(code, 1, stderr);
    assert.match(stderr, /urn:ietf:params:acme:error:(?:unauthorized|dns)/);
  });
});

/** Leaf, intermediate, and the root that this pebble made for itself; the leaf is for all the names. */
async function checkChain(file: string, names: readonly string[]): Promise<void> {
  const certificates = (await readFile(file, "utf8"))
    .split(/(?<=-----END CERTIFICATE-----\n)/)
    .filter((text) => text.includes("BEGIN"))
    .map((text) => new X509Certificate(text));
  const [leaf, intermediate] = certificates;
  assert.ok(leaf !== undefined && intermediate !== undefined, "a leaf and an intermediate");
  const issuers = await pebble.issuers();
  const root = new X509Certificate(issuers.root);
  assert.equal(intermediate.raw.compare(new X509Certificate(issuers.intermediate).raw), 0);
  for (const [one, issuer] of [
    [leaf, intermediate],
    [intermediate, root],
  ] as const) {
    assert.ok(one.checkIssued(issuer) && one.verify(issuer.publicKey));
  }
  const told = names.map((name) => `DNS:${name}`).sort();
  assert.deepEqual(leaf.subjectAltName?.split(", ").sort(), told);
}

/** As both programs' guides say: "Zone:DNS:Edit", for one zone. */
async function tokenFor(zone: TestZone): Promise<string> {
  const policy = {
    effect: "allow",
    permission_groups: [{ id: DNS_WRITE }],
    resources: { [`com.cloudflare.api.account.zone.${zone.id}`]: "*" },
  };
  const body = { name: zone.name, policies: [policy] };
  const { result } = succeeded(await call(server, "POST", "/user/tokens", { body }));
  return (result as { value: string }).value;
}
