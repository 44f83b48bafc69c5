/** Who is measured over S3: our door, an S3 server from npm, nginx with the same octets as files, and any other. */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { S3Client } from "../../test/clients/s3.ts";
import { freePorts } from "../../test/support/free-ports.ts";
import { type Contender, launch, type Running } from "./contender.ts";
import { PATH } from "./dns-peers.ts";
import { nginxName } from "./edge-peers.ts";
import type { Leftovers } from "./leftovers.ts";
import {
  BUCKET,
  fillBucket,
  KEY,
  keysOf,
  octetsOf,
  REGION,
  type S3Sdk,
  type S3Workload,
  SIZES,
  signedPaths,
} from "./s3-site.ts";
import { selvedge } from "./selvedge.ts";

export interface S3Key {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface S3Contender extends Contender {
  readonly key: string;
  /** What it knows its clients by. */
  readonly credentials: S3Key;
  /** Whether it can be asked for this. */
  can(action: S3Workload["action"]): boolean;
  /** Puts what is read into it; asked once after each start. */
  fill(running: Running): Promise<void>;
  pathsOf(running: Running, workload: S3Workload): Promise<readonly string[]>;
}

export const OURS = "selvedge";
export const NGINX = "nginx";
export const OTHER = "other";

/** Doors that are not asked would cost memory and threads. */
const ARGS = ["--dns", "off", "--edge", "off", "--edge-tls", "off", "--s3", "127.0.0.1:0"];

export function selvedgeS3(
  leftovers: Leftovers,
  sdk: S3Sdk,
  args: readonly string[] = [],
): S3Contender {
  const env = {
    SELVEDGE_BOOTSTRAP_S3_ACCESS_KEY_ID: KEY.accessKeyId,
    SELVEDGE_BOOTSTRAP_S3_SECRET_ACCESS_KEY: KEY.secretAccessKey,
  };
  const server = selvedge(leftovers, { door: "s3", args: [...ARGS, ...args], env });
  return { ...server, key: OURS, ...overS3(sdk) };
}

/** s3rver keeps files and syncs none. It is what the blob driver's tests use. */
export function s3rver(leftovers: Leftovers, sdk: S3Sdk): S3Contender {
  const clients = fileURLToPath(new URL("../../test/clients", import.meta.url));
  const program = `
    const S3rver = require("@20minutes/s3rver");
    new S3rver({ ...JSON.parse(process.argv[1]), port: 0, address: "127.0.0.1", silent: true }).run()
      .then(({ port }) => console.log(JSON.stringify({ event: "ready", address: "http://127.0.0.1:" + port })));
    process.on("SIGTERM", () => process.exit());
  `;
  return {
    key: "s3rver",
    name: "s3rver",
    async start() {
      const folder = await leftovers.folder();
      const options = {
        directory: folder,
        configureBuckets: [{ name: BUCKET }],
        allowMismatchedSignatures: true, // It reckons some of the SDK's wrongly; it reckons them still.
      };
      // Its list tokens are encrypted with a cipher that OpenSSL has retired.
      const args = ["--openssl-legacy-provider", "-e", program, JSON.stringify(options)];
      return launch(leftovers, {
        spawn: () => spawn(process.execPath, args, { cwd: clients }),
        door: "address",
        folders: [folder],
      });
    },
    ...overS3(sdk),
  };
}

/** A server that runs already, such as Ceph's radosgw; its CPU time is found by its process, if that is given. */
export function otherServer(sdk: S3Sdk, address: string, pid: number | null): S3Contender {
  return {
    key: OTHER,
    name: new URL(address).host,
    async start() {
      return { pid: pid ?? process.pid, address, startMs: 0, async [Symbol.asyncDispose]() {} };
    },
    ...overS3(sdk, keyOfEnvironment()),
  };
}

export function overS3(
  sdk: S3Sdk,
  credentials: S3Key = KEY,
): Pick<S3Contender, "can" | "fill" | "pathsOf" | "credentials"> {
  return {
    credentials,
    can: () => true,
    async fill(running) {
      using client = clientOf(sdk, running, credentials);
      const isThere = client.send(new sdk.S3.HeadBucketCommand({ Bucket: BUCKET })).then(
        () => true,
        () => false,
      );
      if (!(await isThere)) await client.send(new sdk.S3.CreateBucketCommand({ Bucket: BUCKET }));
      await fillBucket(sdk, client);
    },
    async pathsOf(running, workload) {
      using client = clientOf(sdk, running, credentials);
      return signedPaths(sdk, client, workload);
    },
  };
}

/** It would warn of each address that is signed before its body is known. */
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

export function clientOf({ S3 }: S3Sdk, { address }: Pick<Running, "address">, credentials: S3Key) {
  const client: S3Client = new S3.S3Client({
    endpoint: address,
    region: REGION,
    credentials,
    forcePathStyle: true,
    logger: SILENT,
  });
  return Object.assign(client, { [Symbol.dispose]: () => client.destroy() });
}

/** A server that runs already has keys of its own, which come as they do for every S3 tool. */
function keyOfEnvironment(): S3Key {
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret } = process.env;
  return id && secret ? { accessKeyId: id, secretAccessKey: secret } : KEY;
}

const LOOK_MS = 20;
const START_LOOKS = 500;

/** Null when it is not installed. It only reads: what it can is the limit for gets. */
export function nginxFiles(leftovers: Leftovers): S3Contender | null {
  const name = nginxName();
  if (name === null) return null;
  return {
    key: NGINX,
    name,
    credentials: KEY, // It asks for none.
    can: (action) => action === "get",
    async start() {
      await using undo = new AsyncDisposableStack(); // If the start fails, stops what was started.
      const folder = await leftovers.folder();
      undo.defer(() => leftovers.remove(folder));
      for (const size of SIZES) {
        const octets = octetsOf(size.octets);
        for (const key of keysOf({ action: "get", size })) {
          mkdirSync(dirname(join(folder, key)), { recursive: true });
          writeFileSync(join(folder, key), octets);
        }
      }
      const [port] = (await freePorts(1)) as [number];
      const child = spawn(NGINX, ["-p", folder, "-c", configured(folder, port), "-e", "stderr"], {
        cwd: folder,
        env: { ...process.env, PATH },
        stdio: ["ignore", "ignore", "inherit"],
      });
      leftovers.track(child);
      undo.defer(() => leftovers.stop(child));
      const address = `http://127.0.0.1:${port}`;
      for (let look = 0; !(await isUp(address)); look++) {
        if (look === START_LOOKS) throw new Error("nginx did not answer");
        await sleep(LOOK_MS);
      }
      const all = undo.move();
      const dispose = () => all.disposeAsync();
      return { pid: child.pid!, address, startMs: 0, [Symbol.asyncDispose]: dispose };
    },
    fill: async () => {},
    pathsOf: async (_, workload) => keysOf(workload).map((key) => `/${key}`),
  };
}

function configured(folder: string, port: number): string {
  const path = join(folder, "nginx.conf");
  const lines = [
    "daemon off; worker_processes 1; error_log stderr crit;",
    ...(process.getuid?.() === 0 ? ["user root;"] : []), // Another could not read the folder.
    `pid ${folder}/nginx.pid;`,
    "events { worker_connections 1024; }",
    "http { access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000000;",
    `server { listen 127.0.0.1:${port}; root ${folder}; } }`,
  ];
  writeFileSync(path, `${lines.join("\n")}\n`);
  return path;
}

async function isUp(address: string): Promise<boolean> {
  return fetch(address).then(
    () => true,
    () => false,
  );
}
