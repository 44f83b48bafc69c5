/** Ceph's S3 server as a peer: radosgw with a cluster of its own, a monitor and one OSD, all on loopback. */
import { spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePorts } from "../../test/support/free-ports.ts";
import { launch } from "./contender.ts";
import { PATH } from "./dns-peers.ts";
import type { Leftovers } from "./leftovers.ts";
import { overS3, type S3Contender } from "./s3-contenders.ts";
import { KEY, type S3Sdk } from "./s3-site.ts";

export const RADOSGW = "radosgw";
export const RADOSGW_PACKAGES = "radosgw ceph-mon ceph-osd ceph-common";

const PROGRAMS = ["ceph-mon", "ceph-osd", "ceph", "ceph-conf", "radosgw-admin", RADOSGW];

/** It makes its pools one after the other, some seconds each. */
const START_TIMEOUT_MS = 180_000;

/** What large puts replaced stays for two hours. The file has holes: it takes of the disk what was written. */
const BLOCK_OCTETS = 32 * 1024 ** 3;

/** Null when it is not installed. */
export function radosgw(leftovers: Leftovers, sdk: S3Sdk): S3Contender | null {
  const versions = PROGRAMS.map(versionOf);
  if (versions.includes(null)) return null;
  return {
    key: RADOSGW,
    name: `radosgw ${versions[0]} with its OSD`,
    async start() {
      const folder = await leftovers.folder();
      const [monitor, door] = (await freePorts(2)) as [number, number];
      return launch(leftovers, {
        spawn: () =>
          spawn("bash", ["-c", script(door)], {
            cwd: folder,
            env: { ...process.env, PATH, CEPH_CONF: configured(folder, monitor, door) },
            stdio: ["ignore", "pipe", "pipe"],
          }),
        door: "address",
        folders: [folder],
        timeoutMs: START_TIMEOUT_MS,
      });
    },
    ...overS3(sdk),
  };
}

function versionOf(program: string): string | null {
  const { status, stdout } = spawnSync(program, ["--version"], { env: { PATH } });
  return status === 0 ? (/version (\S+)/.exec(String(stdout))?.[1] ?? "") : null;
}

/**
 * One process that starts the others, so that they count as one server; the kernel kills them when it ends.
 * There is no manager: it would add statistics, and their CPU time.
 */
function script(door: number): string {
  const osd = randomUUID();
  const { accessKeyId, secretAccessKey } = KEY;
  return `
    set -e
    run() { exec setpriv --pdeathsig KILL "$@"; }
    (run ceph-mon -i a --mkfs)
    run ceph-mon -i a -f &
    (run ceph osd new ${osd})
    (run ceph-osd -i 0 --mkfs --osd-uuid ${osd})
    run ceph-osd -i 0 -f &
    (run radosgw-admin user create --uid bench --display-name bench \
      --access-key ${accessKeyId} --secret-key ${secretAccessKey})
    run radosgw -f &
    until (: < /dev/tcp/127.0.0.1/${door}) 2> /dev/null; do kill -0 $!; sleep 0.1; done
    echo '{"event":"ready","address":"http://127.0.0.1:${door}"}'
    wait -n
  `;
}

/** Caches, threads and syncs are at their defaults. What it is spared: logs, keys among its parts, a second copy. */
function configured(folder: string, monitor: number, door: number): string {
  const path = join(folder, "ceph.conf");
  for (const name of ["mon", "osd", "rgw"]) mkdirSync(join(folder, name));
  const lines = [
    "[global]",
    `fsid = ${randomUUID()}`,
    `mon_host = v2:127.0.0.1:${monitor}`,
    ...["public", "cluster"].map((side) => `${side}_addr = 127.0.0.1`),
    ...["cluster", "service", "client"].map((side) => `auth_${side}_required = none`),
    "ms_mon_client_mode = crc", // radosgw's default needs a key that was agreed upon.
    "osd_pool_default_size = 1",
    `bluestore_block_size = ${BLOCK_OCTETS}`,
    `rgw_frontends = beast endpoint=127.0.0.1:${door}`,
    ...["mon", "osd", "rgw"].map((name) => `${name}_data = ${folder}/${name}`),
    ...["run_dir", "crash_dir"].map((name) => `${name} = ${folder}`),
    "admin_socket =",
    "log_to_file = false",
    ...silenced(),
    "[mon]",
    `public_addr = v2:127.0.0.1:${monitor}`,
  ];
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

/** Each part of Ceph has a level for what it writes and one for what it keeps in memory. */
function silenced(): string[] {
  const { stdout } = spawnSync("ceph-conf", ["--show-config"], { encoding: "utf8" });
  const names = stdout.matchAll(/^(debug_\w+) = \d+\/\d+$/gm);
  return Array.from(names, ([, name]) => `${name} = 0/0`);
}
