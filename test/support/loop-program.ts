/** A program that listens on its thread's own loop until somebody writes to it, and prints where. */
import { once } from "node:events";
import { createServer } from "node:net";
import { loopListener } from "../../src/http/loop/loop-listener.ts";

const server = createServer().listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as { port: number };
const listener = await loopListener(server, (socket) => {
  socket.on("data", () => {
    listener?.[Symbol.dispose]();
    socket.destroy();
  });
});
server.close();
console.log(port);
