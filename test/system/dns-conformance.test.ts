/** The nameserver on the wire, against the cases of `test/conformance/dns/`. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { after, before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { CLIENT_COOKIE, type Question, questionOf } from "../support/dns-ask.ts";
import { type Case, parseCases, type ZoneSetUp } from "../support/dns-cases.ts";
import { askTcp, UdpClient } from "../support/dns-client.ts";
import { checkResponse, type Known } from "../support/dns-expect.ts";
import { decodeMessage, encodeQuery, type Message } from "../support/dns-message.ts";
import { startServer } from "../support/server.ts";
import { call } from "./api.ts";
import { succeeded, TestZone } from "./dns-api.ts";

const FOLDER = fileURLToPath(new URL("../conformance/dns", import.meta.url));
/** Vectors of record data have a form of their own. */
const VECTORS = "records.txt";

const server = await startServer({
  args: ["--dns", "127.0.0.1:0"],
  env: {
    SELVEDGE_EDGE_ADDRESSES: "203.0.113.7,2001:db8::7",
    SELVEDGE_DNS_IDENTITY: "node-7.test",
    SELVEDGE_DNS_VERSION: "Selvedge under test",
    // Nothing here needs a name from outside; whoever asks for one all the same gets nowhere.
    SELVEDGE_RESOLVERS: "127.0.0.1:1",
  },
});
after(() => server[Symbol.asyncDispose]());
const nameserver = server.ready["dns"]!;

const soas = new Map<string, string>();
const known: Known = {
  soaOf: (zone) => soas.get(zone) ?? assert.fail(`There is no zone ${zone}`),
  identity: "node-7.test",
};

for (const path of globSync(`${FOLDER}/*.txt`).sort()) {
  if (basename(path) === VECTORS) continue;
  const file = parseCases(readFileSync(path, "utf8"));
  suite(basename(path), () => {
    before(async () => {
      for (const zone of file.zones) soas.set(zone.name, await makeZone(zone));
    });
    for (const one of file.cases) {
      test(`${one.line}: ${one.title}: ${shorten(one.text)}`, () => runCase(one));
    }
  });
}

/** Returns the data of the zone's SOA. */
async function makeZone(setUp: ZoneSetUp): Promise<string> {
  const zone = await TestZone.make(server, setUp.name);
  for (const [id, value] of setUp.settings) await zone.setSetting(id, value);
  const change = async (method: string, at: string, body: unknown) =>
    succeeded(await call(server, method, zone.path + at, { body }));
  if (!setUp.pending) await change("PUT", "/activation_check", {});
  if (setUp.paused) await change("PATCH", "", { paused: true });
  if (setUp.dnsSettings !== null) await change("PATCH", "/dns_settings", setUp.dnsSettings);
  if (setUp.text.trim() !== "") succeeded(await zone.import(setUp.text));
  const [, soa] = /\tSOA\t(.*)/.exec(await zone.export()) ?? [];
  return soa!;
}

async function runCase(one: Case): Promise<void> {
  const cookie = one.words.includes("cookie=ours") ? await ourCookie() : Buffer.alloc(0);
  const question = questionOf(one, cookie);
  const [rcode] = one.expected.words;
  if (rcode === "none") return checkSilence(question);
  if (rcode === "closed") {
    assert.equal(await askTcp(nameserver, question.message), null);
    return undefined;
  }
  const orders = new Set<string>();
  for (let left = question.repeat; left > 0; left--) {
    const octets = await ask(question);
    const response = decodeMessage(octets);
    checkResponse(octets, response, question, one.expected, known);
    orders.add(JSON.stringify(response.answer));
  }
  if (one.expected.words.includes("varies")) assert.notEqual(orders.size, 1, "the order varies");
  if (one.expected.words.includes("stable")) assert.equal(orders.size, 1, "the order is stable");
  return undefined;
}

async function ask({ transport, message }: Question): Promise<Buffer> {
  if (transport === "tcp") {
    const answer = await askTcp(nameserver, message);
    assert.ok(answer !== null, "the server hung up");
    return answer;
  }
  using client = await UdpClient.open(nameserver);
  return await client.ask(message);
}

/** The message is dropped: what was asked after it is answered, and nothing else comes. */
async function checkSilence({ message }: Question): Promise<void> {
  using client = await UdpClient.open(nameserver);
  const id = message.length < 2 ? 1 : message.readUInt16BE(0) ^ 0xffff;
  const next = encodeQuery({ name: "silence.invalid", type: "A", id });
  assert.deepEqual(await client.askThen([message], next), []);
}

async function ourCookie(): Promise<Buffer> {
  const options = [[10, CLIENT_COOKIE]] as const;
  const edns = { size: 1232, flags: 0, options };
  const message = encodeQuery({ name: "cookie.invalid", type: "A", edns });
  const question: Question = { message, transport: "udp", repeat: 1, edns };
  const response: Message = decodeMessage(await ask(question));
  return response.opt?.options.get(10) ?? assert.fail("the server gave no cookie");
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
