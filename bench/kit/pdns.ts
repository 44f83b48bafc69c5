/** PowerDNS with its SQLite backend, from Debian's packages, as a peer of our records. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import type { Leftovers } from "./leftovers.ts";
import {
  ADDRESS,
  BODY_BYTES,
  NUMBER,
  type RecordContender,
  type RecordZone,
  TTL_SECONDS,
} from "./record-server.ts";

/** What Debian calls them. */
export const PDNS_PACKAGES = "pdns-server pdns-backend-sqlite3";

const PROGRAM = "pdns_server";
/** Debian leaves this folder out of an ordinary user's PATH. */
const PATH = `${process.env["PATH"] ?? ""}:/usr/sbin`;
const SCHEMA = "/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql";
const BASE = "/api/v1/servers/localhost/zones";
const KEY = "bench";
const headers = { "X-API-Key": KEY };

const START_TIMEOUT_MS = 15_000;
const LOOK_MS = 5;

/** Its version; null when it, or its backend, is not installed. */
export function pdnsVersion(): string | null {
  const { status, stdout, stderr } = spawnSync(PROGRAM, ["--version"], { env: { PATH } });
  try {
    readFileSync(SCHEMA);
  } catch {
    return null;
  }
  // 4.7 tells its version on the error stream and ends with 99.
  const version = /Server (\d+(?:\.\d+)*)/.exec(`${String(stdout)}${String(stderr)}`)?.[1];
  return status === null ? null : (version ?? "");
}

export function powerDns(leftovers: Leftovers, version: string): RecordContender {
  return {
    name: `PowerDNS ${version}`,
    async start() {
      await using undo = new AsyncDisposableStack();
      const folder = await leftovers.folder();
      undo.defer(() => leftovers.remove(folder));
      const database = join(folder, "pdns.db");
      makeDatabase(database);
      const [webPort, dnsPort] = [await freePort(), await freePort()];
      writeFileSync(join(folder, "pdns.conf"), config({ folder, database, webPort, dnsPort }));
      const began = performance.now();
      const child = spawn(PROGRAM, [`--config-dir=${folder}`], {
        env: { ...process.env, PATH },
        stdio: ["ignore", "pipe", "pipe"],
      });
      leftovers.track(child);
      undo.defer(() => leftovers.stop(child));
      const address = `http://127.0.0.1:${webPort}`;
      await untilReady(child, address);
      const startMs = performance.now() - began;
      const all = undo.move();
      return {
        name: this.name,
        pid: child.pid!,
        address,
        startMs,
        headers,
        database,
        makeZone: (name) => makeZone(address, name),
        [Symbol.asyncDispose]: () => all.disposeAsync(),
      };
    },
  };
}

function makeDatabase(path: string): void {
  const database = new DatabaseSync(path);
  database.exec(readFileSync(SCHEMA, "utf8"));
  database.close();
}

/** It may be taken again before PowerDNS binds it; then the start fails and says so. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** Everything about the database stays at its default: a write-ahead log that is synced in full. */
function config(at: {
  folder: string;
  database: string;
  webPort: number;
  dnsPort: number;
}): string {
  return [
    "launch=gsqlite3",
    `gsqlite3-database=${at.database}`,
    "api=yes",
    `api-key=${KEY}`,
    "webserver=yes",
    "webserver-address=127.0.0.1",
    `webserver-port=${at.webPort}`,
    `webserver-max-bodysize=${BODY_BYTES / 1024 ** 2}`,
    "local-address=127.0.0.1",
    `local-port=${at.dnsPort}`,
    `socket-dir=${at.folder}`,
    "security-poll-suffix=", // Or it asks the internet about its version.
    "daemon=no",
    "guardian=no",
    "",
  ].join("\n");
}

async function untilReady(child: ChildProcess, address: string): Promise<void> {
  let output = "";
  const hear = (chunk: Buffer) => (output = (output + chunk.toString()).slice(-4_000));
  child.stdout!.on("data", hear); // Read to the end: a full pipe would hold it up.
  child.stderr!.on("data", hear);
  let failure: string | null = null;
  child.once("error", (error) => (failure = error.message));
  child.once("exit", (code, signal) => (failure = `it ended with ${signal ?? code}`));
  const deadline = performance.now() + START_TIMEOUT_MS;
  while (true) {
    const answer = await fetch(address + BASE, { headers }).catch(() => null);
    await answer?.bytes();
    if (answer?.ok === true) return;
    if (failure === null && performance.now() > deadline) failure = "it did not answer in time";
    if (failure !== null) throw new Error(`Cannot start PowerDNS: ${failure}\n${output}`);
    await sleep(LOOK_MS);
  }
}

async function makeZone(address: string, zone: string): Promise<RecordZone> {
  const response = await fetch(address + BASE, {
    method: "POST",
    headers,
    body: JSON.stringify({ name: `${zone}.`, kind: "Native", nameservers: [`ns1.${zone}.`] }),
  });
  if (!response.ok) throw new Error(`Cannot make the zone ${zone}: ${await response.text()}`);
  const path = `${BASE}/${zone}.`;
  const change = (records: readonly { name: string; content: string }[]) => ({
    method: "PATCH",
    path,
    body: JSON.stringify({
      rrsets: records.map(({ name, content }) => ({
        name: `${name}.`,
        type: "A",
        ttl: TTL_SECONDS,
        changetype: "REPLACE",
        records: [{ content, disabled: false }],
      })),
    }),
  });
  return {
    create: change([{ name: `r${NUMBER}.${zone}`, content: ADDRESS }]),
    list: path,
    exported: `${path}/export`,
    // A POST of the zone with its records takes half as long again.
    fillWith: change,
  };
}
