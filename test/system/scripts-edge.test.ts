/** Scripts behind the edge while things happen to them: deployments, kills, the platform's own end. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { Agent, request as sendRequest } from "node:http";
import { suite, test } from "node:test";
import { until } from "../support/patience.ts";
import { keyHeaders, startServer, type TestServer } from "../support/server.ts";
import { firstIds } from "./policies.ts";

/** A server with a script that answers with its version's number under its own name. */
async function serverWithScript() {
  const server = await startServer();
  const { account } = await firstIds(server);
  const path = `/accounts/${account}/workers/scripts/counter`;
  const deploy = (version: number) => deploySource(`new Response("${version}")`);
  const deploySource = async (answer: string) => {
    const form = new FormData();
    const metadata = { main_module: "a.js", compatibility_date: "2026-07-01" };
    form.set("metadata", JSON.stringify(metadata));
    const source = `export default { async fetch() { return ${answer} } }`;
    form.set("a.js", new File([source], "a.js", { type: "application/javascript+module" }));
    await api(server, "PUT", path, form);
  };
  await deploy(1);
  await api(server, "POST", `${path}/subdomain`, { enabled: true });
  const { subdomain } = (await api(server, "GET", `/accounts/${account}/workers/subdomain`)) as {
    subdomain: string;
  };
  return { server, deploy, deploySource, host: `counter.${subdomain}.scripts.localhost` };
}

async function api(server: TestServer, method: string, path: string, body?: object) {
  const isForm = body instanceof FormData;
  const response = await fetch(server.base + path, {
    method,
    headers: { ...keyHeaders, ...(!isForm && { "Content-Type": "application/json" }) },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  assert.equal(response.status, 200, `${method} ${path}: ${text}`);
  return (JSON.parse(text) as { result: unknown }).result;
}

const agent = new Agent({ keepAlive: true });

function ask(
  { ready }: TestServer,
  host: string,
  body: string | null = null,
): Promise<{ status: number; text: string }> {
  const { hostname, port } = new URL(ready["edge"]!);
  return new Promise((resolve, reject) => {
    const sent = sendRequest(
      { hostname, port, agent, method: body === null ? "GET" : "POST", headers: { Host: host } },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => (text += chunk));
        response.on("error", reject);
        response.on("end", () => resolve({ status: response.statusCode!, text }));
      },
    );
    sent.on("error", reject).end(body ?? undefined);
  });
}

/** Asks without a pause, some at a time, until told to stop; returns what was answered. */
function askOn(server: TestServer, host: string, atOnce: number) {
  const answers: { status: number; text: string }[] = [];
  const end = new AbortController();
  const runs = Array.from({ length: atOnce }, async () => {
    while (!end.signal.aborted) answers.push(await ask(server, host));
  });
  return {
    answers,
    async stop() {
      end.abort();
      await Promise.all(runs);
    },
  };
}

/** Processes of scripts that this server has started. */
function workerds({ data }: TestServer): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
        return command.includes("workerd") && command.includes(data);
      } catch {
        return false; // It ended meanwhile.
      }
    })
    .map(Number);
}

suite("a script behind the edge", () => {
  test("finds in its cache what it has put there, also when the server was started again", async () => {
    const { server, deploySource, host } = await serverWithScript();
    await using _ = server;
    const url = '"https://api.example/list"';
    const headers = '{ "cache-control": "max-age=600" }';
    await deploySource(
      `(await caches.default.match(${url})) ?? (await caches.default.put(${url},
        new Response("kept", { headers: ${headers} })), new Response("put"))`,
    );
    assert.equal((await ask(server, host)).text, "put");
    assert.equal((await ask(server, host)).text, "kept");
    await server.end();
    await using again = await startServer({ data: server.data });
    assert.equal((await ask(again, host)).text, "kept");
  });

  test("loses no request while it is deployed again and again, and answers as the newest at once", async () => {
    const { server, deploy, host } = await serverWithScript();
    await using _ = server;
    const asking = askOn(server, host, 4);
    for (let version = 2; version <= 6; version++) {
      await deploy(version);
      assert.equal((await ask(server, host)).text, String(version), "the next request sees it");
    }
    await asking.stop();
    const failed = asking.answers.filter(({ status }) => status !== 200);
    assert.deepEqual(failed, [], `of ${asking.answers.length}`);
  });

  test("is back within a second when its process is killed, and only what was in flight fails", async () => {
    const { server, host } = await serverWithScript();
    await using _ = server;
    await ask(server, host);
    const asking = askOn(server, host, 4);
    await until(() => asking.answers.length > 20);
    const [pid] = workerds(server);
    const before = asking.answers.length;
    process.kill(pid!, "SIGKILL");
    const killedAt = performance.now();
    await until(
      () =>
        asking.answers.slice(before).some(({ status }) => status !== 200) ||
        performance.now() - killedAt > 500,
    );
    await until(async () => (await ask(server, host)).status === 200);
    await asking.stop();
    const failed = asking.answers.filter(({ status }) => status !== 200).length;
    assert.ok(failed <= 4, `${failed} failed of 4 at a time`);
    assert.ok(workerds(server).length > 0 && !workerds(server).includes(pid!));
  });

  test("may leave the bodies of its requests unread", async () => {
    const { server, host } = await serverWithScript();
    await using _ = server;
    for (const body of ["abc", "x".repeat(100_000)]) {
      for (let i = 0; i < 12; i++) {
        const { status, text } = await ask(server, host, body);
        assert.equal(status, 200, `${i}: ${text}`);
      }
    }
  });

  test("ends with the platform, however that ends", async () => {
    const { server, host } = await serverWithScript();
    await using _ = server;
    await ask(server, host);
    assert.equal(workerds(server).length, 1);
    await server.end("SIGKILL");
    await until(() => workerds(server).length === 0);
  });
});
