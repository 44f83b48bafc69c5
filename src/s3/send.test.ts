import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { sendLast } from "./send.ts";

test("octets that cannot be read are told to whoever sends the last answer", async (t) => {
  const served = Promise.withResolvers<unknown>();
  const answer = async (response: ServerResponse) => {
    const rest = (async function* () {
      yield Buffer.from("some");
      throw new Error("The disk is broken");
    })();
    const body = { length: 100, first: new Uint8Array(0), rest };
    await sendLast(response, { body }, [], "an id");
  };
  const server = createServer((_, response) => {
    answer(response).then(served.resolve, (error: unknown) => {
      served.resolve(error);
      response.destroy();
    });
  });
  t.after(() => server.close().closeAllConnections());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const asking = request({ port, host: "127.0.0.1", headers: { "content-length": "100000" } });
  asking.on("error", () => {}).flushHeaders();
  assert.match(String(await served.promise), /The disk is broken/);
});
