/** Limits of the nameserver: what one network gets over UDP in a second, and how many may be connected. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { after, suite, test } from "node:test";
import { parseHostPort } from "#kit/address.ts";
import { missingDebianPackages } from "../support/debian.ts";
import { encodeQuery, FLAG, type Message, type Query } from "../support/dns-message.ts";
import { DnsSocket } from "../support/dns-socket.ts";
import { mustRun } from "../support/program.ts";
import { until } from "../support/patience.ts";
import { readMetrics } from "../support/prometheus.ts";
import { startServer } from "../support/server.ts";
import { framedQuery, StreamClient, within } from "../support/stream-client.ts";
import { TestZone } from "./dns-api.ts";

/** So few that no machine is slow enough to earn another answer while a test floods. */
const ANSWERS = 2;
const OTHERS = 1;
const CONNECTIONS = 6;
const PER_SOURCE = 3;
const COOKIE = 10;
const CLIENT_COOKIE = Buffer.from("0102030405060708", "hex");

const [server, usual] = await Promise.all([
  startServer({
    env: {
      SELVEDGE_DNS_EXEMPT: "192.0.2.0/24",
      SELVEDGE_LIMITS_DNS_ANSWERS_PER_SECOND: String(ANSWERS),
      SELVEDGE_LIMITS_DNS_ERRORS_PER_SECOND: String(OTHERS),
      SELVEDGE_DNS_VERSION: "Selvedge under test",
      SELVEDGE_LIMITS_DNS_CONNECTIONS: String(CONNECTIONS),
      SELVEDGE_LIMITS_DNS_CONNECTIONS_PER_SOURCE: String(PER_SOURCE),
    },
  }),
  startServer(),
]);
after(() => Promise.all([server[Symbol.asyncDispose](), usual[Symbol.asyncDispose]()]));
const nameserver = server.ready["dns"]!;

const zone = await TestZone.make(server, "limits.example");
await zone.create({ type: "A", name: "*.wild", content: "192.0.2.2" });
await zone.create({ type: "NS", name: "cut", content: "ns.elsewhere.test" });
await zone.create({ type: "A", name: "cookie", content: "192.0.2.3" });

let made = 0;
/** A name with an address that no other test asks for. */
async function freshName(): Promise<string> {
  const { name } = await zone.create({ type: "A", name: `host${++made}`, content: "192.0.2.1" });
  return name;
}

let networks = 0;
/** A /24 of this machine's own that no other test asks from. */
const freshNetwork = () => `127.0.${++networks}`;

/** A client whose cookie the server knows; for it there is no limit. */
class KnownClient implements Disposable {
  readonly socket: DnsSocket;
  readonly cookie: Buffer;

  constructor(socket: DnsSocket, cookie: Buffer) {
    this.socket = socket;
    this.cookie = cookie;
  }

  static async open(source: string): Promise<KnownClient> {
    const socket = await DnsSocket.open(nameserver, source);
    const { opt } = await socket.ask(withCookie(`cookie.${zone.name}`, CLIENT_COOKIE));
    return new KnownClient(socket, opt!.options.get(COOKIE)!);
  }

  /** Asks without the cookie. What is dropped is null. */
  flood(queries: readonly Query[]): Promise<(Message | null)[]> {
    const last = withCookie(`cookie.${zone.name}`, this.cookie);
    return this.socket.askBefore(last, queries.map(encodeQuery));
  }

  [Symbol.dispose](): void {
    this.socket[Symbol.dispose]();
  }
}

function withCookie(name: string, cookie: Buffer): Query {
  return { name, type: "A", edns: { size: 1232, flags: 0, options: [[COOKIE, cookie]] } };
}

const times = <T>(count: number, make: (i: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i));

/** Each as a word: whole, cut short and empty, or dropped. */
function fates(answers: readonly (Message | null)[]): string[] {
  return answers.map((message) => {
    if (message === null) return "dropped";
    if ((message.flags & FLAG.TC) === 0) return "whole";
    const { answer, authority, additional } = message;
    assert.deepEqual([answer, authority, additional], [[], [], []]);
    return "short";
  });
}

/** What is owed when so many of so many are within the limit. */
function owed(count: number, whole: number): string[] {
  return times(count, (i) => (i < whole ? "whole" : (i - whole) % 2 === 0 ? "dropped" : "short"));
}

suite("over UDP", { concurrency: true }, () => {
  test("answers over the limit are dropped, but for every second one, which is cut short", async () => {
    using client = await KnownClient.open(`${freshNetwork()}.1`);
    const name = await freshName();
    const edns = { size: 1232, flags: 0, options: [] };
    const answers = await client.flood(times(22, () => ({ name, type: "A", edns })));
    assert.deepEqual(fates(answers), owed(22, ANSWERS));
    for (const message of answers) {
      if (message === null) continue;
      assert.deepEqual([message.rcode, message.asked], ["NOERROR", `${name}.`]);
      assert.notEqual(message.opt, null);
    }
  });

  test("the limit is that of a network and a name", async () => {
    const network = freshNetwork();
    using client = await KnownClient.open(`${network}.1`);
    using neighbour = await KnownClient.open(`${network}.200`);
    using stranger = await KnownClient.open(`${freshNetwork()}.1`);
    const [name, other] = [await freshName(), await freshName()];
    const ask = (asked: string) => times(4, () => ({ name: asked, type: "A" }));
    assert.deepEqual(fates(await client.flood(ask(name))), owed(4, ANSWERS));
    assert.ok(!fates(await neighbour.flood(ask(name.toUpperCase()))).includes("whole"));
    assert.deepEqual(fates(await stranger.flood(ask(name))), owed(4, ANSWERS));
    assert.deepEqual(fates(await client.flood(ask(other))), owed(4, ANSWERS));
  });

  test("names that one wildcard stands for share a limit", async () => {
    using client = await KnownClient.open(`${freshNetwork()}.1`);
    const queries = times(12, (i) => ({ name: `random${i}.wild.${zone.name}`, type: "A" }));
    assert.deepEqual(fates(await client.flood(queries)), owed(12, ANSWERS));
  });

  test("names that do not exist share their zone's limit", async () => {
    using client = await KnownClient.open(`${freshNetwork()}.1`);
    const other = await TestZone.make(server, "other-limits.example");
    const random = (at: string) => times(12, (i) => ({ name: `r${i}.nothing.${at}`, type: "A" }));
    const answers = await client.flood(random(zone.name));
    assert.deepEqual(fates(answers), owed(12, OTHERS));
    assert.ok(answers.every((message) => message === null || message.rcode === "NXDOMAIN"));
    assert.deepEqual(fates(await client.flood(random(other.name))), owed(12, OTHERS));
    await other.create({ type: "A", name: "new", content: "192.0.2.1" });
    const later = fates(await client.flood(random(other.name)));
    assert.ok(!later.includes("whole"), "a change of the zone does not lift it");
    const name = await freshName();
    assert.deepEqual(fates(await client.flood([{ name, type: "A" }])), ["whole"]);
  });

  test("a name without the type, and one that is delegated, have the lower limit", async () => {
    using client = await KnownClient.open(`${freshNetwork()}.1`);
    const name = await freshName();
    const empty = await client.flood(times(6, () => ({ name, type: "TXT" })));
    assert.deepEqual(fates(empty), owed(6, OTHERS));
    const below = times(6, (i) => ({ name: `r${i}.cut.${zone.name}`, type: "A" }));
    assert.deepEqual(fates(await client.flood(below)), owed(6, OTHERS));
  });

  test("errors have one limit, whatever they are about", async () => {
    using client = await KnownClient.open(`${freshNetwork()}.1`);
    const refused = times(7, (i) => ({ name: `www.foreign${i}.test`, type: "A" }));
    const chaos = { name: "authors.bind", type: "TXT", class: "CH" };
    const unknownOpcode = { name: "x.test", type: "A", flags: 7 << 11 };
    const answers = await client.flood([...refused, chaos, unknownOpcode]);
    assert.deepEqual(fates(answers), owed(9, OTHERS));
    const rcodes = answers.map((message) => message?.rcode);
    assert.deepEqual([rcodes[0], rcodes[6], rcodes[8]], ["REFUSED", "REFUSED", "NOTIMP"]);
  });

  test("questions about the server have a limit of their own", async () => {
    using client = await KnownClient.open(`${freshNetwork()}.1`);
    const names = await Promise.all(times(8, freshName));
    const version = { name: "version.bind", type: "TXT", class: "CH" };
    const answers = await client.flood(names.flatMap((name) => [{ name, type: "A" }, version]));
    const [hosts, versions] = [0, 1].map((odd) => answers.filter((_, i) => i % 2 === odd));
    assert.deepEqual(fates(hosts!), owed(8, 8));
    assert.deepEqual(fates(versions!), owed(8, ANSWERS));
  });

  test("a cookie of ours lifts the limits, and no other does", async () => {
    using client = await KnownClient.open(`${freshNetwork()}.1`);
    using other = await KnownClient.open(`${freshNetwork()}.1`);
    const name = await freshName();
    const known = await client.socket.askAll(times(200, () => withCookie(name, client.cookie)));
    assert.ok(known.every(({ answer, flags }) => answer.length === 1 && (flags & FLAG.TC) === 0));
    const foreign = times(200, (i) => withCookie(`www.foreign${i}.test`, client.cookie));
    const errors = await client.socket.askAll(foreign);
    assert.ok(errors.every(({ rcode }) => rcode === "REFUSED"));
    const forged = Buffer.from(client.cookie);
    forged[23]! ^= 1;
    for (const [cookie, subject] of [
      [CLIENT_COOKIE, await freshName()],
      [other.cookie, await freshName()],
      [forged, await freshName()],
    ] as const) {
      const answers = await client.flood(times(6, () => withCookie(subject, cookie)));
      assert.deepEqual(fates(answers), owed(6, ANSWERS), cookie.toString("hex"));
    }
  });

  test("who stops asking is answered again", async () => {
    using client = await KnownClient.open(`${freshNetwork()}.1`);
    const name = await freshName();
    const queries = times(5, () => ({ name, type: "A" }));
    assert.deepEqual(fates(await client.flood(queries)), owed(5, ANSWERS));
    // It owes three; at two a second, and with one for the next answer, that takes two seconds.
    await sleep(2_100);
    assert.deepEqual(fates(await client.flood(queries.slice(0, 1))), ["whole"]);
  });

  test("a real client that is over the limit gets its answer over TCP", async () => {
    const missing = missingDebianPackages(["bind9-dnsutils"]);
    if (missing !== null) throw new Error(missing);
    const network = freshNetwork();
    using client = await KnownClient.open(`${network}.1`);
    const name = await freshName();
    await client.flood(times(20, () => ({ name, type: "A" })));
    const { host, port } = parseHostPort(nameserver);
    const from = `@${host} -p ${port} -b ${network}.7`;
    const said = await mustRun("dig", `${from} +tries=4 +timeout=1 +short ${name}`.split(" "));
    assert.match(said, /^192\.0\.2\.1$/m);
  });
});

test("streams have no limit of answers", async () => {
  const name = await freshName();
  const localAddress = `${freshNetwork()}.1`;
  using client = await StreamClient.open(parseHostPort(nameserver), { localAddress });
  client.send(...times(300, (id) => framedQuery(id, id % 2 === 0 ? name : "www.foreign.test")));
  const answers = await client.nextOf(300);
  assert.deepEqual(
    answers.map(({ answers: records }) => records?.length),
    times(300, (id) => 1 - (id % 2)),
  );
  const url = `${server.origin}/dns-query`;
  const headers = { "Content-Type": "application/dns-message" };
  const body = new Uint8Array(encodeQuery({ name, type: "A" }));
  const overHttps = await Promise.all(
    times(30, async () => {
      const answer = await fetch(url, { method: "POST", headers, body });
      return (await answer.bytes())[7];
    }),
  );
  assert.deepEqual(new Set(overHttps), new Set([1]));
});

test("what the limit held back is counted", async () => {
  const limited = async () => (await readMetrics(server)).value("selvedge_dns_rate_limited_total");
  using client = await KnownClient.open(`${freshNetwork()}.1`);
  const name = await freshName();
  const before = await limited();
  await client.flood(times(32, () => ({ name, type: "A" })));
  assert.equal((await limited()) - before, 30);
});

test("this machine is exempt unless the operator says otherwise", async () => {
  const own = await TestZone.make(usual, "usual.example");
  const { name } = await own.create({ type: "A", name: "www", content: "192.0.2.1" });
  using socket = await DnsSocket.open(usual.ready["dns"]!);
  const answers = await socket.askAll(times(5_000, () => ({ name, type: "A" })));
  assert.ok(answers.every(({ answer }) => answer.length === 1));
  const missing = times(5_000, (i) => ({ name: `r${i}.${own.name}`, type: "A" }));
  const denials = await socket.askAll(missing);
  assert.ok(
    denials.every(({ rcode, authority }) => rcode === "NXDOMAIN" && authority.length === 1),
  );
  const clients = await Promise.all(
    times(40, () => StreamClient.open(parseHostPort(usual.ready["dns"]!))),
  );
  for (const client of clients) client.send(framedQuery(1, name));
  for (const client of clients) assert.equal((await client.next())?.answers?.length, 1);
  for (const client of clients) client[Symbol.dispose]();
  assert.equal(socket.strange, 0, "each was answered once");
  const metrics = await readMetrics(usual);
  assert.equal(metrics.value("selvedge_dns_rate_limited_total"), 0);
});

suite("connections", () => {
  const fate = async (name: string) =>
    (await readMetrics(server)).value("selvedge_dns_connections_total", { fate: name });
  const connections = async () => (await readMetrics(server)).value("selvedge_dns_connections");
  const open = (localAddress: string) =>
    StreamClient.open(parseHostPort(nameserver), { localAddress });
  const isServed = async (client: StreamClient) => {
    client.send(framedQuery(1, `cookie.${zone.name}`));
    return (await client.next()) !== null;
  };

  test("of one source beyond its limit are closed at once; the others go on", async () => {
    const network = freshNetwork();
    const turnedAway = await fate("turned_away");
    const clients = await Promise.all(times(PER_SOURCE, () => open(`${network}.1`)));
    for (const client of clients) assert.ok(await isServed(client));
    const oneMore = await open(`${network}.1`);
    await within(oneMore.closed);
    assert.equal(await fate("turned_away"), turnedAway + 1);
    using neighbour = await open(`${network}.2`);
    assert.ok(await isServed(neighbour));
    for (const client of clients) assert.ok(await isServed(client));
    clients[0]!.socket.end();
    await until(async () => (await connections()) === 3); // Two of them and the neighbour.
    using next = await open(`${network}.1`);
    assert.ok(await isServed(next));
    for (const client of clients) client[Symbol.dispose]();
  });

  test("beyond the limit of all push out the one that was quiet the longest", async () => {
    const network = freshNetwork();
    const pushedOut = await fate("pushed_out");
    const clients: StreamClient[] = [];
    for (let i = 0; i < CONNECTIONS; i++) {
      const client = await open(`${network}.${i + 1}`);
      clients.push(client);
      assert.ok(await isServed(client));
    }
    await sleep(60); // Less would count as the same moment.
    assert.ok(await isServed(clients[0]!), "so the second is the quiet one");
    const late = await open(`${network}.100`);
    assert.ok(await isServed(late));
    await within(clients[1]!.closed);
    assert.equal(await fate("pushed_out"), pushedOut + 1);
    for (const client of [...clients.toSpliced(1, 1), late]) {
      assert.ok(await isServed(client));
      client[Symbol.dispose]();
    }
  });
});
