/** Debian's Python clients, as they are shipped, against the real server. Reference §6.3. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, suite, test } from "node:test";
import { PYTHON } from "../support/debian.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { EMAIL, KEY, startServer } from "../support/server.ts";
import { call } from "./api.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

/** The clients read their settings in the home folder and where they stand: both are this one. */
const home = await mkdtemp(join(tmpdir(), "selvedge-python-"));
after(() => rm(home, { recursive: true, force: true }));
const CONFIG = join(home, ".cloudflare.cfg");

/** The permission group "DNS Write". */
const DNS_WRITE = "4755a26eedb94da69e1066d98aa820be";

const ZONE = "python.test";
const NAME = `_acme-challenge.www.${ZONE}`;
/** As ACME has them: 43 characters of base64url, here with its two odd ones. */
const VALUE = "LoqXcYV8q5ONbJQxbmR7SCTNo3tiAXDfowyjxAjE_-k";

const { result: zone } = await call(server, "POST", "/zones", { body: { name: ZONE } });
const { id: zoneId } = zone as { id: string };
const token = await makeToken();

interface Shown {
  readonly id: string;
  readonly name: string;
  readonly content: string;
  readonly ttl: number;
}

const withKey = { CLOUDFLARE_EMAIL: EMAIL, CLOUDFLARE_API_KEY: KEY };
const withToken = { CLOUDFLARE_API_TOKEN: token };

/** Adds a challenge, finds it, removes it; what it saw goes to standard output. */
const USE_LIBRARY = `
import CloudFlare
cf = CloudFlare.CloudFlare()
zone = cf.zones.get(params={"name": "${ZONE}"})[0]
made = cf.zones.dns_records.post(zone["id"], data={"type": "TXT", "name": "${NAME}", "content": "${VALUE}", "ttl": 120})
found = cf.zones.dns_records.get(zone["id"], params={"type": "TXT", "name": "${NAME}", "content": "${VALUE}"})
gone = cf.zones.dns_records.delete(zone["id"], made["id"])
left = cf.zones.dns_records.get(zone["id"], params={"type": "TXT"})
show(zone=zone["id"], made=made, found=[record["id"] for record in found], gone=gone["id"], left=left)
`;

/** The plugin's client takes its credentials as arguments, and its library the address alone. */
const certbot = (credentials: string, steps: string) => `
from certbot import errors
from certbot_dns_cloudflare._internal.dns_cloudflare import _CloudflareClient
client = _CloudflareClient(${credentials})
${steps}
`;
const ADD = `client.add_txt_record("www.${ZONE}", "${NAME}", "${VALUE}", 120)`;
const REMOVE = `client.del_txt_record("www.${ZONE}", "${NAME}", "${VALUE}")`;

afterEach(async () => {
  await rm(CONFIG, { force: true });
  for (const { id } of await records()) {
    await call(server, "DELETE", `/zones/${zoneId}/dns_records/${id}`);
  }
});

suite("python3-cloudflare", () => {
  for (const [how, credentials] of Object.entries({
    "an account key": withKey,
    "a token": withToken,
  })) {
    test(`it adds, finds and deletes a TXT record with ${how}`, async () => {
      const shown = await python(USE_LIBRARY, { CLOUDFLARE_API_URL: server.base, ...credentials });
      checkCourse(shown);
    });
  }

  test("its configuration file can name the address", async () => {
    await writeFile(CONFIG, `[CloudFlare]\ntoken = ${token}\nbase_url = ${server.base}\n`);
    checkCourse(await python(USE_LIBRARY));
  });

  test("it reads every page that there is", async () => {
    const steps = `
import CloudFlare
cf = CloudFlare.CloudFlare(raw=True)
names = ["p%d.${ZONE}" % number for number in range(5)]
for name in names:
    cf.zones.dns_records.post("${zoneId}", data={"type": "A", "name": name, "content": "192.0.2.1"})
seen, page = [], 0
while True:
    page += 1
    raw = cf.zones.dns_records.get("${zoneId}", params={"type": "A", "per_page": 2, "page": page})
    seen += raw["result"]
    if page >= raw["result_info"]["total_pages"]:
        break
show(pages=page, missing=sorted(set(names) - set(record["name"] for record in seen)), count=len(seen))
`;
    const shown = await python(steps, { CLOUDFLARE_API_URL: server.base, ...withToken });
    assert.deepEqual(shown, { pages: 3, missing: [], count: 5 });
  });

  test("it exports the zone and imports it again", async () => {
    const steps = `
import CloudFlare
cf = CloudFlare.CloudFlare()
made = cf.zones.dns_records.post("${zoneId}", data={"type": "A", "name": "kept.${ZONE}", "content": "192.0.2.7"})
text = cf.zones.dns_records.export.get("${zoneId}")
cf.zones.dns_records.delete("${zoneId}", made["id"])
added = cf.zones.dns_records.import_.post("${zoneId}", files={"file": text})
back = cf.zones.dns_records.get("${zoneId}", params={"name": "kept.${ZONE}"})
show(added=added["recs_added"], back=[record["content"] for record in back])
`;
    const shown = await python(steps, { CLOUDFLARE_API_URL: server.base, ...withToken });
    assert.deepEqual(shown, { added: 1, back: ["192.0.2.7"] });
  });

  test("a refusal reaches it as its own error, with our code and words", async () => {
    const steps = `
import CloudFlare
cf = CloudFlare.CloudFlare()
try:
    cf.zones.dns_records.post("${zoneId}", data={"type": "A", "name": "x.${ZONE}", "content": "10.0.0.256"})
except CloudFlare.exceptions.CloudFlareAPIError as error:
    show(code=int(error), message=str(error))
`;
    const shown = await python(steps, { CLOUDFLARE_API_URL: server.base, ...withToken });
    assert.equal(shown["code"], 9005);
    assert.notEqual(shown["message"], "");
  });

  function checkCourse(shown: Readonly<Record<string, unknown>>): void {
    const made = shown["made"] as Shown;
    assert.equal(shown["zone"], zoneId);
    assert.deepEqual([made.name, textOf(made), made.ttl], [NAME, VALUE, 120]);
    assert.deepEqual([shown["found"], shown["gone"], shown["left"]], [[made.id], made.id, []]);
  }
});

suite("certbot's plugin", () => {
  const byToken = `None, None, "${token}"`;
  const byKey = `"${EMAIL}", "${KEY}", None`;
  const address = { CLOUDFLARE_API_URL: server.base };

  for (const [how, credentials] of Object.entries({
    "an account key": byKey,
    "a token": byToken,
  })) {
    test(`it puts a challenge into the zone with ${how} and takes it out again`, async () => {
      await python(certbot(credentials, ADD), address);
      const [record, ...others] = await records();
      assert.deepEqual(others, []);
      assert.deepEqual([record?.name, record && textOf(record), record?.ttl], [NAME, VALUE, 120]);
      await python(certbot(credentials, REMOVE), address);
      assert.deepEqual(await records(), []);
    });
  }

  test("its library's configuration file can name the address", async () => {
    await writeFile(CONFIG, `[CloudFlare]\nbase_url = ${server.base}\n`);
    await python(certbot(byToken, ADD));
    assert.equal((await records()).length, 1);
    await python(certbot(byToken, REMOVE));
    assert.deepEqual(await records(), []);
  });

  test("of two challenges under one name it takes out its own", async () => {
    const other = VALUE.replace("Loq", "Moq");
    const both = `${ADD.replace(VALUE, other)}\n${ADD}\n${REMOVE}`;
    await python(certbot(byToken, both), address);
    assert.deepEqual((await records()).map(textOf), [other]);
  });

  for (const [what, credentials] of Object.entries({
    "a token that nobody made": `None, None, "${"x".repeat(40)}"`,
    "a token of the wrong form": 'None, None, "short"',
    "a wrong key": `"${EMAIL}", "${"0".repeat(37)}", None`,
  })) {
    test(`${what} makes it stop with its hint about credentials`, async () => {
      const steps = `try:\n    ${ADD}\nexcept errors.PluginError as error:\n    show(error=str(error))`;
      const { error } = await python(certbot(credentials, steps), address);
      assert.match(
        String(error),
        /Please confirm that you have supplied valid Cloudflare API cred/,
      );
    });
  }

  test("a domain that no zone covers is told as such", async () => {
    const steps = `try:\n    ${ADD.replaceAll(ZONE, "elsewhere.test")}\nexcept errors.PluginError as error:\n    show(error=str(error))`;
    const { error } = await python(certbot(byToken, steps), address);
    assert.match(String(error), /^Unable to determine zone_id for www\.elsewhere\.test/);
  });
});

/** Both clients send text without quotes, and find it whichever form it is kept in. */
function textOf({ content }: Shown): string {
  return content.replaceAll('"', "");
}

async function records(): Promise<Shown[]> {
  const { result } = await call(server, "GET", `/zones/${zoneId}/dns_records`);
  return result as Shown[];
}

/** A token with what certbot's documentation asks for: "Zone:DNS:Edit", for one zone. */
async function makeToken(): Promise<string> {
  const policy = {
    effect: "allow",
    permission_groups: [{ id: DNS_WRITE }],
    resources: { [`com.cloudflare.api.account.zone.${zoneId}`]: "*" },
  };
  const body = { name: "certbot", policies: [policy] };
  const { result } = await call(server, "POST", "/user/tokens", { body });
  return (result as { value: string }).value;
}

/** Runs a program that may call `show(…)` once; returns what it showed, nothing when it did not. */
async function python(
  program: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Record<string, unknown>> {
  const prelude = "import json\ndef show(**values):\n    print(json.dumps(values))\n";
  // Of the developer's environment nothing: it may hold credentials for the real Cloudflare.
  const child = spawn(PYTHON, ["-c", prelude + program], {
    cwd: home,
    env: { HOME: home, PATH: "/usr/bin:/bin", LC_ALL: "C.UTF-8", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: PATIENCE_MS,
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output.stderr += chunk.toString()));
  const code = await new Promise((resolve) => child.once("close", resolve));
  assert.equal(code, 0, output.stderr);
  return output.stdout === "" ? {} : (JSON.parse(output.stdout) as Record<string, unknown>);
}
