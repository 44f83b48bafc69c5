/** A request to speak another protocol on its connection, sent on to whoever answers: WebSocket. */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { ResponseHead } from "#http";
import { responseHeaders } from "./forwarded.ts";
import { failure, headOf, type Onward, type Passage } from "./onward.ts";

/** From the wish for another protocol to its answer. */
const UPGRADE_MS = 60_000;

export function upgradeOn(
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
  onward: Onward,
): Promise<Passage> {
  if (socket.destroyed) return Promise.resolve({ kind: "left" }); // Its end would not be heard again.
  return new Promise((resolve) => {
    let status = 0;
    let isOver = false;
    /** From here on the connection to the other side is somebody else's, and this one may go on there. */
    const leave = () => {
      isOver = true;
      clearTimeout(late);
      socket.off("close", left);
    };
    const left = () => {
      exchange.abort();
      leave();
      resolve({ kind: "left" });
    };
    const goOn = () => isOver || exchange.resume();
    const exchange = onward.upstream.send(
      request.method!,
      headOf(request, onward),
      {
        head: (answer) => {
          status = answer.status;
          clearTimeout(late);
          socket.write(rawHead(answer, onward.requestId), "latin1");
        },
        // The other side would rather answer as usual.
        data: (octets) => {
          if (socket.write(octets)) return;
          exchange.pause();
          if (socket.listenerCount("drain", goOn) === 0) socket.once("drain", goOn);
        },
        end: () => {
          leave();
          socket.end();
          resolve({ kind: "answered", status });
        },
        fail: (cause, answered) => {
          leave();
          if (answered) socket.destroy();
          resolve(failure(request, cause, answered));
        },
        switched: (other, first) => {
          leave();
          socket.write(first);
          other.write(head);
          join(socket, other, () => resolve({ kind: "answered", status }));
        },
      },
      true,
    );
    exchange.finish();
    // Nothing is read of the client until it has its answer, so its end would not be seen.
    const late = setTimeout(() => socket.destroy(), UPGRADE_MS);
    socket.once("close", left);
  });
}

/** Two connections that end together. */
function join(one: Duplex, other: Socket, onEnd: () => void): void {
  const end = () => {
    one.destroy();
    other.destroy();
    onEnd();
  };
  for (const socket of [one, other]) socket.on("error", end).on("close", end);
  one.pipe(other);
  other.pipe(one);
}

function rawHead({ status, reason, headers }: ResponseHead, requestId: string): string {
  const passed = responseHeaders(headers, requestId);
  const lines = [`HTTP/1.1 ${status} ${reason}`];
  for (let i = 0; i < passed.length; i += 2) lines.push(`${passed[i]}: ${passed[i + 1]}`);
  if (status === 101) lines.push("Connection: Upgrade", `Upgrade: ${valueOf(headers, "upgrade")}`);
  else lines.push("Connection: close");
  return `${lines.join("\r\n")}\r\n\r\n`;
}

function valueOf(headers: readonly string[], name: string): string {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]!.toLowerCase() === name) return headers[i + 1]!;
  }
  return "";
}
