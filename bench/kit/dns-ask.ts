/** Asks a nameserver over UDP, to see when it is there and whether its answers are right. */
import { createSocket } from "node:dgram";
import { setTimeout as sleep } from "node:timers/promises";
import { type Answer, decode, type DecodedPacket, encode, type RecordType } from "dns-packet";
import { line, type Sample, TTL_SECONDS } from "./dns-zone.ts";

/** How often a server that starts is asked: what a start is measured to. */
const LOOK_MS = 5;

/** A million names take the slowest peer some ten seconds, and a minute on a busy machine. */
export const START_TIMEOUT_MS = 120_000;

/** On loopback a datagram is lost only when a server is busy, and here it has nothing else to do. */
const ANSWER_MS = 2_000;

/** A port of 127.0.0.1 that is asked one question at a time. */
class Asker implements Disposable {
  readonly #socket = createSocket("udp4");
  readonly #port: number;
  #id = 0;

  constructor(port: number) {
    this.#port = port;
  }

  /** The answer, or null when none came in time. */
  async ask({ name, type }: Sample, withinMs: number): Promise<DecodedPacket | null> {
    const id = (this.#id = (this.#id + 1) & 0xffff);
    const { promise, resolve } = Promise.withResolvers<DecodedPacket | null>();
    const hear = (bytes: Buffer) => {
      if (bytes.readUInt16BE(0) === id) resolve(decode(bytes)); // Else an answer that came late.
    };
    const timer = setTimeout(() => resolve(null), withinMs);
    this.#socket.on("message", hear);
    const questions = [{ name: name.slice(0, -1), type: type as RecordType }];
    this.#socket.send(encode({ type: "query", id, questions }), this.#port, "127.0.0.1");
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#socket.off("message", hear);
    }
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

/**
 * Waits until a server gives the right answer to all of these, or any answer to any question when
 * there are none. `failure` tells when to wait no longer.
 */
export async function untilAnswering(
  port: number,
  samples: readonly Sample[],
  failure: () => string | null,
): Promise<void> {
  using asker = new Asker(port);
  const deadline = performance.now() + START_TIMEOUT_MS;
  const open: (Sample | null)[] = samples.length === 0 ? [null] : [...samples];
  while (open.length > 0) {
    const why = performance.now() > deadline ? "it did not answer in time" : failure();
    if (why !== null) throw new Error(why);
    const asked = performance.now();
    const sample = open[0] ?? null;
    const packet = await asker.ask(sample ?? NOTHING, LOOK_MS);
    if (packet !== null && (sample === null || difference(packet, sample) === null)) open.shift();
    else await sleep(Math.max(1, LOOK_MS - (performance.now() - asked)));
  }
}

/** A question for a server that has no zones yet. */
const NOTHING: Sample = { name: "nothing.example.", type: "A", rcode: "NOERROR", answer: [] };

/** Throws unless each is answered right: response code, and the answer section as a set. */
export async function checkAnswers(port: number, samples: readonly Sample[]): Promise<void> {
  using asker = new Asker(port);
  for (const sample of samples) {
    const packet = await asker.ask(sample, ANSWER_MS);
    const fault = packet === null ? "no answer" : difference(packet, sample);
    if (fault !== null) throw new Error(`Wrong answer to ${sample.name} ${sample.type}: ${fault}`);
  }
}

function difference(packet: DecodedPacket, sample: Sample): string | null {
  // The types of dns-packet leave it out.
  const { rcode } = packet as DecodedPacket & { rcode: string };
  const got = [rcode, ...(packet.answers ?? []).map(showAnswer).sort()].join("\n");
  const due = [sample.rcode, ...sample.answer.map(line).sort()].join("\n");
  return got === due ? null : `got\n${got}\ninstead of\n${due}`;
}

/** In the form of a line of the zone file. */
function showAnswer(answer: Answer): string {
  const name = `${answer.name}.`;
  const { type } = answer;
  if (answer.type !== "OPT" && answer.ttl !== TTL_SECONDS) return `${name} with another TTL`;
  return line({ name, type, data: showData(answer) });
}

function showData(answer: Answer): string {
  switch (answer.type) {
    case "A":
    case "AAAA":
      return answer.data;
    case "CNAME":
      return `${answer.data}.`;
    case "MX":
      return `${answer.data.preference} ${answer.data.exchange}.`;
    case "SRV": {
      const { priority, weight, port, target } = answer.data;
      return `${priority} ${weight} ${port} ${target}.`;
    }
    case "TXT":
      return [answer.data]
        .flat()
        .map((text) => `"${String(text)}"`)
        .join(" ");
    default:
      return "of a type that was not asked for";
  }
}
