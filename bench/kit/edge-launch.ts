/** Starts an edge of Debian's and waits until it answers. */
import { spawn } from "node:child_process";
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { selfSigned } from "../../src/kit/self-signed.ts";
import { freePorts } from "../../test/support/free-ports.ts";
import type { Contender, Running } from "./contender.ts";
import { PATH } from "./dns-peers.ts";
import type { EdgePeer } from "./edge-peers.ts";
import { HOSTS, ORIGIN, PATHS } from "./edge-site.ts";
import { askHttp, requestText } from "./http-exchange.ts";
import type { Leftovers } from "./leftovers.ts";

/** Its ready line names the doors `edge` and `edge_tls`. */
export interface EdgeContender extends Contender {
  readonly key: string;
}

const START_TIMEOUT_MS = 10_000;
const LOOK_MS = 20;
const DAY_MS = 86_400_000;

export function edgePeer(leftovers: Leftovers, peer: EdgePeer, name: string): EdgeContender {
  return {
    key: peer.key,
    name,
    async start(): Promise<Running> {
      await using undo = new AsyncDisposableStack(); // If the start fails, stops what was started.
      const folder = await leftovers.folder();
      undo.defer(() => leftovers.remove(folder));
      const [http, https] = (await freePorts(2)) as [number, number];
      const args = peer.configure({
        folder,
        http,
        https,
        origin: `${ORIGIN.host}:${ORIGIN.port}`,
        cachedHost: HOSTS.cached,
        ...newCertificate(),
      });
      const began = performance.now();
      const child = spawn(peer.program, args, {
        cwd: folder,
        env: { ...process.env, PATH },
        stdio: ["ignore", "ignore", "inherit"],
      });
      leftovers.track(child);
      undo.defer(() => leftovers.stop(child));
      const address = `http://127.0.0.1:${http}`;
      await untilAnswering(address, name);
      const startMs = performance.now() - began;
      const all = undo.move();
      return {
        pid: child.pid!,
        address,
        ready: { edge: address, edge_tls: `https://127.0.0.1:${https}` },
        startMs,
        [Symbol.asyncDispose]: () => all.disposeAsync(),
      };
    },
  };
}

/** On P-256, as ours has it. */
function newCertificate(): { certificate: string; privateKey: string } {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const certificate = selfSigned({
    privateKey,
    names: Object.values(HOSTS),
    addresses: [],
    serial: randomBytes(8),
    validFrom: Date.now() - DAY_MS,
    validUntil: Date.now() + DAY_MS,
  });
  return { certificate, privateKey: privateKey.export({ type: "pkcs8", format: "pem" }) };
}

async function untilAnswering(address: string, name: string): Promise<void> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    try {
      await askHttp(address, requestText(PATHS.small, { Host: HOSTS.proxied }));
      return;
    } catch (cause) {
      if (performance.now() > deadline) throw new Error(`${name} did not answer`, { cause });
      await sleep(LOOK_MS);
    }
  }
}
