/** Loads a TLS server with full handshakes: no session is resumed, no request follows. */
import { once } from "node:events";
import { connect } from "node:tls";
import { Histogram } from "./histogram.ts";
import type { HttpResult } from "./http-load.ts";
import { serveJobs } from "./load-process.ts";

export interface HandshakeJob {
  readonly host: string;
  readonly port: number;
  readonly servername: string;
  readonly atOnce: number;
  readonly seconds: number;
}

async function loadHandshakes(job: HandshakeJob): Promise<HttpResult> {
  const latencies = new Histogram();
  const cpu = process.cpuUsage();
  const began = performance.now();
  const endsAt = began + job.seconds * 1000;
  const one = async () => {
    for (let from = began; from < endsAt;) {
      await shakeHands(job);
      const now = performance.now();
      latencies.record((now - from) * 1000);
      from = now;
    }
  };
  await Promise.all(Array.from({ length: job.atOnce }, one));
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  return {
    requests: latencies.total,
    seconds,
    p50Micros: latencies.quantile(0.5),
    p99Micros: latencies.quantile(0.99),
    loadShare: (user + system) / 1e6 / seconds,
  };
}

/** The same key exchange with everybody, whatever else a server would prefer. */
async function shakeHands({ host, port, servername }: HandshakeJob): Promise<void> {
  const options = {
    rejectUnauthorized: false,
    minVersion: "TLSv1.3",
    ecdhCurve: "X25519",
  } as const;
  const socket = connect({ host, port, servername, ...options });
  await once(socket, "secureConnect");
  socket.destroy();
}

if (import.meta.main) serveJobs(loadHandshakes);
