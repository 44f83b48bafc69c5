/**
 * A responder that tests of a transport put in the place of the real one. The first letter of the
 * asked name says what it does; most names have an A record that tells who asked.
 */
import { type Client, DEFERRED, type ResponderSettings } from "../../src/nameserver/responder.ts";
import type { StreamResponder } from "../../src/nameserver/streams/messages.ts";

const HEADER = 12;
const TYPE = { A: 1, NULL: 10 } as const;
/** A pointer to the question's name, the type, the class, the TTL, the length of the data. */
const FIXED = 12;
/** Of a large answer; every octet is the last of the query's ID. */
const bigData = new Uint8Array(60_000);

/** What a test gives in the place of settings. */
export interface TrivialSettings {
  /** The first octet of the addresses in answers. */
  readonly mark: number;
}

export function connect(): (settings: ResponderSettings) => StreamResponder {
  return (settings) => new TrivialResponder(settings as unknown as TrivialSettings);
}

class TrivialResponder implements StreamResponder {
  readonly #data: Uint8Array;

  constructor({ mark }: TrivialSettings) {
    this.#data = Uint8Array.of(mark, 0, 0, 0);
  }

  begin(): void {}
  end(): void {}

  respond(
    query: Uint8Array,
    start: number,
    _length: number,
    client: Client,
    reply: Uint8Array,
    at: number,
  ): number {
    switch (String.fromCharCode(query[start + HEADER + 1]!)) {
      case "l": // later
        return DEFERRED;
      case "n": // none
        return 0;
      case "t": // throw
        throw new Error("The responder threw");
      case "d": // die
        process.exit(1);
    }
    const end = copyQuestion(query, start, reply, at);
    if (query[start + HEADER + 1] === 0x62)
      return end + addRecord(reply, at + end, TYPE.NULL, bigData.fill(query[start + 1]!)); // big
    this.#data[1] = client.transport;
    this.#data[2] = client.port >> 8;
    this.#data[3] = client.port;
    return end + addRecord(reply, at + end, TYPE.A, this.#data);
  }
}

/** Makes the head of an answer with one record; returns its length. */
function copyQuestion(query: Uint8Array, start: number, reply: Uint8Array, at: number): number {
  let end = start + HEADER;
  while (query[end]! > 0) end += query[end]! + 1;
  end += 5; // The root label, type and class.
  for (let from = start, to = at; from < end; from++, to++) reply[to] = query[from]!;
  reply[at + 2] = 0x84; // A response, authoritative.
  reply[at + 3] = 0;
  reply[at + 7] = 1;
  reply[at + 11] = 0; // No OPT.
  return end - start;
}

function addRecord(reply: Uint8Array, at: number, type: number, data: Uint8Array): number {
  reply[at] = 0xc0;
  reply[at + 1] = HEADER;
  reply[at + 2] = 0;
  reply[at + 3] = type;
  reply[at + 4] = 0;
  reply[at + 5] = 1;
  reply[at + 6] = reply[at + 7] = reply[at + 8] = 0;
  reply[at + 9] = 60;
  reply[at + 10] = data.length >> 8;
  reply[at + 11] = data.length;
  reply.set(data, at + FIXED);
  return FIXED + data.length;
}
