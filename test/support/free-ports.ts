/** Ports for programs that cannot say which one they took. */
import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";

/** Below those that systems give to whoever wants any: nobody gets one of these by chance meanwhile. */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** Ports of 127.0.0.1 that nobody listens on now, over TCP or UDP. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = randomInt(LOWEST, HIGHEST);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

async function isFree(port: number): Promise<boolean> {
  const tcp = createServer();
  const udp = createSocket("udp4");
  try {
    await once(tcp.listen(port, "127.0.0.1"), "listening");
    await once(udp.bind(port, "127.0.0.1"), "listening");
    return true;
  } catch {
    return false;
  } finally {
    tcp.close();
    udp.close();
  }
}
