import assert from "node:assert/strict";
import { test } from "node:test";
import type { HostPort } from "#kit/address.ts";
import { listenFault } from "#kit/listen-fault.ts";
import { onSamePort } from "./same-port.ts";

/** UDP that picks the ports one after the other, and TCP that finds some of them taken. */
function twoDoors(ports: readonly number[], taken: readonly number[]) {
  const closed: number[] = [];
  const left = [...ports];
  const openUdp = async () => {
    const port = left.shift()!;
    return {
      address: { host: "127.0.0.1", port },
      [Symbol.asyncDispose]: async () => void closed.push(port),
    };
  };
  const openTcp = async (address: HostPort) => {
    const cause = { code: "EADDRINUSE", message: "taken" };
    if (taken.includes(address.port)) throw listenFault(address, "--dns", cause);
    return address.port;
  };
  return { closed, openUdp, openTcp };
}

test("where any port will do, one that is taken for TCP is left for another", async () => {
  const { closed, openUdp, openTcp } = twoDoors([5001, 5002, 5003], [5001, 5002]);
  const { udp, tcp } = await onSamePort({ host: "127.0.0.1", port: 0 }, openUdp, openTcp);
  assert.deepEqual([udp.address.port, tcp, closed], [5003, 5003, [5001, 5002]]);
});

test("where the port was chosen, it is that one or none", async () => {
  const { closed, openUdp, openTcp } = twoDoors([5001, 5002], [5001]);
  await assert.rejects(onSamePort({ host: "127.0.0.1", port: 5001 }, openUdp, openTcp), {
    message: /^Cannot listen on 127\.0\.0\.1:5001 \(--dns\)/,
  });
  assert.deepEqual(closed, [5001]);
});
