/** One request and its answer, byte for byte, over a connection of its own. */
import { connect } from "node:net";
import { ResponseReader } from "./response-reader.ts";

export interface HttpAnswer {
  /** As they came, in their order and spelling. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
}

const TIMEOUT_MS = 5_000;

/** A GET in bytes. The host is a fixed one, so that servers on different ports get the same. */
export function requestText(path: string, headers: Readonly<Record<string, string>>): string {
  const all = { Host: "bench.test", ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return `GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

export async function askHttp(address: string, request: string): Promise<HttpAnswer> {
  const { hostname: host, port } = new URL(address);
  const socket = connect({ host, port: Number(port) });
  socket.setTimeout(TIMEOUT_MS, () => socket.destroy(new Error(`No answer from ${address}`)));
  socket.write(request);
  const reader = new ResponseReader();
  const chunks: Buffer[] = [];
  // Leaving the loop destroys the socket.
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    if (reader.take(chunk, chunk.length) > 0) return readAnswer(Buffer.concat(chunks));
  }
  throw new Error(`${address} closed the connection before its answer was whole`);
}

function readAnswer(bytes: Buffer): HttpAnswer {
  const text = bytes.toString();
  const headEnd = text.indexOf("\r\n\r\n");
  const [, ...lines] = text.slice(0, headEnd).split("\r\n");
  const headers = lines.map((line) => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon), line.slice(colon + 1).trim()] as const;
  });
  return { headers, body: text.slice(headEnd + 4) };
}
