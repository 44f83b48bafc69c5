/** What `/metrics` says of the nameserver: every query once, by outcome, type and zone. */
import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { parseHostPort } from "#kit/address.ts";
import { encodeQuery, FLAG, type Query } from "../support/dns-message.ts";
import { DnsSocket } from "../support/dns-socket.ts";
import { OutsideWorld } from "../support/outside-world.ts";
import { until } from "../support/patience.ts";
import { type MetricsPage, parseMetrics, readMetrics } from "../support/prometheus.ts";
import { startServer, type TestServer } from "../support/server.ts";
import { framedQuery, StreamClient } from "../support/stream-client.ts";
import { call } from "./api.ts";
import { succeeded, TestZone } from "./dns-api.ts";

const LATENCY = "selvedge_dns_udp_latency_seconds";

let world: OutsideWorld;
let server: TestServer;
let sockets: DnsSocket[];
let first: TestZone;
let second: TestZone;

before(async () => {
  world = await OutsideWorld.start();
  server = await startServer({
    args: ["--dns-threads", "2"],
    env: { SELVEDGE_RESOLVERS: world.address },
  });
  // As many as it takes for each thread to get some.
  sockets = await Promise.all(times(8, () => DnsSocket.open(server.ready["dns"]!)));
  first = await TestZone.make(server, "first.example");
  await first.create({ type: "A", name: "www", content: "192.0.2.1" });
  await first.create({ type: "CNAME", name: "alias", content: "www.second.example" });
  second = await TestZone.make(server, "second.example");
  await second.create({ type: "A", name: "www", content: "192.0.2.2" });
});
after(async () => {
  for (const socket of sockets) socket[Symbol.dispose]();
  await server[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

function times<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i));
}

/** How much each figure of a family with one label has grown. */
function grown(name: string, from: MetricsPage, to: MetricsPage): Record<string, number> {
  const [before, now] = [from.by(name), to.by(name)];
  const growth = Object.keys(now).map(
    (label) => [label, now[label]! - (before[label] ?? 0)] as const,
  );
  return Object.fromEntries(growth.filter(([, count]) => count !== 0));
}

/** The page once it is as wanted: a thread may count right after it has sent the answers. */
async function pageWhen(isSo: (page: MetricsPage) => boolean): Promise<MetricsPage> {
  let page = await readMetrics(server);
  await until(async () => isSo(page) || isSo((page = await readMetrics(server))));
  return page;
}

/** The page once it knows of so many datagrams more than another. */
function pageAfter(earlier: MetricsPage, datagrams: number): Promise<MetricsPage> {
  const received = (page: MetricsPage) => page.value("selvedge_dns_udp_received_total");
  return pageWhen((page) => received(page) - received(earlier) >= datagrams);
}

async function askFromAll(count: number, query: Query): Promise<void> {
  await Promise.all(times(count, (i) => sockets[i % sockets.length]!.ask(query)));
}

suite("queries over UDP", () => {
  let from: MetricsPage;
  let to: MetricsPage;

  before(async () => {
    from = await readMetrics(server);
    await askFromAll(400, { name: "www.first.example", type: "A" });
    await askFromAll(30, { name: "alias.first.example", type: "A" });
    await askFromAll(50, { name: "none.first.example", type: "AAAA" });
    await askFromAll(25, { name: "www.second.example", type: "TXT" });
    await askFromAll(20, { name: "second.example", type: "SOA" });
    await askFromAll(7, { name: "www.second.example", type: "TYPE65280" });
    await askFromAll(40, { name: "www.foreign.test", type: "A" });
    await askFromAll(5, { name: "version.bind", type: "TXT", class: "CH" });
    await askFromAll(6, { name: "www.first.example", type: "A", flags: 7 << 11 });
    to = await pageAfter(from, 583);
  });

  test("are counted by their outcome", () => {
    assert.deepEqual(grown("selvedge_dns_responses_total", from, to), {
      NOERROR: 400 + 30 + 25 + 20 + 7,
      NXDOMAIN: 50,
      REFUSED: 45,
      NOTIMP: 6,
    });
  });

  test("are counted by type, those that nobody uses together", () => {
    assert.deepEqual(grown("selvedge_dns_queries_total", from, to), {
      A: 470,
      AAAA: 50,
      TXT: 30,
      SOA: 20,
      other: 7,
      TYPE0: 6, // Nothing was understood of these.
    });
  });

  test("are counted for the zone that was asked", () => {
    assert.deepEqual(grown("selvedge_dns_zone_queries_total", from, to), {
      "first.example": 480,
      "second.example": 52,
    });
  });

  test("each have a place in the histogram of times", () => {
    const { samples } = to.families.get(LATENCY)!;
    const count = samples.find(({ name }) => name === `${LATENCY}_count`);
    assert.equal(count?.value, to.value("selvedge_dns_udp_received_total"));
    const sum = samples.find(({ name }) => name === `${LATENCY}_sum`)!;
    assert.ok(sum.value > 0 && sum.value < 60, `${sum.value} s`);
  });

  test("are not counted as dropped", () => {
    assert.deepEqual(to.by("selvedge_dns_udp_dropped_total"), {});
    assert.equal(to.value("selvedge_dns_rate_limited_total"), 0);
  });
});

test("what gets no reply is counted by its reason", async () => {
  const from = await readMetrics(server);
  const [socket] = sockets;
  const after = { name: "www.first.example", type: "A" };
  const responses = times(9, () => {
    const message = encodeQuery(after);
    message[2]! |= FLAG.QR >> 8;
    return message;
  });
  const answers = await socket!.askBefore(after, responses);
  assert.deepEqual(new Set(answers), new Set([null]));
  const to = await pageAfter(from, 10);
  assert.deepEqual(grown("selvedge_dns_udp_dropped_total", from, to), { no_response: 9 });
  assert.deepEqual(grown("selvedge_dns_responses_total", from, to), { NOERROR: 1 });
});

test("queries over TCP and HTTPS are counted with the others, and connections by their fate", async () => {
  const from = await readMetrics(server);
  const client = await StreamClient.open(parseHostPort(server.ready["dns"]!));
  client.send(...times(60, (id) => framedQuery(id, "www.second.example")));
  await client.nextOf(60);
  const headers = { "Content-Type": "application/dns-message" };
  const body = new Uint8Array(encodeQuery({ name: "none.second.example", type: "A" }));
  for (let left = 4; left > 0; left--) {
    await fetch(`${server.origin}/dns-query`, { method: "POST", headers, body });
  }
  const asked = (page: MetricsPage) => page.by("selvedge_dns_zone_queries_total")[second.name] ?? 0;
  const to = await pageWhen((page) => asked(page) - asked(from) >= 64);
  assert.deepEqual(grown("selvedge_dns_responses_total", from, to), { NOERROR: 60, NXDOMAIN: 4 });
  assert.deepEqual(grown("selvedge_dns_zone_queries_total", from, to), { "second.example": 64 });
  assert.deepEqual(grown("selvedge_dns_connections_total", from, to), { accepted: 1 });
  assert.equal(to.value("selvedge_dns_connections"), 1);
  client.socket.end();
  await client.closed;
  await pageWhen((page) => page.value("selvedge_dns_connections") === 0);
});

suite("queries that wait for a name outside", () => {
  test("are counted once, and so are the resolutions", async () => {
    const zone = await TestZone.make(server, "flat.example");
    await zone.create({ type: "CNAME", name: "@", content: "end.outside.test" });
    world.say("end.outside.test", { a: ["198.51.100.1"] });
    const from = await readMetrics(server);
    await sockets[0]!.ask({ name: zone.name, type: "A" });
    await sockets[0]!.ask({ name: zone.name, type: "A" });
    await sockets[0]!.ask({ name: zone.name, type: "AAAA" });
    const to = await pageAfter(from, 3);
    assert.deepEqual(grown("selvedge_dns_responses_total", from, to), { NOERROR: 3 });
    assert.deepEqual(grown("selvedge_dns_queries_total", from, to), { A: 2, AAAA: 1 });
    assert.deepEqual(grown("selvedge_dns_zone_queries_total", from, to), { "flat.example": 3 });
    assert.deepEqual(grown("selvedge_dns_outside_total", from, to), { addresses: 1, nodata: 1 });
    assert.equal(to.value("selvedge_dns_outside_names"), 2);
  });

  test("are dropped above a limit, which is counted; the others are answered", async () => {
    const zone = await TestZone.make(server, "crowd.example");
    await zone.create({ type: "CNAME", name: "@", content: "crowd.outside.test" });
    world.say("crowd.outside.test", { a: ["198.51.100.1"], held: true });
    const from = await readMetrics(server);
    const query = { name: zone.name, type: "A" };
    const asked = world.nextAbout("crowd.outside.test");
    // All from one socket, and so to one thread, of which 256 may wait.
    const answers = times(300, () => sockets[0]!.isAnswered(query, 3_000));
    await asked;
    await pageAfter(from, 300);
    world.release("crowd.outside.test");
    const isAnswered = await Promise.all(answers);
    assert.deepEqual(
      isAnswered,
      times(300, (i) => i < 256),
    );
    const to = await pageAfter(from, 300);
    assert.deepEqual(grown("selvedge_dns_udp_dropped_total", from, to), { deferred_full: 44 });
    assert.deepEqual(grown("selvedge_dns_zone_queries_total", from, to), { "crowd.example": 256 });
    assert.equal((await sockets[0]!.ask(query)).answer.length, 1);
  });
});

test("zones come and go", async () => {
  const zones = async () => (await readMetrics(server)).value("selvedge_dns_zones");
  const before = await zones();
  const brief = await TestZone.make(server, "brief.example");
  assert.equal(await zones(), before + 1);
  const counts = async () => (await readMetrics(server)).by("selvedge_dns_zone_queries_total");
  for (let left = 3; left > 0; left--) await sockets[0]!.ask({ name: brief.name, type: "SOA" });
  assert.equal((await counts())[brief.name], 3);
  succeeded(await call(server, "DELETE", brief.path));
  const next = await TestZone.make(server, brief.name);
  await sockets[0]!.ask({ name: brief.name, type: "SOA" });
  assert.equal((await counts())[brief.name], 1, "another zone of the same name");
  succeeded(await call(server, "DELETE", next.path));
  assert.equal(await zones(), before);
  assert.equal((await counts())[brief.name], undefined);
});

test("the page is text that Prometheus reads, and says what each figure is", async () => {
  const { families } = await readMetrics(server);
  const ours = [...families].filter(([name]) => name.startsWith("selvedge_dns_"));
  assert.ok(ours.length >= 14, `${ours.length} families`);
  for (const [name, { type, help }] of families) {
    assert.match(help, /^[A-Z].*\.$/, name);
    assert.equal(name.endsWith("_total"), type === "counter", name);
  }
  assert.equal(families.get(LATENCY)?.type, "histogram");
  assert.ok((await readMetrics(server)).value("selvedge_dns_snapshot_bytes") > 0);
});

test("a page that Prometheus would refuse is refused by these tests too", () => {
  const bad = [
    "# HELP a A.\n# TYPE a counter\na 1",
    "# HELP a A.\n# TYPE a counter\na -1\n",
    "# HELP a A.\n# TYPE a count\na 1\n",
    "# HELP a A.\n# TYPE a counter\na one\n",
    "# HELP a A.\n# TYPE a counter\nb 1\n",
    '# HELP a A.\n# TYPE a counter\na{l="1"} 1\na{l="1"} 2\n',
    '# HELP a A.\n# TYPE a counter\na{l="a"b"} 1\n',
    '# HELP a A.\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n',
    '# HELP a A.\n# TYPE a histogram\na_bucket{le="1"} 1\na_sum 1\na_count 1\n',
    '# HELP a A.\n# TYPE a histogram\na_bucket{le="+Inf"} 1\na_sum 1\na_count 2\n',
  ];
  for (const text of bad) assert.throws(() => parseMetrics(text), assert.AssertionError, text);
  const good = '# HELP a A.\n# TYPE a counter\na{l="q\\"\\\\\\n"} 1\n';
  assert.equal(parseMetrics(good).value("a", { l: 'q"\\\n' }), 1);
});
