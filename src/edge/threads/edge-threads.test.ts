import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { connect } from "node:tls";
import type { Worker } from "node:worker_threads";
import { Generations } from "#kit/generations.ts";
import { Log } from "#kit/log.ts";
import { Metrics } from "#kit/metrics.ts";
import { selfSigned } from "#kit/self-signed.ts";
import type { Zone, ZoneRecord } from "#zones";
import { CRASH_FILE } from "../../../test/support/crash-when-told.ts";
import { until } from "../../../test/support/patience.ts";
import type { PurgeLog } from "../cache/purge-log.ts";
import { DiskLedger } from "../cache/disk-ledger.ts";
import { FactSource } from "../facts/fact-source.ts";
import { ProxiedNames } from "../proxied-names.ts";
import { startEdgeThreads } from "./edge-threads.ts";

/** Where the edge asks for clients that name the port. */
const ORIGIN = { host: "127.0.0.77", port: 2095 };
const HOUR_MS = 3_600_000;

interface Given {
  readonly tell: () => Promise<void>;
  readonly ticketKeysMs: number;
}

/** Two threads before one origin; a file of that name ends one of them. */
async function open({ tell = async () => {}, ticketKeysMs = HOUR_MS }: Partial<Given> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "edge-threads-"));
  const crash = join(folder, "crash");
  process.env[CRASH_FILE] = crash;
  const origin = createServer((_request, response) => response.end("ok"));
  origin.listen(ORIGIN.port, ORIGIN.host);
  await once(origin, "listening");
  const names = new ProxiedNames({
    recordsAt: async () => [{ type: "A", content: ORIGIN.host, proxied: true } as ZoneRecord],
  });
  names.load([
    { id: "z", name: "a.test", serial: 1, settings: { ssl: { value: "off" } } } as unknown as Zone,
  ]);
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const cert = selfSigned({
    privateKey,
    names: ["a.test"],
    addresses: [],
    validFrom: Date.now() - HOUR_MS,
    validUntil: Date.now() + HOUR_MS,
    serial: Buffer.from([1]),
  });
  const pair = { cert, key: privateKey.export({ type: "pkcs8", format: "pem" }) };
  const generations = new Generations();
  const metrics = new Metrics();
  const lines: string[] = [];
  const format = "json";
  const edge = await startEdgeThreads({
    addresses: { http: { host: "127.0.0.1", port: 0 }, https: { host: "127.0.0.1", port: 0 } },
    ticketKeysMs,
    threads: 2,
    entry: new URL("./crashing-thread.contract.ts", import.meta.url),
    settings: {
      limits: {
        headerBytes: 16_384,
        headerSeconds: 10,
        requestSeconds: 60,
        idleSeconds: 30,
        drainSeconds: 5,
        connections: 100,
        connectionsPerSource: 100,
      },
      fallbackName: "a.test",
      bucketSocket: "/nowhere",
      trustedProxies: [],
      log: { format, level: "error" },
      cache: { memoryOctets: 1024 ** 2, folder: null, objectOctets: 1024 },
      origins: {
        resolvers: [],
        allowed: ["127.0.0.0/8"],
        answerMs: 10_000,
        loopMark: "test",
        edgeAddresses: [],
      },
    },
    generations,
    facts: new FactSource({
      generations,
      names,
      routesOf: () => ({ routes: [], domains: [] }),
      ownScript: () => null,
      isBucket: () => false,
      certificateFor: () => pair,
      now: Date.now,
    }),
    openScript: () => Promise.reject(new Error("No scripts here")),
    takeLent: () => null,
    ledger: new DiskLedger({ folder, limitOctets: 0, onError: assert.fail }),
    purges: {
      floor: 0,
      tell: async () => {
        await tell();
        return { [Symbol.dispose]() {} };
      },
    } as unknown as PurgeLog,
    log: new Log({ format, level: "info", now: Date.now, write: (text) => lines.push(text) }),
    metrics,
  });
  const port = edge.addresses.http!.port;
  return {
    https: edge.addresses.https!,
    crash: () => writeFileSync(crash, ""),
    lines,
    metrics,
    ask: async () => {
      const headers = { Host: `a.test:${ORIGIN.port}` };
      const sent = request({ host: "127.0.0.1", port, headers, agent: false }).end();
      const [response] = (await once(sent, "response")) as [IncomingMessage];
      response.resume();
      return response.statusCode;
    },
    async [Symbol.asyncDispose]() {
      await edge[Symbol.asyncDispose]();
      origin.closeAllConnections();
      origin.close();
      rmSync(folder, { recursive: true });
    },
  };
}

test("a thread that dies is logged and started again, and the others go on meanwhile", async () => {
  await using edge = await open();
  const logged = (text: string) => edge.lines.join("").split(text).length - 1;
  for (let i = 0; i < 10; i++) assert.equal(await edge.ask(), 200);
  for (let deaths = 1; deaths <= 3; deaths++) {
    edge.crash();
    await until(() => logged("a thread of the edge ended") === deaths);
    for (let i = 0; i < 20; i++) assert.equal(await edge.ask(), 200);
    await until(() => logged("a thread of the edge is back") === deaths);
  }
  assert.match(edge.lines.join(""), /"message":"The thread has crashed"/);
  assert.match(edge.metrics.print(), /selvedge_edge_thread_restarts_total 3\n/);
  await until(() => edge.metrics.print().includes("selvedge_edge_connections 0\n"));
});

test("a thread that cannot be told of purges is given up, and another is started", async () => {
  const running = new Set<Worker>();
  const note = (worker: Worker) => {
    running.add(worker);
    worker.once("exit", () => running.delete(worker));
  };
  process.on("worker", note);
  let isAway = false;
  const tell = async () => {
    if (!isAway) return;
    isAway = false;
    throw new Error("The database is away");
  };
  await using edge = await open({ tell });
  isAway = true;
  edge.crash();
  await until(() => edge.lines.join("").includes("a thread of the edge is back"));
  process.off("worker", note);
  assert.match(edge.lines.join(""), /"message":"The database is away"/);
  await until(() => running.size <= 2);
  assert.equal(await edge.ask(), 200);
});

test("keys of session tickets are new after a time, on all threads", async () => {
  await using edge = await open({ ticketKeysMs: 200 });
  const shake = async (before?: Buffer): Promise<{ session: Buffer; isReused: boolean }> => {
    const to = { ...edge.https, servername: "a.test", maxVersion: "TLSv1.2" } as const;
    const socket = connect({
      ...to,
      rejectUnauthorized: false,
      ...(before && { session: before }),
    });
    await once(socket, "secureConnect");
    const shaken = { session: socket.getSession()!, isReused: socket.isSessionReused() };
    socket.destroy();
    return shaken;
  };
  let session: Buffer;
  await until(async () => {
    ({ session } = await shake());
    return (await shake(session)).isReused;
  });
  await until(async () => {
    for (let i = 0; i < 10; i++) if ((await shake(session)).isReused) return false;
    return true;
  });
});
