/** Several nodes on one PostgreSQL, and a PostgreSQL that goes away and comes back. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import pg from "pg";
import { UdpClient } from "../support/dns-client.ts";
import { decodeMessage, encodeQuery } from "../support/dns-message.ts";
import { msOf, until } from "../support/patience.ts";
import {
  freshDatabase,
  freshPostgresUrl,
  startPostgres,
  stopOwnPostgres,
} from "../support/postgres.ts";
import { keyHeaders, startServer, type TestServer } from "../support/server.ts";
import { succeeded, TestZone } from "./dns-api.ts";

/** What a busy machine may add to a time. */
const SLACK_MS = 5_000;
const SECRET = { SELVEDGE_SECRET_KEY: "a secret that all nodes share" };
const JSON_HEADERS = { ...keyHeaders, "Content-Type": "application/json" };

after(stopOwnPostgres);

function createAccount(node: TestServer, name: string): Promise<Response> {
  const body = JSON.stringify({ name });
  return fetch(`${node.base}/accounts`, { method: "POST", headers: JSON_HEADERS, body });
}

async function accountNames(node: TestServer): Promise<string[]> {
  const answer = await fetch(`${node.base}/accounts`, { headers: keyHeaders });
  return ((await answer.json()) as { result: { name: string }[] }).result.map(({ name }) => name);
}

test("what one node has acknowledged, the others show", async () => {
  const args = ["--database", await freshPostgresUrl()];
  await using first = await startServer({ args, env: SECRET });
  await using second = await startServer({ args, env: SECRET });
  for (let i = 0; i < 10; i++) {
    const [writer, reader] = i % 2 === 0 ? [first, second] : [second, first];
    assert.equal((await createAccount(writer, `n${i}`)).status, 200);
    assert.ok((await accountNames(reader)).includes(`n${i}`));
  }
});

test("a token removed on one node is refused by the others within a second", async () => {
  const args = ["--database", await freshPostgresUrl()];
  await using first = await startServer({ args, env: SECRET });
  await using second = await startServer({ args, env: SECRET });
  const policies = [
    {
      effect: "allow",
      permission_groups: [{ id: "c1fde68c7bcc44588cbb6ddbc16d6480" }],
      resources: { "com.cloudflare.api.account.*": "*" },
    },
  ];
  const made = await fetch(`${first.base}/user/tokens`, {
    method: "POST",
    headers: JSON_HEADERS,
    body: JSON.stringify({ name: "short-lived", policies }),
  });
  const { result } = (await made.json()) as { result: { id: string; value: string } };
  const use = async (node: TestServer) => {
    const headers = { Authorization: `Bearer ${result.value}` };
    return (await fetch(`${node.base}/accounts`, { headers })).status;
  };
  assert.equal(await use(second), 200);
  await fetch(`${first.base}/user/tokens/${result.id}`, { method: "DELETE", headers: keyHeaders });
  assert.equal(await use(first), 403, "at once where it was removed");
  assert.ok((await msOf(() => until(async () => (await use(second)) === 403))) < 1_000 + SLACK_MS);
});

test("without its database a server says so, and goes on when it is back", async () => {
  await using postgres = await startPostgres();
  const args = ["--database", await freshDatabase(postgres.socketDir)];
  await using server = await startServer({ args, env: SECRET });
  assert.equal((await createAccount(server, "before")).status, 200);

  await postgres.stop();
  const refused = await createAccount(server, "during");
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get("retry-after"), "1");
  const { success, errors } = (await refused.json()) as { success: boolean; errors: object[] };
  assert.equal(success, false);
  assert.equal(errors.length, 1);
  assert.equal((await fetch(`${server.origin}/readyz`)).status, 503);
  assert.equal((await fetch(`${server.origin}/healthz`)).status, 200);

  await postgres.start();
  assert.equal((await fetch(`${server.origin}/readyz`)).status, 200);
  assert.equal((await createAccount(server, "after")).status, 200);
  assert.deepEqual(await accountNames(server), ["Selvedge", "after", "before"]);
});

/** What other nodes may lag behind. */
const LAG_MS = 1_000;

/** The contents of a node's answer; none for a name that is not there, or refused. */
async function answers(client: UdpClient, name: string): Promise<string[]> {
  const { answer } = decodeMessage(await client.ask(encodeQuery({ name, type: "A" })));
  return answer.map(({ data }) => data).sort();
}

/** Asks until the answer is as wanted, and tells how long that took. */
async function msUntil(client: UdpClient, name: string, wanted: readonly string[]) {
  return msOf(() => until(async () => String(await answers(client, name)) === String(wanted)));
}

/** A database on which nobody may send signals, as on engines that have none. */
async function silentDatabase(): Promise<string> {
  const url = await freshPostgresUrl();
  const [, name] = /@\/(\w+)\?/.exec(url)!;
  const client = new pg.Client(url);
  await client.connect();
  await client.query(`CREATE ROLE ${name} LOGIN`);
  await client.query(`ALTER DATABASE ${name} OWNER TO ${name}`);
  await client.query("REVOKE EXECUTE ON FUNCTION pg_notify(text, text) FROM PUBLIC");
  await client.end();
  return url.replace("postgres@", `${name}@`);
}

for (const [way, database, changes] of [
  ["with signals", freshPostgresUrl, 50],
  ["by the log alone", silentDatabase, 10],
] as const) {
  test(`a change made through one node is in another's DNS within a second, ${way}`, async (t) => {
    const args = ["--database", await database()];
    await using first = await startServer({ args, env: SECRET });
    await using second = await startServer({ args, env: SECRET });
    using client = await UdpClient.open(second.ready["dns"]!);
    const zone = await TestZone.make(first, "followed.example");
    const name = `www.${zone.name}`;
    const { id } = await zone.create({ type: "A", name, content: "192.0.2.0" });
    await msUntil(client, name, ["192.0.2.0"]);
    const lags: number[] = [];
    for (let i = 1; i <= changes; i++) {
      await zone.patch(id, { content: `192.0.2.${i}` });
      lags.push(await msUntil(client, name, [`192.0.2.${i}`]));
    }
    lags.sort((a, b) => a - b);
    const [median, most] = [lags[changes / 2]!, lags.at(-1)!];
    t.diagnostic(`${changes} changes, ${way}: median ${median} ms, most ${most} ms`);
    assert.ok(median < LAG_MS && most < LAG_MS + SLACK_MS);

    const posts = Array.from({ length: 100 }, (_, i) => ({
      type: "A",
      name: `n${i}`,
      content: "192.0.2.1",
    }));
    succeeded(await zone.call("POST", "/batch", { posts }));
    await msUntil(client, `n99.${zone.name}`, ["192.0.2.1"]);
    assert.deepEqual(await answers(client, `n0.${zone.name}`), ["192.0.2.1"]);
    await zone.call("DELETE", `/${id}`);
    await msUntil(client, name, []);
    assert.equal(await first.end(), 0);
    assert.equal(await second.end(), 0);
  });
}

test("each node answers its own changes at once, while others change the same zone", async () => {
  const args = ["--database", await freshPostgresUrl()];
  await using first = await startServer({ args, env: SECRET });
  await using second = await startServer({ args, env: SECRET });
  const made = await TestZone.make(first, "both.example");
  const work = async (node: TestServer, label: string) => {
    const zone = new TestZone(node, made.id, made.name);
    using client = await UdpClient.open(node.ready["dns"]!);
    for (let i = 0; i < 60; i++) {
      const name = `${label}${i % 5}.${zone.name}`;
      const { id, content } = await zone.create({ type: "A", name, content: `192.0.2.${i}` });
      assert.ok((await answers(client, name)).includes(content), "what was added");
      if (i % 2 === 1) continue;
      succeeded(await zone.call("DELETE", `/${id}`));
      assert.ok(!(await answers(client, name)).includes(content), "what was removed");
    }
  };
  await Promise.all([work(first, "a"), work(second, "b")]);
  const listed = await made.list({ per_page: "1000" });
  for (const node of [first, second]) {
    using client = await UdpClient.open(node.ready["dns"]!);
    for (const name of new Set(listed.map((record) => record.name))) {
      const contents = listed.filter((record) => record.name === name);
      await msUntil(client, name, contents.map(({ content }) => content).sort());
    }
  }
});

test("a node's DNS goes on without its database, and catches up when it is back", async () => {
  await using postgres = await startPostgres();
  const args = ["--database", await freshDatabase(postgres.socketDir)];
  await using first = await startServer({ args, env: SECRET });
  await using second = await startServer({ args, env: SECRET });
  using client = await UdpClient.open(second.ready["dns"]!);
  const zone = await TestZone.make(first, "outage.example");
  const name = `www.${zone.name}`;
  const { id } = await zone.create({ type: "A", name, content: "192.0.2.1" });
  await msUntil(client, name, ["192.0.2.1"]);
  await postgres.stop();
  assert.deepEqual(await answers(client, name), ["192.0.2.1"]);
  await postgres.start();
  await zone.patch(id, { content: "192.0.2.2" });
  await msUntil(client, name, ["192.0.2.2"]);
  await postgres.stop();
  const stopMs = await msOf(async () =>
    assert.equal(await second.end(), 0, "a stop needs no database"),
  );
  assert.ok(stopMs < 2 * SLACK_MS, `${stopMs} ms`);
});
