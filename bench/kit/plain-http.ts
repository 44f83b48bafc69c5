/** The plain node:http server of `bench/peers` as a contender, and how it is made to answer like us. */
import assert from "node:assert/strict";
import type { PlainReply } from "../peers/plain-http.ts";
import type { Contender } from "./contender.ts";
import type { HttpAnswer } from "./http-exchange.ts";
import type { Leftovers } from "./leftovers.ts";
import { peer } from "./peer.ts";

const PROGRAM = new URL("../peers/plain-http.ts", import.meta.url);

/** Headers that node:http adds by itself, for the peer as for us. */
const ADDED = new Set(["date", "connection", "keep-alive"]);

export function plainHttp(
  leftovers: Leftovers,
  options: { readonly cache?: string; readonly task?: PlainReply },
): Contender {
  return peer(leftovers, { name: "plain node:http", program: PROGRAM, ...options });
}

/** What the peer has to be told to send the same answer. */
export function replyLike({ headers, body }: HttpAnswer): PlainReply {
  const keepAlive = headers.find(([name]) => name.toLowerCase() === "keep-alive")?.[1];
  return {
    headers: Object.fromEntries(headers.filter(([name]) => !ADDED.has(name.toLowerCase()))),
    body,
    keepAliveSeconds: Number(/timeout=(\d+)/.exec(keepAlive ?? "")?.[1] ?? 0),
  };
}

/** Two answers may differ in their dates and in nothing else. */
export function assertAlike(actual: HttpAnswer, expected: HttpAnswer): void {
  assert.deepEqual(undated(actual), undated(expected));
}

function undated({ headers, body }: HttpAnswer): HttpAnswer {
  return {
    headers: headers.map(([name, value]) => [name, name === "Date" ? "" : value]),
    body,
  };
}
