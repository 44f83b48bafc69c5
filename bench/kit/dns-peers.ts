/**
 * The nameservers of Debian that ours is measured beside, each told to use one thread, to limit no
 * rate, to log nothing of queries and to answer with no more than a question needs.
 */
import { spawnSync } from "node:child_process";
import { globSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ZoneFile } from "./dns-files.ts";

export interface DnsPeer {
  /** How the command line names it. */
  readonly key: string;
  /** Debian's packages. */
  readonly packages: string;
  readonly program: string;
  /** Its name with its version; null when it is not installed. */
  name(): string | null;
  /** Writes its configuration into the folder; returns the arguments that run it in the foreground. */
  configure(at: Site): readonly string[];
}

/** Where a peer runs. */
export interface Site {
  readonly folder: string;
  readonly port: number;
  readonly zones: readonly ZoneFile[];
}

/** Debian leaves these folders out of an ordinary user's PATH. */
export const PATH = `${process.env["PATH"] ?? ""}:/usr/sbin:/sbin`;

const nsd: DnsPeer = {
  key: "nsd",
  packages: "nsd",
  program: "nsd",
  name: () => versionOf("NSD", "nsd", "-v"),
  configure({ folder, port, zones }) {
    const config = write(folder, "nsd.conf", [
      "server:",
      `ip-address: 127.0.0.1@${port}`,
      "server-count: 1",
      'username: ""',
      'database: ""',
      'pidfile: ""',
      'xfrdfile: ""',
      `zonelistfile: "${folder}/zone.list"`,
      `xfrdir: "${folder}"`,
      `logfile: "${folder}/nsd.log"`,
      "log-only-syslog: no",
      "minimal-responses: yes",
      "rrl-ratelimit: 0", // Debian builds it with a limit of 200 a second.
      "rrl-whitelist-ratelimit: 0",
      "remote-control:",
      "control-enable: no",
      ...zones.flatMap(({ zone, path }) => ["zone:", `name: "${zone}"`, `zonefile: "${path}"`]),
    ]);
    return ["-d", "-c", config];
  },
};

const knot: DnsPeer = {
  key: "knot",
  packages: "knot",
  program: "knotd",
  name: () => versionOf("Knot", "knotd", "-V"),
  configure({ folder, port, zones }) {
    const config = write(folder, "knot.conf", [
      "server:",
      `  rundir: "${folder}"`,
      `  listen: 127.0.0.1@${port}`,
      "  udp-workers: 1",
      "  tcp-workers: 1",
      "  background-workers: 1",
      "log:",
      "  - target: stderr",
      "    any: error",
      "database:",
      `  storage: "${folder}"`,
      "template:",
      "  - id: default",
      "    zonefile-sync: -1", // The file is not ours to write.
      "    journal-content: none",
      "zone:",
      ...zones.flatMap(({ zone, path }) => [`  - domain: ${zone}`, `    file: "${path}"`]),
    ]);
    return ["-c", config];
  },
};

const bind: DnsPeer = {
  key: "bind",
  packages: "bind9",
  program: "named",
  name: () => versionOf("BIND", "named", "-v"),
  configure({ folder, port, zones }) {
    const config = write(folder, "named.conf", [
      "options {",
      `directory "${folder}"; pid-file none; session-keyfile none; lock-file none;`,
      `listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };`,
      "recursion no; dnssec-validation no; empty-zones-enable no;",
      "notify no; allow-transfer { none; }; minimal-responses yes; zone-statistics none;",
      "};",
      "controls { };",
      "logging { category default { null; }; };",
      ...zones.map(({ zone, path }) => `zone "${zone}" { type primary; file "${path}"; };`),
    ]);
    return ["-f", "-n", "1", "-U", "1", "-c", config];
  },
};

/** Zones held in memory by its bind backend, before which stand its caches, as large as by default. */
const pdns: DnsPeer = {
  key: "pdns",
  packages: "pdns-server pdns-backend-bind",
  program: "pdns_server",
  name: () =>
    globSync("/usr/lib/*/pdns/libbindbackend.so").length === 0
      ? null
      : versionOf("PowerDNS", "pdns_server", "--version"),
  configure({ folder, port, zones }) {
    const named = write(
      folder,
      "named.conf",
      zones.map(({ zone, path }) => `zone "${zone}" { type master; file "${path}"; };`),
    );
    write(folder, "pdns.conf", [
      "launch=bind",
      `bind-config=${named}`,
      "local-address=127.0.0.1",
      `local-port=${port}`,
      `socket-dir=${folder}`,
      "receiver-threads=1",
      "distributor-threads=1", // With one, the thread that receives also answers.
      "signing-threads=1",
      "retrieval-threads=1",
      "loglevel=3",
      "disable-syslog=yes",
      "security-poll-suffix=", // Or it asks the internet about its version.
      "daemon=no",
      "guardian=no",
      "write-pid=no",
    ]);
    return [`--config-dir=${folder}`];
  },
};

export const dnsPeers: readonly DnsPeer[] = [nsd, knot, bind, pdns];

function versionOf(name: string, program: string, flag: string): string | null {
  const { status, stdout, stderr } = spawnSync(program, [flag], { env: { PATH } });
  if (status === null) return null;
  // PowerDNS begins with the date, and tells its version on the error stream.
  const version = /\b(?:version|BIND|Server) (\d+(?:\.\d+)*)/.exec(
    `${String(stdout)}${String(stderr)}`,
  );
  return version === null ? name : `${name} ${version[1]}`;
}

function write(folder: string, file: string, lines: readonly string[]): string {
  const path = join(folder, file);
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}
