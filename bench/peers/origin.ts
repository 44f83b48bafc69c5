/** The origin behind every edge that is measured: fixed answers as bytes, at less than a proxy's cost. */
import { createServer } from "node:net";

/** Where it listens: the edge asks it on the port that clients name, which must be one for the web. */
export interface OriginTask {
  readonly host: string;
  readonly port: number;
}

const HEAD_END = "\r\n\r\n";

/** By path. Caches may keep them for longer than any run takes; without a date, from when they came. */
const ANSWERS = new Map([
  ["/small", answerOf(1024)],
  ["/large", answerOf(1024 ** 2)],
]);

const { host, port } = JSON.parse(process.argv[2]!) as OriginTask;
const server = createServer({ noDelay: true }, (socket) => {
  let head = "";
  socket.on("data", (chunk) => {
    head += chunk.toString("latin1");
    // No proxy here sends a second request before the first is answered.
    if (!head.endsWith(HEAD_END)) return;
    const [, path] = head.split(" ", 2);
    head = "";
    const answer = ANSWERS.get(path!);
    if (answer === undefined) socket.destroy();
    else socket.write(answer);
  });
  socket.on("error", () => {}); // A proxy that is stopped resets what it holds.
});
server.listen(port, host, () => {
  const address = `http://${host}:${port}`;
  process.stdout.write(`${JSON.stringify({ event: "ready", address })}\n`);
});
process.on("SIGTERM", () => process.exit(0));

function answerOf(octets: number): Buffer {
  const head = [
    "HTTP/1.1 200 OK",
    "Content-Type: text/plain",
    `Content-Length: ${octets}`,
    "Cache-Control: public, max-age=86400",
  ];
  return Buffer.from(head.join("\r\n") + HEAD_END + "x".repeat(octets));
}
