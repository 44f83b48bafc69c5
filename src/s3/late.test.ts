import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { parseXml } from "#kit/xml.ts";
import { errorDocument } from "./errors.ts";
import { S3Fault } from "./fault.ts";
import { sendLate, unlessLate } from "./late.ts";
import { type S3Answer, xmlAnswer } from "./operation.ts";
import { xmlDocument } from "./xml/write.ts";

const SOON_MS = 5;
const done = xmlAnswer(xmlDocument("CopyObjectResult", "<ETag>1</ETag>"));

test("what is done in time is answered as it is, and what fails in time fails", async () => {
  assert.equal(await unlessLate(Promise.resolve(done)), done);
  assert.equal(await unlessLate(done), done);
  const fault = new S3Fault("NoSuchKey");
  await assert.rejects(
    async () => unlessLate(Promise.reject(fault)),
    (error) => error === fault,
  );
});

/** What a client sees of work that ends when it has seen that it must wait. */
async function waitedFor(outcome: S3Answer | Error): Promise<{ text: string; told: S3Answer }> {
  const work = Promise.withResolvers<S3Answer>();
  const told = Promise.withResolvers<S3Answer>();
  const place = { resource: "/b/k", requestId: "1", hostId: "2" };
  const refused = (fault: S3Fault) => ({ status: 404, body: errorDocument(fault, place) });
  const answer = async (response: ServerResponse) => {
    const { late } = await unlessLate(work.promise, SOON_MS);
    return sendLate(response, late!.catch(refused), ["x-amz-request-id", "1"], SOON_MS);
  };
  const server = createServer((_, response) => told.resolve(answer(response)));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const { port } = server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${port}/`);
    assert.equal(response.status, 200);
    assert.equal(response.headers.get("x-amz-request-id"), "1");
    let text = "";
    for await (const octets of response.body!) {
      text += Buffer.from(octets).toString();
      if (!text.endsWith(" ")) continue;
      if (outcome instanceof Error) work.reject(outcome);
      else work.resolve(outcome);
    }
    return { text, told: await told.promise };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("what takes long keeps the client waiting with blanks, between the declaration and the document", async () => {
  const { text, told } = await waitedFor(done);
  assert.match(text, /^<\?xml [^>]*>\n +<CopyObjectResult /);
  assert.equal(parseXml(text).children[0]!.text, "1");
  assert.equal(told, done);
});

test("what fails late says so in the document, since the status has gone out", async () => {
  const { text, told } = await waitedFor(new S3Fault("NoSuchKey"));
  assert.match(text, /^<\?xml [^>]*>\n +<Error><Code>NoSuchKey<\/Code>/);
  assert.equal(told.status, 404);
});
