import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { requestOctets } from "./request-octets.ts";

const OCTETS = 1024 ** 2;

test("each piece of a body is good until the next is asked for, and its memory free from then on", async () => {
  const value = Buffer.from(Array.from({ length: OCTETS }, (_, i) => i % 251));
  const seen: Buffer[] = [];
  const pieces: Uint8Array[] = [];
  await using server = createServer((request, response) => {
    void (async () => {
      for await (const piece of requestOctets(request)) {
        seen.push(Buffer.from(piece));
        pieces.push(piece);
      }
      response.end();
    })();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  await (await fetch(`http://127.0.0.1:${port}/`, { method: "PUT", body: value })).text();
  assert.deepEqual(Buffer.concat(seen), value);
  const large = pieces.filter((_, i) => seen[i]!.length >= 16 * 1024);
  assert.ok(large.length > 0);
  assert.ok(large.every(({ length }) => length === 0));
});
