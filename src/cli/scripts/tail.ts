/** Follows a deployed script: its requests, logs and exceptions, live. */
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { ApiFault } from "../api-fault.ts";
import { choice, command, optionalArg, text, texts } from "../command.ts";
import type { CommandContext } from "../context.ts";
import { CliFault } from "../fault.ts";
import { SCRIPT_HELP, scriptOf, scriptOptions, type ScriptAddress } from "./project-options.ts";
import { showEvent, type TraceEvent } from "./tail-show.ts";

interface Tail {
  readonly id: string;
  /** Of the WebSocket. */
  readonly url: string;
}

/** What the server's events are called. */
const PROTOCOL = "trace-v1";
/** The server has ended it, and means it. */
const NORMAL_CLOSE = 1_000;
/** After a connection was lost: half a minute, for a restart of the server and of what is before it. */
const RECONNECT_PAUSES_MS = [500, 1_000, 2_000, 4_000, 7_000, 7_000, 8_000];

const OUTCOMES = {
  ok: ["ok"],
  error: ["exception", "exceededCpu", "exceededMemory", "unknown"],
  canceled: ["canceled"],
} as const;

export const tailScript = command({
  path: "tail",
  summary: "follow a script's requests, logs and exceptions, live",
  args: { script: optionalArg(SCRIPT_HELP) },
  options: {
    ...scriptOptions,
    status: choice(["ok", "error", "canceled"], "only what ended so"),
    method: texts("METHOD", "only requests with this method; may stand more than once"),
    search: text("TEXT", "only events with this text in their logs"),
  },
  examples: [
    ["selvedge tail", "the script of this project, until Ctrl-C"],
    ["selvedge tail shop --status error --json", "failures as lines of JSON"],
  ],
  json: "a line for each event",
  async run({ args, options }, context) {
    const address = await scriptOf(options, context, args.script);
    const filters = filtersOf(options);
    let isOver = await follow(address, filters, context);
    while (!isOver) {
      context.out.note("The connection was lost; connecting again.");
      isOver = await followAgain(address, filters, context);
    }
  },
});

interface Wanted {
  readonly status: keyof typeof OUTCOMES | undefined;
  readonly method: readonly string[];
  readonly search: string | undefined;
}

export function filtersOf({ status, method, search }: Wanted): object[] {
  return [
    ...(status === undefined ? [] : [{ outcome: OUTCOMES[status] }]),
    ...(method.length === 0 ? [] : [{ method: method.map((one) => one.toUpperCase()) }]),
    ...(search === undefined ? [] : [{ query: search }]),
  ];
}

async function followAgain(
  address: ScriptAddress,
  filters: readonly object[],
  context: CommandContext,
): Promise<boolean> {
  const { signal } = context;
  for (const pause of RECONNECT_PAUSES_MS) {
    await sleep(pause, null, { signal });
    try {
      return await follow(address, filters, context);
    } catch (error) {
      // The script may be gone, or the token; what else there is may pass.
      if (signal.aborted || (error instanceof ApiFault && error.status < 500)) throw error;
    }
  }
  return follow(address, filters, context);
}

/** True when the server has ended it; false when the connection broke. */
async function follow(
  { name, path }: ScriptAddress,
  filters: readonly object[],
  context: CommandContext,
): Promise<boolean> {
  const { api, out, signal } = context;
  const tail = await api.post<Tail>(`${path}/tails`, { filters });
  const { WebSocket } = await import("ws"); // Only here: no other command needs it.
  const socket = new WebSocket(tail.url, PROTOCOL, {
    headers: { "user-agent": `selvedge/${context.version}` },
  });
  const stop = () => socket.close(NORMAL_CLOSE);
  try {
    await once(socket, "open", { signal }).catch((error: Error) => {
      throw new CliFault("failed", `Cannot follow ${name} at ${tail.url}: ${error.message}.`, {
        cause: error,
      });
    });
    out.note(`Following ${name}; Ctrl-C ends it.`);
    socket.send(JSON.stringify({ debug: false }));
    socket.on("message", (data: Buffer) => {
      const event = JSON.parse(data.toString()) as TraceEvent;
      out.line(event, showEvent(event, out.style));
    });
    socket.on("error", () => {}); // The close that follows tells.
    signal.addEventListener("abort", stop);
    const [code] = (await once(socket, "close")) as [number];
    return code === NORMAL_CLOSE || signal.aborted;
  } finally {
    signal.removeEventListener("abort", stop);
    socket.terminate();
    // The server ends it by itself, too, when nobody is connected.
    await api.delete(`${path}/tails/${tail.id}`).catch(() => {});
  }
}
