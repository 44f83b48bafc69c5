/** The least a node:http server can do: one fixed answer to whatever is asked. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface PlainReply {
  /** Beside those that node:http adds by itself: Date, Connection, Keep-Alive. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly keepAliveSeconds: number;
}

const DEFAULT_REPLY: PlainReply = {
  headers: { "Content-Type": "text/plain", "Content-Length": "3" },
  body: "ok\n",
  keepAliveSeconds: 5,
};

const [, , task] = process.argv;
const reply = task === undefined ? DEFAULT_REPLY : (JSON.parse(task) as PlainReply);
const server = createServer(
  { keepAliveTimeout: reply.keepAliveSeconds * 1000 },
  (_request, response) => {
    response.writeHead(200, reply.headers);
    response.end(reply.body);
  },
);
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(
    `${JSON.stringify({ event: "ready", address: `http://127.0.0.1:${port}` })}\n`,
  );
});
// Node writes its compile cache at an orderly exit only.
process.on("SIGTERM", () => process.exit(0));
