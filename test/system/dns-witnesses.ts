/** Programs that others wrote ask our nameserver: BIND's and Knot's, and the resolver of Node. */
import assert from "node:assert/strict";
import { promises as dns } from "node:dns";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { splitAddress } from "../support/dns-client.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { mustRun } from "../support/program.ts";
import { startServer } from "../support/server.ts";
import { TestZone } from "./dns-api.ts";
import { typeCases } from "./dns-types.ts";

const DIG = "/usr/bin/dig";
const KDIG = "/usr/bin/kdig";
const DELV = "/usr/bin/delv";
const NAMED_CHECKZONE = "/usr/bin/named-checkzone";

const server = await startServer({ args: ["--dns", "127.0.0.1:0"] });
after(() => server[Symbol.asyncDispose]());
const folder = await mkdtemp(join(tmpdir(), "selvedge-witnesses-"));
after(() => rm(folder, { recursive: true, force: true }));

const { host, port } = splitAddress(server.ready["dns"]!);
const at = [`@${host}`, "-p", String(port)];

/** A record of every type; names that the tests ask for are relative to it. */
const zone = await TestZone.make(server, "witness.example");
for (const { type, name, sent } of typeCases)
  await zone.create({ type, name, ...sent[0], ttl: 600 });
const records = await zone.all();
const record = (type: string) => records.find((one) => one.type === type)!;

/** These are TXT in the DNS. */
const wireType = (type: string) => (["SPF", "DKIM", "DMARC"].includes(type) ? "TXT" : type);

suite("BIND's programs", () => {
  test("dig prints every record as BIND prints the zone's export", async () => {
    const asked = records.filter(({ type }) => type !== "NS"); // Below is a referral for it.
    const questions = asked.map(({ name, type }) => `${name}. ${wireType(type)}`);
    const batch = join(folder, "questions");
    await writeFile(batch, questions.map((line) => `${line}\n`).join(""));
    const answers = lines(await mustRun(DIG, [...at, "+noall", "+answer", "-f", batch]));
    const printed = new Set(lines(await bindPrint(await zone.export())));
    const missing = answers.filter((line) => !printed.has(line));
    assert.deepEqual(missing, [], [...printed].join("\n"));
    assert.equal(new Set(answers).size, new Set(questions).size, answers.join("\n"));
  });

  test("dig gets the same over TCP, and sees a referral at a cut", async () => {
    const { name, content } = record("NS");
    for (const transport of ["+notcp", "+tcp"]) {
      const text = await mustRun(DIG, [...at, transport, "+norecurse", `x.${name}`, "A"]);
      assert.match(text, /status: NOERROR/);
      assert.match(text, /flags: qr; QUERY: 1, ANSWER: 0, AUTHORITY: 1/);
      assert.ok(lines(text).includes(`${name}. 600 IN NS ${content}.`), text);
    }
  });

  test("dig is told of a name that is not there, and of one that is not ours", async () => {
    const none = await mustRun(DIG, [...at, `none.${zone.name}`, "A"]);
    assert.match(none, /status: NXDOMAIN/);
    assert.match(none, /flags: qr aa rd; QUERY: 1, ANSWER: 0, AUTHORITY: 1/);
    const elsewhere = await mustRun(DIG, [...at, "elsewhere.invalid", "A"]);
    assert.match(elsewhere, /status: REFUSED/);
    assert.match(elsewhere, /EDE: 20 \(Not Authoritative\)/);
  });

  test("dig takes our cookie and comes back with it", async () => {
    const text = await mustRun(DIG, [...at, "+cookie", record("A").name, "A"]);
    assert.match(text, /COOKIE: [0-9a-f]{16}01000000[0-9a-f]{24} \(good\)/);
  });

  test("nothing is told of the server unless it was set", async () => {
    const text = await mustRun(DIG, [...at, "+nsid", "version.bind", "TXT", "CH"]);
    assert.match(text, /status: REFUSED/);
    assert.doesNotMatch(text, /NSID/);
  });

  test("delv resolves without validation", async () => {
    const { name, content } = record("A");
    const text = await mustRun(DELV, [...at, "-i", name, "A"]);
    assert.ok(lines(text).includes(`${name}. 600 IN A ${content}`), text);
  });
});

test("kdig gets every type, over UDP and over TCP on one connection", async () => {
  const questions = records.flatMap(({ name, type }) => ["-q", name, "-t", wireType(type)]);
  for (const transport of [["+notcp"], ["+tcp", "+keepopen"]]) {
    const text = await mustRun(KDIG, [...at, ...transport, "+norec", ...questions]);
    const statuses = text.match(/status: \w+/g) ?? [];
    assert.deepEqual(
      statuses,
      records.map(() => "status: NOERROR"),
      text,
    );
    assert.doesNotMatch(text, /WARNING/);
  }
});

suite("Node's resolver", () => {
  const resolver = new dns.Resolver({ timeout: PATIENCE_MS, tries: 1 });
  resolver.setServers([`${host}:${port}`]);

  test("it reads what the API shows", async () => {
    assert.deepEqual(await resolver.resolve4(record("A").name, { ttl: true }), [
      { address: record("A").content, ttl: 600 },
    ]);
    assert.deepEqual(await resolver.resolve6(record("AAAA").name), [record("AAAA").content]);
    assert.deepEqual(await resolver.resolveCname(record("CNAME").name), [record("CNAME").content]);
    assert.deepEqual(await resolver.resolvePtr(record("PTR").name), [record("PTR").content]);
    const { content: exchange, priority } = record("MX");
    assert.partialDeepStrictEqual(await resolver.resolveMx(record("MX").name), [
      { exchange, priority },
    ]);
    const { target: name, ...srv } = record("SRV").data!;
    assert.partialDeepStrictEqual(await resolver.resolveSrv(record("SRV").name), [
      { name, ...srv },
    ]);
    assert.deepEqual(await resolver.resolveTxt(record("TXT").name), [["some text"]]);
    for (const type of ["SPF", "DKIM", "DMARC"]) {
      const [[text]] = (await resolver.resolveTxt(record(type).name)) as [[string]];
      assert.equal(JSON.stringify(text), record(type).content);
    }
    const { flags: critical, tag, value } = record("CAA").data!;
    assert.partialDeepStrictEqual(await resolver.resolveCaa(record("CAA").name), [
      { critical, [tag as string]: value },
    ]);
  });

  test("it reads the apex", async () => {
    assert.deepEqual((await resolver.resolveNs(zone.name)).sort(), [
      "ns1.selvedge.test",
      "ns2.selvedge.test",
    ]);
    const soa = await resolver.resolveSoa(zone.name);
    assert.equal(soa.nsname, "ns1.selvedge.test");
    assert.equal(soa.serial, serialOf(await zone.export()));
  });

  test("it reads NAPTR and TLSA", async () => {
    const { regex: regexp, ...naptr } = record("NAPTR").data!;
    const [got] = await resolver.resolveNaptr(record("NAPTR").name);
    assert.partialDeepStrictEqual({ ...got }, { ...naptr, regexp, replacement: "" });
    const [tlsa] = await resolver.resolveTlsa(record("TLSA").name);
    const { usage, selector, matching_type, certificate } = record("TLSA").data!;
    assert.deepEqual(
      [tlsa?.certUsage, tlsa?.selector, tlsa?.match, Buffer.from(tlsa!.data).toString("hex")],
      [usage, selector, matching_type, certificate],
    );
  });

  test("it tells a name that is not there from one without the type", async () => {
    await assert.rejects(resolver.resolve4(`none.${zone.name}`), { code: "ENOTFOUND" });
    await assert.rejects(resolver.resolve4(record("TXT").name), { code: "ENODATA" });
    await assert.rejects(resolver.resolve4("elsewhere.invalid"), { code: "EREFUSED" });
  });
});

/** What BIND makes of a zone file: the spelling that dig has too. */
async function bindPrint(text: string): Promise<string> {
  const [source, target] = [join(folder, "export"), join(folder, "printed")];
  await writeFile(source, text);
  const relaxed = ["-i", "none", "-k", "ignore", "-n", "ignore", "-m", "ignore", "-M", "ignore"];
  const style = ["-s", "full", "-o", target];
  await mustRun(NAMED_CHECKZONE, [...relaxed, ...style, "-D", zone.name, source]);
  return await mustRun("/bin/cat", [target]);
}

/** Records, with one space where there were many. */
function lines(text: string): string[] {
  return text
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith(";"))
    .map((line) => line.trim().replaceAll(/\s+/g, " "));
}

function serialOf(text: string): number {
  return Number(/\tSOA\t\S+ \S+ (\d+)/.exec(text)?.[1]);
}
