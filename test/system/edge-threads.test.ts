/** The edge on several threads: whichever takes a connection, its client sees one edge. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, request as sendRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { connect as connectTls } from "node:tls";
import { freePorts } from "../support/free-ports.ts";
import { until } from "../support/patience.ts";
import { keyHeaders, startServer } from "../support/server.ts";
import { call } from "./api.ts";
import { Edge, HTTP_PORT, ONE_THREAD, type RawOrigin } from "./edge-rig.ts";
import { firstIds } from "./policies.ts";

/** The system spreads them by a hash: that one of three threads gets none of so many happens once in ten thousand times. */
const CONNECTIONS = 24;
const THREADS = { SELVEDGE_EDGE_THREADS: "3" };

interface Answer {
  readonly status: number;
  readonly text: string;
  readonly cache: string | undefined;
}

/** Clients that keep their connections, one each. */
class Clients {
  readonly #edge: URL;
  readonly #agents: readonly Agent[];

  constructor(edge: string, length = CONNECTIONS) {
    this.#edge = new URL(edge);
    this.#agents = Array.from({ length }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
  }

  /** What each of them gets. */
  ask(host: string, path = "/"): Promise<Answer[]> {
    return Promise.all(this.#agents.map((agent) => this.#ask(agent, host, path)));
  }

  #ask(agent: Agent, host: string, path: string): Promise<Answer> {
    const { hostname, port } = this.#edge;
    return new Promise((resolve, reject) => {
      const headers = { Host: `${host}:${HTTP_PORT}` };
      const sent = sendRequest({ hostname, port, agent, path, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (more: string) => (text += more));
        response.on("error", reject);
        response.on("end", () =>
          resolve({
            status: response.statusCode!,
            text,
            cache: response.headers["cf-cache-status"] as string | undefined,
          }),
        );
      });
      sent.on("error", reject).end();
    });
  }

  close(): void {
    for (const agent of this.#agents) agent.destroy();
  }
}

function statuses(answers: readonly Answer[]): number[] {
  return [...new Set(answers.map(({ status }) => status))];
}

function texts(answers: readonly Answer[]): string[] {
  return [...new Set(answers.map(({ text }) => text))];
}

const saying = (text: string) => (socket: Socket) => {
  socket.write(
    `HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
  );
};

suite("threads of one edge", async () => {
  const edge = await Edge.start(THREADS);
  const { server } = edge;
  const clients = new Clients(edge.http);
  after(async () => {
    clients.close();
    await edge[Symbol.asyncDispose]();
  });
  const [{ id: zone }] = (await call(server, "GET", "/zones")).result as [{ id: string }];
  const api = async (method: string, path: string, body?: unknown) => {
    const answer = await call(server, method, path, { ...(body !== undefined && { body }) });
    assert.equal(answer.status, 200, answer.text);
    return answer.result as { id: string };
  };

  test("answer a change of record and setting on the next request, each of them", async () => {
    const [one, other] = [
      await edge.origin("one", saying("1")),
      await edge.origin("two", saying("2")),
    ];
    const body = { type: "A", name: "moving", content: one.host, proxied: true };
    assert.deepEqual(statuses(await clients.ask("moving.example.com")), [404]);
    const { id } = await api("POST", `/zones/${zone}/dns_records`, body);
    const record = `/zones/${zone}/dns_records/${id}`;
    for (let round = 0; round < 10; round++) {
      const [origin, text] = (
        [
          [one, "1"],
          [other, "2"],
        ] as const
      )[round % 2]!;
      await api("PATCH", record, { content: origin.host });
      assert.deepEqual(texts(await clients.ask("moving.example.com")), [text]);
    }
    await edge.setting("always_use_https", "on");
    assert.deepEqual(statuses(await clients.ask("moving.example.com")), [301]);
    await edge.setting("always_use_https", "off");
    assert.deepEqual(statuses(await clients.ask("moving.example.com")), [200]);
    await api("DELETE", record);
    assert.deepEqual(statuses(await clients.ask("moving.example.com")), [404]);
  });

  test("answer a new zone, and one that is gone, on the next request", async () => {
    assert.deepEqual(statuses(await clients.ask("www.example.net")), [421]);
    const { id } = await api("POST", "/zones", { name: "example.net" });
    assert.deepEqual(statuses(await clients.ask("www.example.net")), [404]);
    await api("DELETE", `/zones/${id}`);
    assert.deepEqual(statuses(await clients.ask("www.example.net")), [421]);
  });

  test("answer a deployment and a route on the next request", async () => {
    await edge.origin("routed", saying("origin"));
    const { account } = await firstIds(server);
    const deploy = async (text: string) => {
      const form = new FormData();
      form.set(
        "metadata",
        JSON.stringify({ main_module: "a.js", compatibility_date: "2026-07-01" }),
      );
      const source = `export default { fetch() { return new Response("${text}") } }`;
      form.set("a.js", new File([source], "a.js", { type: "application/javascript+module" }));
      const path = `${server.base}/accounts/${account}/workers/scripts/threaded`;
      const { status } = await fetch(path, { method: "PUT", headers: keyHeaders, body: form });
      assert.equal(status, 200);
    };
    const host = "routed.example.com";
    assert.deepEqual(texts(await clients.ask(host)), ["origin"]);
    await deploy("first");
    const route = { pattern: `${host}/*`, script: "threaded" };
    const { id } = await api("POST", `/zones/${zone}/workers/routes`, route);
    assert.deepEqual(texts(await clients.ask(host)), ["first"]);
    for (const text of ["second", "third"]) {
      await deploy(text);
      assert.deepEqual(texts(await clients.ask(host)), [text]);
    }
    await api("DELETE", `/zones/${zone}/workers/routes/${id}`);
    assert.deepEqual(texts(await clients.ask(host)), ["origin"]);
  });

  test("serve nothing any more that was purged", async () => {
    let answers = 0;
    await edge.origin("cached", (socket) => saying(`answer ${++answers}`)(socket));
    await edge.setting("cache_level", "aggressive");
    const host = "cached.example.com";
    for (let round = 0; round < 5; round++) {
      await clients.ask(host);
      const asked = answers;
      assert.ok((await clients.ask(host)).every(({ cache }) => cache === "HIT"));
      await api("POST", `/zones/${zone}/purge_cache`, { purge_everything: true });
      const fresh = (await clients.ask(host)).map(({ text }) => Number(text.slice(7)));
      assert.ok(Math.min(...fresh) > asked, `${String(fresh)}, not after ${asked}`);
    }
    await edge.setting("cache_level", "bypass");
  });

  test("go on with each other's TLS sessions", async () => {
    await edge.origin("tls");
    const ca = readFileSync(join(server.data, "local-ca.crt"), "utf8");
    const { hostname: host, port } = edge.https;
    const to = { host, port: Number(port), servername: "tls.example.com", ca };
    const first = connectTls({ ...to, ALPNProtocols: ["http/1.1"] });
    const [session] = (await once(first, "session")) as [Buffer];
    first.destroy();
    for (let i = 0; i < CONNECTIONS; i++) {
      const socket = connectTls({ ...to, ALPNProtocols: ["http/1.1"], session });
      await once(socket, "secureConnect");
      assert.equal(socket.isSessionReused(), true);
      socket.destroy();
    }
  });

  test("show the platform's own certificate to clients that name no host", async () => {
    const ca = readFileSync(join(server.data, "local-ca.crt"), "utf8");
    const { hostname: host, port } = edge.https;
    for (let i = 0; i < CONNECTIONS; i++) {
      const socket = connectTls({
        host,
        port: Number(port),
        ca,
        checkServerIdentity: () => undefined,
      });
      await once(socket, "secureConnect");
      assert.equal(socket.servername, false);
      assert.match(socket.getPeerCertificate().subjectaltname!, /^DNS:scripts\.localhost,/);
      socket.destroy();
    }
  });

  test("write lines of the log that are whole", async () => {
    await clients.ask("tls.example.com", "/logged");
    const logged = () =>
      server.output.stderr.split("\n").filter((line) => line.includes("/logged"));
    await until(() => logged().length === CONNECTIONS);
    for (const line of server.output.stderr.trimEnd().split("\n")) JSON.parse(line);
  });

  test("are counted together", async () => {
    const metrics = await (await fetch(`${server.origin}/metrics`)).text();
    const figure = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(metrics)![1]);
    assert.ok(figure('selvedge_edge_requests_total{status="301"}') >= CONNECTIONS);
    assert.equal(figure("selvedge_edge_connections"), CONNECTIONS);
    assert.equal(figure("selvedge_edge_thread_restarts_total"), 0);
  });
});

test("limits hold for all threads together", async () => {
  const limits = { SELVEDGE_LIMITS_CONNECTIONS_PER_SOURCE: "5" };
  await using server = await startServer({ env: { ...THREADS, ...limits } });
  const { hostname, port } = new URL(server.ready["edge"]!);
  const open = new Set<Socket>();
  for (let i = 0; i < 20; i++) {
    const socket = connect(Number(port), hostname).resume();
    open.add(socket.on("error", () => {}).on("close", () => open.delete(socket)));
  }
  await until(() => open.size === 5);
  // One that leaves makes room.
  const [leaving] = open;
  leaving!.destroy();
  const isTaken = () =>
    new Promise<boolean>((resolve) => {
      const sent = sendRequest({ hostname, port, agent: false }, (response) => {
        resolve(response.statusCode === 421);
        response.resume();
      });
      sent.on("error", () => resolve(false)).end();
    });
  await until(isTaken);
  for (const socket of open) socket.destroy();
});

test("a stop lets the requests finish that any thread has", async () => {
  await using edge = await Edge.start(THREADS);
  const waiting: Socket[] = [];
  const origin: RawOrigin = await edge.origin("slow", (socket) => void waiting.push(socket));
  const clients = new Clients(edge.http);
  const answers = clients.ask("slow.example.com");
  await until(() => waiting.length === CONNECTIONS);
  const ended = edge.server.end();
  await until(() => edge.server.output.stderr.includes('"stopping"'));
  for (const socket of waiting) saying("done")(socket);
  assert.deepEqual(texts(await answers), ["done"]);
  clients.close();
  assert.equal(await ended, 0);
  assert.deepEqual(origin.faults, []);
});

test("a stop ends HTTP and HTTPS together, not one after the other", async () => {
  await using edge = await Edge.start(ONE_THREAD);
  const waiting: Socket[] = [];
  await edge.origin("slow", (socket) => void waiting.push(socket));
  const clients = new Clients(edge.http, 1);
  const answers = clients.ask("slow.example.com");
  await until(() => waiting.length === 1);
  const ended = edge.server.end();
  for (const url of [new URL(edge.http), edge.https]) await until(() => refuses(url));
  for (const socket of waiting) saying("done")(socket);
  assert.deepEqual(texts(await answers), ["done"]);
  clients.close();
  assert.equal(await ended, 0);
});

async function refuses({ hostname, port }: URL): Promise<boolean> {
  const socket = connect(Number(port), hostname);
  try {
    await once(socket, "connect");
    return false;
  } catch {
    return true;
  } finally {
    socket.destroy();
  }
}

test("an address that threads share is not shared with another server", async () => {
  const [port] = await freePorts(1);
  const args = ["--edge", `127.0.0.1:${port}`, "--dns", "off"];
  await using _ = await startServer({ args, env: THREADS });
  await assert.rejects(
    startServer({ args, env: THREADS }),
    new RegExp(`Cannot listen on 127\\.0\\.0\\.1:${port} \\(--edge\\): another program uses`),
  );
});
