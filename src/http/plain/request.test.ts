import assert from "node:assert/strict";
import { once } from "node:events";
import { Socket } from "node:net";
import { suite, test } from "node:test";
import { readHead } from "./head.ts";
import { PlainRequest } from "./request.ts";

function requestWith(body: string): PlainRequest {
  const head = readHead(Buffer.from("PUT / HTTP/1.1\r\nHost: x\r\n\r\n"), 1024);
  assert.ok(head !== null && head !== "more");
  return new PlainRequest(head, body === "" ? null : Buffer.from(body), new Socket());
}

suite("a plain request's body", () => {
  test("is told by events, to who pauses it too", async () => {
    const request = requestWith("octets");
    const got: unknown[] = [];
    request.on("data", (octets) => got.push(String(octets))).pause();
    await new Promise(setImmediate);
    assert.deepEqual(got, []);
    const ended = once(request as never, "end");
    request.resume();
    await ended;
    assert.deepEqual(got, ["octets"]);
  });

  test("ends where there is none", async () => {
    const request = requestWith("");
    request.on("data", () => assert.fail("There is nothing"));
    await once(request as never, "end");
  });

  for (const [name, iterate] of Object.entries({
    "at once": (request: PlainRequest) => request,
    "when events were asked for before": (request: PlainRequest) => request.pause().iterator(),
  })) {
    test(`can be iterated ${name}`, async () => {
      for (const body of ["octets", ""]) {
        const got = await Array.fromAsync({
          [Symbol.asyncIterator]: () => iterate(requestWith(body))[Symbol.asyncIterator](),
        });
        assert.equal(Buffer.concat(got).toString(), body);
      }
    });
  }
});
