/** DNS reads your writes: what the API has answered is served, whole, from the next query on. */
import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { UdpClient } from "../support/dns-client.ts";
import { decodeMessage, encodeQuery, type Message, showRecord } from "../support/dns-message.ts";
import { startWatch } from "../support/dns-watch.ts";
import { startServer } from "../support/server.ts";
import { call } from "./api.ts";
import { succeeded, TestZone } from "./dns-api.ts";

const server = await startServer({
  // More threads than one: each must see each change.
  args: ["--dns", "127.0.0.1:0", "--dns-threads", "2"],
  env: { SELVEDGE_EDGE_ADDRESSES: "203.0.113.7,2001:db8::7", SELVEDGE_RESOLVERS: "127.0.0.1:1" },
});
after(() => server[Symbol.asyncDispose]());
const address = server.ready["dns"]!;

/** The kernel gives each socket to one thread of the server; with eight none is left out. */
const clients = await Promise.all(Array.from({ length: 8 }, () => UdpClient.open(address)));
after(() => clients.forEach((client) => client[Symbol.dispose]()));
let asked = 0;

async function ask(name: string, type = "A"): Promise<Message> {
  const client = clients[asked % clients.length]!;
  asked = (asked + 1) & 0xffff;
  return decodeMessage(await client.ask(encodeQuery({ name, type, id: asked })));
}

/** RCODE and the data of the answer section. */
async function told(name: string, type = "A"): Promise<string> {
  const { rcode, answer } = await ask(name, type);
  return [rcode, ...answer.map(({ data }) => data).sort()].join(" ");
}

/** As seen on every thread. */
async function toldByAll(name: string, type = "A"): Promise<string> {
  const all = new Set<string>();
  for (let left = clients.length; left > 0; left--) all.add(await told(name, type));
  return [...all].join(" or ");
}

const ipv4 = (number: number) =>
  `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;

suite("while others ask", async () => {
  const busy = await TestZone.make(server, "busy.example");
  await busy.create({ type: "A", name: "busy", content: "192.0.2.1", ttl: 60 });

  test("a thousand writes are each seen by the next query", async () => {
    const zone = await TestZone.make(server, "fresh.example");
    const name = `host.${zone.name}`;
    const load = await startWatch({ address, name: `busy.${busy.name}`, type: "A", sockets: 8 });
    const stale: string[] = [];
    const expect = async (what: string) => {
      const got = await told(name);
      if (got !== what) stale.push(`${got} instead of ${what}`);
    };
    for (let i = 0; i < 250; i++) {
      const { id } = await zone.create({ type: "A", name: "host", content: ipv4(4 * i), ttl: 60 });
      await expect(`NOERROR ${ipv4(4 * i)}`);
      await zone.patch(id, { content: ipv4(4 * i + 1) });
      await expect(`NOERROR ${ipv4(4 * i + 1)}`);
      await zone.put(id, { type: "A", name: "host", content: ipv4(4 * i + 2), ttl: 120 });
      await expect(`NOERROR ${ipv4(4 * i + 2)}`);
      succeeded(await zone.call("DELETE", `/${id}`));
      await expect("NXDOMAIN");
    }
    const { seen, answers } = await load.end();
    assert.deepEqual(stale, []);
    assert.ok(answers > 1_000, `${answers} answers beside`);
    const steady = `NOERROR | busy.${busy.name}. 60 IN A 192.0.2.1`;
    assert.deepEqual(
      seen.flat(),
      Array.from({ length: 8 }, () => steady),
    );
  });

  /** Of each socket: the states it saw are whole ones, and time does not run backwards. */
  function checkStates(seen: readonly (readonly string[])[], states: readonly string[]): void {
    for (const list of seen) {
      const numbers = list.map((told) => states.indexOf(told));
      assert.ok(!numbers.includes(-1), `half a change: ${list.find((t) => !states.includes(t))}`);
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => a - b),
        "an old state came back",
      );
    }
  }

  test("a batch that turns an alias and its targets is never seen in part", async () => {
    const zone = await TestZone.make(server, "turn.example");
    const fqdn = (name: string) => `${name}.${zone.name}`;
    const make = (type: string, name: string, content: string) =>
      zone.create({ type, name, content, ttl: 60 });
    /** No alias ever points to it: who sees it saw half a batch. */
    const marker = "192.0.2.255";
    const targets = [await make("A", "even", ipv4(0)), await make("A", "odd", marker)];
    const alias = await make("CNAME", "alias", fqdn("even"));
    const names = ["even", "odd"];
    const state = (i: number) => {
      const target = `${fqdn(names[i % 2]!)}.`;
      return `NOERROR | ${fqdn("alias")}. 60 IN CNAME ${target} | ${target} 60 IN A ${ipv4(i)}`;
    };
    const watch = await startWatch({ address, name: fqdn("alias"), type: "A", sockets: 4 });
    const count = 300;
    for (let i = 1; i < count; i++) {
      const patches = [
        { id: alias.id, content: fqdn(names[i % 2]!) },
        { id: targets[i % 2]!.id, content: ipv4(i) },
        { id: targets[(i + 1) % 2]!.id, content: marker },
      ];
      // The order in which a batch names them does not matter.
      if (i % 3 === 0) patches.reverse();
      succeeded(await zone.call("POST", "/batch", { patches }));
      const { rcode, answer } = await ask(fqdn("alias"));
      assert.equal([rcode, ...answer.map(showRecord)].join(" | "), state(i));
    }
    const { seen, answers } = await watch.end();
    checkStates(
      seen,
      Array.from({ length: count }, (_, i) => state(i)),
    );
    assert.ok(seen.flat().length > 20, `${seen.flat().length} states in ${answers} answers`);
  });

  test("an import and a batch of deletes come whole", async () => {
    const zone = await TestZone.make(server, "whole.example");
    const fqdn = (name: string) => `${name}.${zone.name}`;
    const chain = Array.from({ length: 12 }, (_, i) => `l${i} 60 CNAME l${i + 1}`);
    const lines = [...chain, "l12 60 A 192.0.2.1", ...fill("filler", 400)];
    const links = chain.map((_, i) => `${fqdn(`l${i}`)}. 60 IN CNAME ${fqdn(`l${i + 1}`)}.`);
    const present = ["NOERROR", ...links, `${fqdn("l12")}. 60 IN A 192.0.2.1`].join(" | ");
    const watch = await startWatch({ address, name: fqdn("l0"), type: "A", sockets: 4 });
    for (let round = 0; round < 5; round++) {
      succeeded(await zone.import(lines.map((line) => `${line}\n`).join("")));
      assert.match(await toldByAll(fqdn("l0")), /^NOERROR .* 192\.0\.2\.1$|^NOERROR 192\.0\.2\.1 /);
      const deletes = (await zone.all()).map(({ id }) => ({ id }));
      assert.equal(deletes.length, 413);
      succeeded(await zone.call("POST", "/batch", { deletes }));
      assert.equal(await toldByAll(fqdn("l0")), "NXDOMAIN");
    }
    const { seen } = await watch.end();
    const others = seen.flat().filter((one) => one !== present && one !== "NXDOMAIN");
    assert.deepEqual(others, [], "half an import, or half a batch");
  });
});

suite("seen at once", () => {
  test("a zone that is made, and one that is deleted", async () => {
    const name = "brief.example";
    assert.equal(await toldByAll(name, "NS"), "REFUSED");
    const zone = await TestZone.make(server, name);
    await zone.create({ type: "A", name: "@", content: "192.0.2.1" });
    assert.equal(await toldByAll(name), "NOERROR 192.0.2.1");
    assert.equal(await toldByAll(name, "NS"), "NOERROR ns1.selvedge.test. ns2.selvedge.test.");
    succeeded(await call(server, "DELETE", zone.path));
    assert.equal(await toldByAll(name), "REFUSED");
    assert.equal(await toldByAll(`www.${name}`), "REFUSED");
  });

  test("a child zone takes its names from the parent, and gives them back", async () => {
    const parent = await TestZone.make(server, "parent.example");
    await parent.create({ type: "A", name: "www.kid", content: "192.0.2.1" });
    assert.equal(await toldByAll("www.kid.parent.example"), "NOERROR 192.0.2.1");
    const kid = await TestZone.make(server, "kid.parent.example");
    await kid.create({ type: "A", name: "www", content: "192.0.2.2" });
    assert.equal(await toldByAll("www.kid.parent.example"), "NOERROR 192.0.2.2");
    succeeded(await call(server, "DELETE", kid.path));
    assert.equal(await toldByAll("www.kid.parent.example"), "NOERROR 192.0.2.1");
  });

  test("names that exist only because of what is below them come and go with it", async () => {
    const zone = await TestZone.make(server, "ents.example");
    const fqdn = (name: string) => `${name}.${zone.name}`;
    await zone.create({ type: "A", name: "*", content: "192.0.2.9" });
    assert.equal(await toldByAll(fqdn("b.c")), "NOERROR 192.0.2.9");
    const one = await zone.create({ type: "A", name: "a.b.c", content: "192.0.2.1" });
    const two = await zone.create({ type: "TXT", name: "x.b.c", content: "two" });
    assert.equal(await toldByAll(fqdn("b.c")), "NOERROR", "empty, and no longer the wildcard's");
    assert.equal(await toldByAll(fqdn("y.b.c")), "NXDOMAIN");
    succeeded(await zone.call("DELETE", `/${one.id}`));
    assert.equal(await toldByAll(fqdn("c")), "NOERROR", "x.b.c is still there");
    succeeded(await zone.call("DELETE", `/${two.id}`));
    for (const name of ["c", "b.c", "a.b.c"]) {
      assert.equal(await toldByAll(fqdn(name)), "NOERROR 192.0.2.9", name);
    }
  });

  test("a delegation that is made and removed", async () => {
    const zone = await TestZone.make(server, "cut.example");
    const below = `www.sub.${zone.name}`;
    await zone.create({ type: "A", name: "www.sub", content: "192.0.2.1" });
    assert.equal(await toldByAll(below), "NOERROR 192.0.2.1");
    const ns = await zone.create({ type: "NS", name: "sub", content: "ns.elsewhere.invalid" });
    const { answer, authority } = await ask(below);
    assert.deepEqual([answer.length, authority[0]?.data], [0, "ns.elsewhere.invalid."]);
    succeeded(await zone.call("DELETE", `/${ns.id}`));
    assert.equal(await toldByAll(below), "NOERROR 192.0.2.1");
  });

  test("a revert", async () => {
    const zone = await TestZone.make(server, "revert.example");
    const www = `www.${zone.name}`;
    const { id } = await zone.create({ type: "A", name: "www", content: "192.0.2.1" });
    const before = await serial(zone);
    await zone.patch(id, { content: "192.0.2.2" });
    await zone.create({ type: "A", name: "new", content: "192.0.2.3" });
    assert.equal(await toldByAll(www), "NOERROR 192.0.2.2");
    succeeded(await zone.call("POST", "/revert", { serial: before }));
    assert.equal(await toldByAll(www), "NOERROR 192.0.2.1");
    assert.equal(await toldByAll(`new.${zone.name}`), "NXDOMAIN");
  });

  test("every change has a serial that is newer, the API's own", async () => {
    const zone = await TestZone.make(server, "serial.example");
    const serials = [await serial(zone)];
    const { id } = await zone.create({ type: "A", name: "www", content: "192.0.2.1" });
    serials.push(await serial(zone));
    await zone.patch(id, { content: "192.0.2.2" });
    serials.push(await serial(zone));
    await zone.setSetting("ipv6", "off");
    serials.push(await serial(zone));
    assert.deepEqual(
      serials,
      [...new Set(serials)].sort((a, b) => a - b),
    );
    assert.equal(serials.at(-1), Number(/\tSOA\t\S+ \S+ (\d+)/.exec(await zone.export())?.[1]));
  });

  test("what is only tried changes nothing", async () => {
    const zone = await TestZone.make(server, "dry.example");
    const before = await serial(zone);
    const body = { type: "A", name: "www", content: "192.0.2.1" };
    succeeded(await zone.call("POST", "?dry_run=true", body));
    assert.equal(await toldByAll(`www.${zone.name}`), "NXDOMAIN");
    assert.equal(await serial(zone), before);
  });

  test("settings of a zone", async () => {
    const zone = await TestZone.make(server, "settings.example");
    const change = async (method: string, path: string, body: unknown) =>
      succeeded(await call(server, method, zone.path + path, { body }));
    await change("PUT", "/activation_check", {});
    await zone.create({ type: "A", name: "@", content: "192.0.2.1", proxied: true });
    await zone.create({ type: "A", name: "host", content: "192.0.2.2" });
    await zone.create({ type: "CNAME", name: "alias", content: `host.${zone.name}` });
    assert.equal(await toldByAll(zone.name), "NOERROR 203.0.113.7");
    assert.equal(await toldByAll(zone.name, "AAAA"), "NOERROR 2001:db8::7");
    await zone.setSetting("ipv6", "off");
    assert.equal(await toldByAll(zone.name, "AAAA"), "NOERROR");
    await zone.setSetting("http2", "off");
    assert.equal(await toldByAll(zone.name, "HTTPS"), "NOERROR");
    await change("PATCH", "", { paused: true });
    assert.equal(await toldByAll(zone.name), "NOERROR 192.0.2.1");
    await change("PATCH", "", { paused: false });
    assert.equal(await toldByAll(zone.name), "NOERROR 203.0.113.7");
    assert.equal(await toldByAll(`alias.${zone.name}`), `NOERROR 192.0.2.2 host.${zone.name}.`);
    await change("PATCH", "/dns_settings", { flatten_all_cnames: true });
    assert.equal(await toldByAll(`alias.${zone.name}`), "NOERROR 192.0.2.2");
    await change("PATCH", "/dns_settings", { ns_ttl: 600, soa: { ttl: 400, min_ttl: 60 } });
    assert.equal((await ask(zone.name, "NS")).answer[0]?.ttl, 600);
    assert.equal((await ask(zone.name, "SOA")).answer[0]?.ttl, 400);
    assert.equal((await ask(`none.${zone.name}`)).authority[0]?.ttl, 60);
  });

  test("a record that is proxied, and one that is no longer", async () => {
    const zone = await TestZone.make(server, "proxy.example");
    succeeded(await call(server, "PUT", `${zone.path}/activation_check`, { body: {} }));
    const www = `www.${zone.name}`;
    const { id } = await zone.create({ type: "A", name: "www", content: "192.0.2.1" });
    assert.equal(await toldByAll(www), "NOERROR 192.0.2.1");
    await zone.patch(id, { proxied: true });
    assert.equal(await toldByAll(www), "NOERROR 203.0.113.7");
    await zone.patch(id, { proxied: false });
    assert.equal(await toldByAll(www), "NOERROR 192.0.2.1");
  });
});

test("a server that starts again answers as before", async () => {
  const zone = await TestZone.make(server, "again.example");
  await zone.create({ type: "A", name: "www", content: "192.0.2.1" });
  const before = await serial(zone);
  await server.end("SIGKILL");
  await using next = await startServer({ data: server.data, args: ["--dns", "127.0.0.1:0"] });
  using client = await UdpClient.open(next.ready["dns"]!);
  const query = encodeQuery({ name: `www.${zone.name}`, type: "A" });
  const { answer } = decodeMessage(await client.ask(query));
  assert.deepEqual(answer.map(showRecord), [`www.${zone.name}. 300 IN A 192.0.2.1`]);
  const soa = decodeMessage(await client.ask(encodeQuery({ name: zone.name, type: "SOA" })));
  assert.equal(serialIn(soa), before);
});

async function serial(zone: TestZone): Promise<number> {
  return serialIn(await ask(zone.name, "SOA"));
}

function serialIn({ answer }: Message): number {
  return Number(answer[0]!.data.split(" ")[2]);
}

function fill(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, i) => `${name}${i} 60 A ${ipv4(i)}`);
}
