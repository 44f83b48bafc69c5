/** DNS over TCP and TLS, with the trivial responder behind it. */
import { decode, encode } from "dns-packet";
import { MessageChannel } from "node:worker_threads";
import { Log } from "../../src/kit/log.ts";
import type { ResponderSettings } from "../../src/nameserver/responder.ts";
import { defaultStreamLimits, type StreamLimits } from "../../src/nameserver/streams/limits.ts";
import {
  startStreams,
  type StreamOptions,
  type Streams,
} from "../../src/nameserver/streams/streams.ts";
import type { TrivialSettings } from "./trivial-responder.ts";

export interface TrivialOptions extends Partial<Omit<StreamOptions, "limits" | "settings">> {
  readonly limits?: Partial<StreamLimits>;
}

export interface TrivialStreams extends Streams {
  /** What was logged, a line each. */
  readonly logged: string[];
  /** Slots of the readers that were connected and not disconnected. */
  readonly readers: ReadonlySet<number>;
}

/** On any free port, unless told otherwise. */
export async function startTrivialStreams(options: TrivialOptions = {}): Promise<TrivialStreams> {
  const logged: string[] = [];
  const readers = new Set<number>();
  let lastSlot = 0;
  const streams = await startStreams({
    address: { host: "127.0.0.1", port: 0 },
    tlsAddress: null,
    certificate: null,
    connectReader: () => {
      readers.add(++lastSlot);
      const { port1 } = new MessageChannel();
      return { control: new SharedArrayBuffer(8), segments: [], port: port1, slot: lastSlot };
    },
    disconnectReader: (slot) => readers.delete(slot),
    settings: trivialSettings(1),
    answerLater: async (query) => answerTo(query),
    log: new Log({
      format: "json",
      level: "debug",
      now: Date.now,
      write: (text) => logged.push(text),
    }),
    responderModule: import.meta.resolve("./trivial-responder.ts"),
    ...options,
    limits: { ...defaultStreamLimits, ...options.limits },
  });
  return Object.assign(streams, { logged, readers });
}

export function trivialSettings(mark: number): ResponderSettings {
  const settings: TrivialSettings = { mark };
  return settings as unknown as ResponderSettings;
}

/** An answer that the main thread might give. */
export function answerTo(query: Uint8Array, data = "192.0.2.7"): Uint8Array {
  const { id, questions } = decode(Buffer.from(query));
  const name = questions![0]!.name;
  return encode({
    type: "response",
    id: id!,
    questions: questions!,
    answers: [{ type: "A", name, ttl: 60, data }],
  });
}
