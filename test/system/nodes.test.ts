/** Several nodes on one PostgreSQL, and a PostgreSQL that goes away and comes back. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import {
  freshDatabase,
  freshPostgresUrl,
  startPostgres,
  stopOwnPostgres,
} from "../support/postgres.ts";
import { keyHeaders, startServer, type TestServer } from "../support/server.ts";

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
  const removedAt = performance.now();
  assert.equal(await use(first), 403, "at once where it was removed");
  while ((await use(second)) === 200) assert.ok(performance.now() - removedAt < 1_500);
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
