/** The client of the contract: asks over a socket of its own and matches replies by number. */
import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { isIPv6 } from "node:net";
import type { HostPort } from "#kit/address.ts";
import { PATIENCE_MS } from "../../../test/support/patience.ts";
import { commandNames, HEAD_OCTETS } from "./echo.contract.ts";

export interface Reply {
  readonly body: Buffer;
  readonly text: string;
  readonly from: RemoteInfo;
}

export interface Asker extends Disposable {
  readonly port: number;
  /** Rejects when no reply has come in time. */
  ask(command: string, body?: Uint8Array, patienceMs?: number): Promise<Reply>;
  /** Asks until there is a reply. */
  insist(command: string): Promise<Reply>;
  /** Sends, and expects nothing. Resolves when the datagram is out. */
  tell(command: string): Promise<void>;
}

/** `host` is whom to ask when the server listens on all addresses. */
export async function makeAsker(server: HostPort, host = server.host): Promise<Asker> {
  const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
  socket.bind();
  await once(socket, "listening");
  const waiting = new Map<number, (reply: Reply) => void>();
  let lastId = 0;
  socket.on("message", (message, from) => {
    const body = message.subarray(HEAD_OCTETS);
    waiting.get(message.readUInt32BE(1))?.({ body, text: body.toString(), from });
  });
  const send = (command: string, body: Uint8Array, onSent?: () => void): number => {
    const head = Buffer.alloc(HEAD_OCTETS);
    head[0] = commandNames.indexOf(command);
    head.writeUInt32BE(++lastId, 1);
    socket.send([head, body], server.port, host, onSent);
    return lastId;
  };
  const ask: Asker["ask"] = (command, body = new Uint8Array(0), patienceMs = PATIENCE_MS) => {
    const id = send(command, body);
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`No reply to ${command}`)), patienceMs);
      late.unref(); // The open socket is what keeps the process waiting.
      waiting.set(id, (reply) => {
        clearTimeout(late);
        resolve(reply);
      });
    });
  };
  return {
    port: socket.address().port,
    ask,
    async insist(command) {
      for (let waitMs = 100; waitMs < PATIENCE_MS; waitMs *= 2) {
        const reply = await ask(command, undefined, waitMs).catch(() => null);
        if (reply !== null) return reply;
      }
      throw new Error(`No reply to ${command}, however often asked`);
    },
    tell: (command) => new Promise((sent) => send(command, new Uint8Array(0), sent)),
    [Symbol.dispose]: () => void socket.close(),
  };
}
