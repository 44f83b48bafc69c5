/** A program that listens on its thread's own loop until somebody tells it to stop, and prints where. */
import { once } from "node:events";
import { createServer } from "node:net";
import { loopListener } from "../../src/http/loop/loop-listener.ts";

process.on("uncaughtException", () => {});
const server = createServer().listen(0, "127.0.0.1");
await once(server, "listening");
const { port } = server.address() as { port: number };
const listener = await loopListener(server, (socket) => {
  socket.on("end", () => socket.destroy());
  socket.on("data", (octets: Buffer) => {
    if (String(octets) !== "stop") throw new Error("A handler has thrown");
    listener?.[Symbol.dispose]();
    socket.destroy();
  });
});
server.close();
console.log(port);
