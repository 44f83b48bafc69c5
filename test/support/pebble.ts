/** Starts pebble: an ACME server (RFC 8555) that really looks into the DNS, at the server it is told. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { join } from "node:path";
import { type CertificateFiles, issueCertificate } from "./certificates.ts";
import { freePorts } from "./free-ports.ts";
import { PATIENCE_MS } from "./patience.ts";

const PEBBLE = "/usr/bin/pebble";

export interface Pebble extends AsyncDisposable {
  /** The directory that clients are pointed to. */
  readonly directory: string;
  /** Its root certificate and its intermediate one, as PEM. */
  issuers(): Promise<{ root: string; intermediate: string }>;
  /** What it has logged. */
  readonly log: { text: string };
}

/**
 * @param dns `HOST:PORT` of the nameserver that challenges are looked up at.
 * @param accounts MAC keys by id; when there are any, only these may open accounts. RFC 8555 §7.3.4.
 */
export async function startPebble(
  folder: string,
  authority: CertificateFiles,
  dns: string,
  accounts: Readonly<Record<string, string>> = {},
): Promise<Pebble> {
  const files = await issueCertificate(folder, authority, ["localhost", "127.0.0.1"]);
  const [port, managementPort] = await freePorts(2);
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: files.certificate,
    privateKey: files.key,
    // Where it would look for the other kinds of challenge; nobody is there.
    httpPort: 1,
    tlsPort: 1,
    ocspResponderURL: "",
    externalAccountBindingRequired: Object.keys(accounts).length > 0,
    externalAccountMACKeys: accounts,
  };
  const config = join(folder, `pebble-${port}.json`);
  await writeFile(config, JSON.stringify({ pebble }));
  const child = spawn(PEBBLE, ["-strict", "-config", config, "-dnsserver", dns], {
    // Challenges are looked up at once, and none is taken for granted.
    env: { PEBBLE_VA_NOSLEEP: "1", PEBBLE_AUTHZREUSE: "0" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = { text: "" };
  child.stdout.on("data", (chunk: Buffer) => (log.text += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (log.text += chunk.toString()));
  const ended = once(child, "exit");
  const end = async () => {
    child.kill("SIGKILL");
    await ended;
  };
  const ca = await readFile(authority.certificate);
  const get = (path: string) => fetchText(`https://127.0.0.1:${managementPort}${path}`, ca);
  try {
    await untilItAnswers(() => get("/roots/0"), ended);
  } catch (cause) {
    await end();
    throw new Error(`pebble did not start:\n${log.text}`, { cause });
  }
  return {
    directory: `https://localhost:${port}/dir`,
    log,
    issuers: async () => ({
      root: await get("/roots/0"),
      intermediate: await get("/intermediates/0"),
    }),
    [Symbol.asyncDispose]: end,
  };
}

async function untilItAnswers(ask: () => Promise<string>, ended: Promise<unknown>): Promise<void> {
  const until = Date.now() + PATIENCE_MS;
  let isOver = false;
  void ended.then(() => (isOver = true));
  for (;;) {
    try {
      await ask();
      return;
    } catch (error) {
      if (isOver || Date.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

function fetchText(url: string, ca: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    const call = request(url, { ca }, (response) => {
      let text = "";
      response.on("data", (chunk: Buffer) => (text += chunk.toString()));
      response.on("end", () => resolve(text));
      response.on("error", reject);
    });
    call.on("error", reject);
    call.end();
  });
}
