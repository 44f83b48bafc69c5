/** `selvedge serve` as a user meets it: flags, file, environment, ready line, stop, second start. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { Agent, get } from "node:http";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { msOf } from "../support/patience.ts";
import { keyHeaders, runSelvedge, startServer, type TestServer } from "../support/server.ts";

/** Runs to the end; for starts that must fail. */
async function run(args: readonly string[], env: Record<string, string> = {}, cwd?: string) {
  const child = runSelvedge(args, env, cwd);
  let stdout = "";
  let stderr = "";
  child.stdout!.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr!.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, stdout, stderr };
}

suite("a server on its defaults", () => {
  let server: TestServer;
  before(async () => {
    server = await startServer();
  });
  after(() => server[Symbol.asyncDispose]());

  test("says in one JSON line of standard output that it is ready, and where", () => {
    const lines = server.output.stdout.trimEnd().split("\n");
    assert.match(
      lines.at(-1)!,
      /^\{"event":"ready","api":"http:\/\/127\.0\.0\.1:\d+","dns":"127\.0\.0\.1:\d+","s3":"http:\/\/127\.0\.0\.1:\d+","edge":"http:\/\/127\.0\.0\.1:\d+","edge_tls":"https:\/\/127\.0\.0\.1:\d+"\}$/,
    );
  });

  test("tells where the first credentials are, which only the owner can read", async () => {
    const path = join(server.data, "credentials.json");
    assert.ok(server.output.stdout.includes(JSON.stringify(path)));
    for (const name of ["credentials.json", "secret.key", "selvedge.db"]) {
      assert.equal((await stat(join(server.data, name))).mode & 0o077, 0, name);
    }
    const { email, key } = JSON.parse(await readFile(path, "utf8")) as Record<string, string>;
    const answer = await fetch(`${server.base}/user`, {
      headers: { "X-Auth-Email": email!, "X-Auth-Key": key! },
    });
    assert.equal(answer.status, 200);
  });

  test("answers /healthz, /readyz and /metrics", async () => {
    const get = async (path: string) => {
      const answer = await fetch(server.origin + path);
      return {
        status: answer.status,
        type: answer.headers.get("content-type"),
        text: await answer.text(),
      };
    };
    assert.equal((await get("/healthz")).text, "ok\n");
    assert.equal((await get("/readyz")).text, "ready\n");
    await fetch(`${server.base}/user`, { headers: keyHeaders });
    const metrics = await get("/metrics");
    assert.match(metrics.type!, /^text\/plain; version=0\.0\.4/);
    assert.match(
      metrics.text,
      /^selvedge_api_requests_total\{method="GET",route="\/client\/v4\/user",status="200"\} [1-9]/m,
    );
    assert.match(metrics.text, /^process_resident_memory_bytes \d{7,}$/m);
    for (const line of metrics.text.trimEnd().split("\n")) {
      assert.match(
        line,
        /^(?:# (?:HELP|TYPE) \w+ .+|\w+(?:\{[^{}]*\})? (?:-?[\d.e+-]+|\+Inf))$/,
        line,
      );
    }
  });

  test("logs a request with the id that its answer carries, and never a secret", async () => {
    const answer = await fetch(`${server.base}/user?secret=hush-query`, { headers: keyHeaders });
    const id = answer.headers.get("x-request-id")!;
    assert.match(id, /^[0-9a-f]{32}$/);
    await fetch(`${server.base}/user`, {
      headers: { Authorization: `Bearer ${"hush-token-".repeat(4)}` },
    });
    await server.end();
    const lines = server.output.stderr
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const line = lines.find(({ request_id }) => request_id === id);
    assert.equal(line?.["path"], "/client/v4/user");
    assert.equal(line?.["status"], 200);
    for (const request of lines.filter(({ event }) => event === "request"))
      assert.ok(request["request_id"]);
    const said = server.output.stderr + server.output.stdout;
    assert.doesNotMatch(said, /hush/);
    assert.equal(said.includes(keyHeaders["X-Auth-Key"]), false);
  });
});

test("a second start keeps everything, and says nothing of credentials", async () => {
  const data = await mkdtemp(join(tmpdir(), "selvedge-test-"));
  await using first = await startServer({ data });
  const made = await fetch(`${first.base}/accounts`, {
    method: "POST",
    headers: { ...keyHeaders, "Content-Type": "application/json" },
    body: JSON.stringify({ name: "Kept" }),
  });
  const { result } = (await made.json()) as { result: { id: string } };
  assert.equal(await first.end(), 0);
  const before = await readFile(join(data, "credentials.json"), "utf8");
  await using second = await startServer({
    data,
    env: { SELVEDGE_BOOTSTRAP_KEY: "another-key-that-does-not-count" },
  });
  assert.doesNotMatch(second.output.stdout, /credentials/);
  const answer = await fetch(`${second.base}/accounts/${result.id}`, { headers: keyHeaders });
  assert.equal(((await answer.json()) as { result: { name: string } }).result.name, "Kept");
  assert.equal(await readFile(join(data, "credentials.json"), "utf8"), before);
  await second.end();
  await rm(data, { recursive: true });
});

test("a server with all doors off stays until it is told to stop", async () => {
  await using server = await startServer({ args: ["--api", "off", "--dns", "off"] });
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.equal(server.process.exitCode, null);
  assert.equal(await server.end(), 0);
});

suite("a stop", () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    test(`by ${signal} lets what is in flight finish, takes nothing new and exits 0`, async () => {
      await using server = await startServer();
      const { port } = new URL(server.origin);
      const socket = connect(Number(port), "127.0.0.1");
      await once(socket, "connect");
      const body = JSON.stringify({ name: "finished during the stop" });
      socket.write(
        `POST /client/v4/accounts HTTP/1.1\r\nHost: x\r\nX-Auth-Email: ${keyHeaders["X-Auth-Email"]}\r\nX-Auth-Key: ${keyHeaders["X-Auth-Key"]}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
      );
      await connections(server.origin, 1);
      const ended = server.end(signal);
      await refused(Number(port));
      socket.write(body.slice(5));
      const [answer] = (await once(socket, "data")) as [Buffer];
      assert.match(answer.toString(), /^HTTP\/1\.1 200 OK[^]*finished during the stop/);
      assert.equal(await ended, 0);
    });
  }

  test("answers what clients have sent on connections that they keep", async () => {
    await using server = await startServer();
    const agent = new Agent({ keepAlive: true, maxSockets: 16 });
    const seen = { answers: 0 };
    const client = async (): Promise<void> => {
      for (;;) {
        const outcome = await ask(`${server.origin}/healthz`, agent);
        if (outcome === "ECONNREFUSED") return;
        assert.equal(outcome, 200, "no request that was sent is lost");
        seen.answers++;
      }
    };
    const clients = Array.from({ length: 16 }, client);
    while (seen.answers < 200) await new Promise(setImmediate);
    assert.equal(await server.end(), 0);
    await Promise.all(clients);
    agent.destroy();
  });

  test("does not wait for ever: what hangs is cut after drain_seconds", async () => {
    await using server = await startServer({ env: { SELVEDGE_LIMITS_DRAIN_SECONDS: "1" } });
    const socket = connect(Number(new URL(server.origin).port), "127.0.0.1");
    socket.on("error", () => {});
    socket.write("POST /client/v4/accounts HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n");
    await once(socket, "connect");
    const ms = await msOf(async () => assert.equal(await server.end(), 0));
    assert.ok(ms < 15_000, `${ms} ms`); // By default it would be 30 s.
  });
});

/** The status of an answer, or the code of what went wrong. */
function ask(url: string, agent: Agent): Promise<number | string | undefined> {
  return new Promise((resolve) => {
    get(url, { agent }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode));
    }).on("error", (error: NodeJS.ErrnoException) => resolve(error.code));
  });
}

/** Resolves once nobody listens any more. */
async function refused(port: number): Promise<void> {
  const isOpen = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
      socket.once("connect", () => socket.destroy());
    });
  while (await isOpen());
}

/** Resolves once the server has this many open connections beside the one that asks. */
async function connections(origin: string, wanted: number): Promise<void> {
  for (let open = -1; open !== wanted;) {
    const answer = await fetch(`${origin}/metrics`, { headers: { connection: "close" } });
    open = Number(/^selvedge_api_connections (\d+)$/m.exec(await answer.text())?.[1]) - 1;
  }
}

suite("a start that cannot be ends with one sentence", () => {
  const refusals: [
    name: string,
    args: string[],
    env: Record<string, string>,
    code: number,
    sentence: RegExp,
  ][] = [
    ["an unknown flag", ["serve", "--apii", "x"], {}, 2, /unknown option '--apii'/],
    [
      "a value that cannot be",
      ["serve", "--api", "nowhere"],
      {},
      2,
      /^selvedge: Cannot use --api = "nowhere": expected HOST:PORT/,
    ],
    [
      "a bad variable",
      ["serve"],
      { SELVEDGE_DNS_THREADS: "0" },
      2,
      /^selvedge: Cannot use SELVEDGE_DNS_THREADS = "0": expected a whole number from 1 to 1024\.$/m,
    ],
    [
      "a config file that is not there",
      ["serve", "--config", "none.toml"],
      {},
      2,
      /^selvedge: Cannot read the config file none\.toml: there is no such file\.$/m,
    ],
    ["an unknown command", ["sevre"], {}, 2, /unknown command 'sevre'[^]*Did you mean serve/],
    [
      "a database of an unknown kind",
      ["serve", "--database", "mysql://u:hush@x/y"],
      {},
      2,
      /mysql:\/\/u:\*\*\*@x\/y": expected a URL that starts with sqlite: or postgres:/,
    ],
    [
      "a database that is not there",
      [
        "serve",
        "--database",
        "postgres://u:hush@127.0.0.1:1/y",
        "--data",
        join(tmpdir(), `selvedge-none-${process.pid}`),
      ],
      {},
      1,
      /^selvedge: Cannot reach the database postgres:\/\/u:\*\*\*@127\.0\.0\.1:1\/y: .*ECONNREFUSED/m,
    ],
  ];
  for (const [name, args, env, code, sentence] of refusals) {
    test(name, async () => {
      const result = await run(args, env);
      assert.equal(result.code, code, result.stderr);
      assert.match(result.stderr, sentence);
      assert.doesNotMatch(result.stderr, /hush|\bat .*\.ts/, "no secret, no stack");
      assert.equal(result.stdout, "");
    });
  }

  test("an unknown key in server.toml, with its line", async () => {
    const cwd = await mkdtemp(join(tmpdir(), "selvedge-test-"));
    await writeFile(join(cwd, "server.toml"), 'api = "127.0.0.1:0"\n\n[limits]\nrequest = 5\n');
    const { code, stderr } = await run(["serve"], {}, cwd);
    assert.equal(code, 2);
    assert.equal(
      stderr,
      'selvedge: Unknown key "limits.request" in server.toml line 4. Did you mean limits.requests?\n',
    );
    await rm(cwd, { recursive: true });
  });

  test("a port in use", async () => {
    const holder = createServer().listen(0, "127.0.0.1");
    await once(holder, "listening");
    const { port } = holder.address() as { port: number };
    const data = await mkdtemp(join(tmpdir(), "selvedge-test-"));
    const { code, stdout, stderr } = await run([
      "serve",
      "--data",
      data,
      "--api",
      `127.0.0.1:${port}`,
    ]);
    assert.equal(code, 1);
    assert.match(stdout, /"event":"first start"/, "the keys exist, and it is said where");
    assert.match(
      stderr,
      new RegExp(
        `^selvedge: Cannot listen on 127\\.0\\.0\\.1:${port} \\(--api\\): another program uses this port\\.`,
        "m",
      ),
    );
    holder.close();
    await rm(data, { recursive: true });
  });

  test("a data folder that another server holds", async () => {
    await using server = await startServer();
    const { code, stderr } = await run(["serve", "--data", server.data, "--api", "127.0.0.1:0"]);
    assert.equal(code, 1);
    assert.match(stderr, /^selvedge: Cannot use .*: another Selvedge is running on it\.$/m);
  });
});

test("settings come from server.toml in the current folder, and flags win over it", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "selvedge-test-"));
  await writeFile(
    join(cwd, "server.toml"),
    'data = "from-file"\napi = "127.0.0.1:0"\ndns = "127.0.0.1:0"\nlog = "pretty"\n',
  );
  const child = runSelvedge(["serve", "--data", "from-flag"], {}, cwd);
  let said = "";
  for await (const chunk of child.stdout!) {
    said += String(chunk);
    if (said.includes("ready")) child.kill();
  }
  assert.match(
    said,
    /^First start: your keys are in .*from-flag\/credentials\.json\nSelvedge \d+\.\d+\.\d+ is ready: api http:\/\/127\.0\.0\.1:\d+, dns 127\.0\.0\.1:\d+, s3 http:\/\/127\.0\.0\.1:\d+, edge http:\/\/127\.0\.0\.1:\d+, edge_tls https:\/\/127\.0\.0\.1:\d+\n$/,
  );
  await rm(cwd, { recursive: true });
});

test("help names every flag and every key, with defaults", async () => {
  const { code, stdout } = await run(["serve", "--help"]);
  assert.equal(code, 0);
  for (const word of [
    "--config",
    "--data",
    "--api",
    "--dns ",
    "--dns-tls",
    "--dns-threads",
    "--s3 ",
    "--s3-domain",
    "--s3-trusted-proxies",
    "--edge ",
    "--edge-tls",
    "--database",
    "--blobs",
    "--log",
    "nameservers",
    "edge.addresses",
    "platform.networks",
    "resolvers",
    "limits.requests",
    "127.0.0.1:8700",
  ]) {
    assert.ok(stdout.includes(word), word);
  }
  assert.match((await run(["--version"])).stdout, /^\d+\.\d+\.\d+\n$/);
});
