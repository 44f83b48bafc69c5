/** Starts NSD, a nameserver that is not ours, on zone files: what it answers is what ours should. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UdpClient } from "./dns-client.ts";
import { encodeQuery } from "./dns-message.ts";
import { freePorts } from "./free-ports.ts";
import { PATIENCE_MS } from "./patience.ts";

const NSD = "/usr/sbin/nsd";

export interface Nsd extends AsyncDisposable {
  /** `HOST:PORT` */
  readonly address: string;
}

/** @param zones Zone files by the name of the zone. */
export async function startNsd(zones: ReadonlyMap<string, string>): Promise<Nsd> {
  const folder = await mkdtemp(join(tmpdir(), "selvedge-nsd-"));
  const [port] = await freePorts(1);
  await writeFile(join(folder, "nsd.conf"), configuration(folder, port!, [...zones.keys()]));
  for (const [name, text] of zones) await writeFile(join(folder, `${name}.zone`), text);
  const child = spawn(NSD, ["-d", "-c", join(folder, "nsd.conf")], { stdio: "ignore" });
  const ended = once(child, "exit");
  const address = `127.0.0.1:${port}`;
  const end = async () => {
    child.kill(); // Not SIGKILL: it has children of its own to end.
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await untilItAnswers(address);
  } catch (error) {
    await end();
    throw error;
  }
  return { address, [Symbol.asyncDispose]: end };
}

function configuration(folder: string, port: number, zones: readonly string[]): string {
  const path = (name: string) => JSON.stringify(join(folder, name));
  return `server:
  ip-address: 127.0.0.1@${port}
  username: ""
  server-count: 1
  zonesdir: ${JSON.stringify(folder)}
  database: ""
  pidfile: ${path("nsd.pid")}
  xfrdfile: ${path("xfrd.state")}
  zonelistfile: ${path("zone.list")}
  minimal-responses: yes
  rrl-ratelimit: 0
  ipv4-edns-size: 1232
remote-control:
  control-enable: no
${zones.map((name) => `zone:\n  name: ${name}\n  zonefile: ${name}.zone\n`).join("")}`;
}

async function untilItAnswers(address: string): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  for (;;) {
    try {
      using client = await UdpClient.open(address);
      await client.ask(encodeQuery({ name: "ready.invalid", type: "A" }));
      return;
    } catch (cause) {
      if (Date.now() > until) throw new Error("NSD did not start", { cause });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
