/**
 * Zones made by chance, changed by chance, and asked for everything: ours must answer as NSD does. Wildcards,
 * empty names, cuts, aliases and what hides behind them meet here in ways that nobody thinks of.
 */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { chanceFrom } from "../support/chance.ts";
import { UdpClient } from "../support/dns-client.ts";
import { decodeMessage, encodeQuery, type Rr, showRecord } from "../support/dns-message.ts";
import { startNsd } from "../support/nsd.ts";
import { startServer } from "../support/server.ts";
import { succeeded, TestZone } from "./dns-api.ts";

/** Another number makes other zones; a failure tells the zone. */
const SEED = Number(process.env["TEST_SEED"] ?? 20_261_115);
const ZONES = 6;
const CHANGES = 60;
const TTL = 600;

const server = await startServer({
  args: ["--dns", "127.0.0.1:0"],
  env: { SELVEDGE_RESOLVERS: "127.0.0.1:1" },
});
after(() => server[Symbol.asyncDispose]());

const random = chanceFrom(SEED);
const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;

/** So few labels that names meet, and lie below each other. */
const LABELS = ["a", "b", "c", "d"];
const zoneName = (number: number) => `r${number}.test`;
const labels = () => Array.from({ length: 1 + random(3) }, () => pick(LABELS)).join(".");
const owner = () => (random(4) === 0 ? `*.${labels()}` : random(40) === 0 ? "*" : labels());

/** Fields of a record; the API may refuse it beside others, which is not what is tried here. */
function record(zone: TestZone) {
  const type = pick(["A", "A", "A", "TXT", "TXT", "MX", "CNAME", "CNAME", "CNAME", "NS", "NS"]);
  const target = `${labels()}.${random(6) === 0 ? zoneName(random(ZONES)) : zone.name}`;
  const name = type === "NS" ? labels() : owner();
  if (type === "A") return { type, name, content: `192.0.2.${random(256)}`, ttl: TTL };
  if (type === "TXT") return { type, name, content: `"${random(1000)}"`, ttl: TTL };
  return { type, name, content: target, ttl: TTL, ...(type === "MX" && { priority: random(50) }) };
}

async function changeByChance(zone: TestZone): Promise<void> {
  const kept: string[] = [];
  for (let left = CHANGES; left > 0; left--) {
    const at = random(kept.length + 1);
    // As many are taken out as are put in, once there are some.
    if (kept.length > 12 && random(2) === 0 && at < kept.length) {
      succeeded(await zone.call("DELETE", `/${kept[at]}`));
      kept.splice(at, 1);
      continue;
    }
    const fields = record(zone);
    // NSD does not load what the API lets stand beside an alias.
    const beside = (await zone.list({ "name.exact": `${fields.name}.${zone.name}` })).length > 0;
    if (beside && fields.type === "CNAME") continue;
    const there = await zone.list({ "name.exact": `${fields.name}.${zone.name}`, type: "CNAME" });
    if (there.length > 0) continue;
    const { status, result } = await zone.call("POST", "", fields);
    if (status === 200) kept.push((result as { id: string }).id);
  }
}

suite("zones made by chance", async () => {
  const zones = await Promise.all(
    Array.from({ length: ZONES }, (_, i) => TestZone.make(server, zoneName(i))),
  );
  for (const zone of zones) await changeByChance(zone);
  const files = new Map<string, string>();
  for (const zone of zones) files.set(zone.name, await zone.export());
  const nsd = await startNsd(files);
  after(() => nsd[Symbol.asyncDispose]());

  for (const zone of zones) {
    test(`${zone.name} is answered as NSD answers it, whatever is asked`, async () => {
      using ours = await UdpClient.open(server.ready["dns"]!);
      using theirs = await UdpClient.open(nsd.address);
      for (const name of namesIn(zone)) {
        for (const type of ["A", "TXT", "MX", "CNAME", "NS", "DS", "SOA"]) {
          const query = encodeQuery({ name, type, edns: { size: 1232, flags: 0, options: [] } });
          const [a, b] = await Promise.all([ours.ask(query), theirs.ask(query)]);
          assert.equal(told(a), told(b), `${name} ${type} in\n${files.get(zone.name)}`);
        }
      }
    });
  }
});

/** Every name of up to three labels, also with one that no zone has, and with stars. */
function* namesIn(zone: TestZone): Generator<string> {
  const all = [...LABELS, "e", "*"];
  yield zone.name;
  for (const one of all) {
    yield `${one}.${zone.name}`;
    for (const two of all) {
      yield `${one}.${two}.${zone.name}`;
      for (const three of all) yield `${one}.${two}.${three}.${zone.name}`;
    }
  }
}

/** What must be the same: all but additional data, which is each server's own choice. */
function told(octets: Buffer): string {
  const { rcode, flags, answer, authority } = decodeMessage(octets);
  // NSD repeats the record of an alias to itself.
  const lines = (records: readonly Rr[]) => [...new Set(records.map(showRecord))].sort();
  const header = `${rcode} ${(flags & 0x0400) === 0 ? "" : "AA"}`;
  return [header, "answer:", ...lines(answer), "authority:", ...lines(authority)].join("\n");
}
