/** `kill -9` while accounts are written: nothing that was acknowledged is lost, nothing is half there. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { freshPostgresUrl, stopOwnPostgres } from "../support/postgres.ts";
import { keyHeaders, startServer, type TestServer } from "../support/server.ts";

const ROUNDS = 2;
const WRITERS = 16;
const WRITES_BEFORE_KILL = 150;
const DNS_WRITE = "4755a26eedb94da69e1066d98aa820be";

interface Acknowledged {
  readonly tokens: Map<string, string>;
  readonly deleted: Set<string>;
}

for (const engine of ["sqlite", "postgres"] as const) {
  test(`kill -9 during account writes on ${engine} loses nothing acknowledged`, async (t) => {
    const data = await mkdtemp(join(tmpdir(), "selvedge-crash-"));
    t.after(() => rm(data, { recursive: true }));
    const args = engine === "sqlite" ? [] : ["--database", await freshPostgresUrl()];
    const acknowledged: Acknowledged = { tokens: new Map(), deleted: new Set() };
    for (let round = 0; round < ROUNDS; round++) {
      await using server = await startServer({ data, args });
      await writeUntilKilled(server, acknowledged);
      await using again = await startServer({ data, args });
      await checkAll(again, acknowledged);
    }
    assert.ok(acknowledged.tokens.size > (ROUNDS * WRITES_BEFORE_KILL) / 4);
  });
}

after(stopOwnPostgres);

/** Many clients create, roll and delete tokens; in their midst the server is killed. */
async function writeUntilKilled(server: TestServer, acknowledged: Acknowledged): Promise<void> {
  let writes = 0;
  const kill = { done: null as Promise<unknown> | null };
  const writer = async (number: number) => {
    for (let i = 0; kill.done === null; i++) {
      const made = await call<{ id: string; value: string }>(
        server,
        "POST",
        "",
        policyOf(`w${number}-${i}`),
      );
      if (made === null) return;
      acknowledged.tokens.set(made.id, made.value);
      if (i % 3 === 1) {
        const value = await call<string>(server, "PUT", `/${made.id}/value`, {});
        // Cut before the answer, the roll may have happened or not: neither value is promised.
        if (value === null) acknowledged.tokens.delete(made.id);
        else acknowledged.tokens.set(made.id, value);
      }
      if (i % 3 === 2) {
        const gone = await call(server, "DELETE", `/${made.id}`, null);
        acknowledged.tokens.delete(made.id);
        if (gone !== null) acknowledged.deleted.add(made.id);
      }
      if (++writes === WRITES_BEFORE_KILL) kill.done = server.end("SIGKILL");
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, number) => writer(number)));
  await kill.done;
}

async function checkAll(server: TestServer, { tokens, deleted }: Acknowledged): Promise<void> {
  for (const [id, value] of tokens) {
    const answer = await fetch(`${server.base}/user/tokens/verify`, {
      headers: { Authorization: `Bearer ${value}` },
    });
    const { result } = (await answer.json()) as { result: { id: string; status: string } | null };
    assert.deepEqual(result, { id, status: "active" }, "an acknowledged token is there and works");
  }
  for (const id of deleted) {
    const answer = await fetch(`${server.base}/user/tokens/${id}`, { headers: keyHeaders });
    assert.equal(answer.status, 404, "an acknowledged delete stays deleted");
    await answer.body?.cancel();
  }
}

/** The result of a call; null when the server went away under it. */
async function call<T>(
  server: TestServer,
  method: string,
  path: string,
  body: object | null,
): Promise<T | null> {
  try {
    const answer = await fetch(`${server.base}/user/tokens${path}`, {
      method,
      headers: { ...keyHeaders, "Content-Type": "application/json" },
      ...(body !== null && { body: JSON.stringify(body) }),
    });
    const { success, result, errors } = (await answer.json()) as {
      success: boolean;
      result: T;
      errors: unknown;
    };
    assert.equal(success, true, JSON.stringify(errors));
    return result;
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error;
    return null;
  }
}

function policyOf(name: string): object {
  const resources = { "com.cloudflare.api.account.zone.*": "*" };
  return {
    name,
    policies: [{ effect: "allow", permission_groups: [{ id: DNS_WRITE }], resources }],
  };
}
