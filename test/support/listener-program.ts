/** A program that answers HTTP, and prints where, and whether its connections go by the thread's own loop. */
import { threadLoop } from "../../src/http/loop/loop.ts";
import { listenForTest } from "./http-listener.ts";

const listener = await listenForTest({
  isSecure: false,
  handle: (request, response) => void response.end(`<${request.url}>`),
});
const hasLoop = (await threadLoop()) !== null;
console.log(JSON.stringify({ port: listener.address.port, hasLoop }));
process.once("SIGTERM", () => void listener[Symbol.asyncDispose]());
