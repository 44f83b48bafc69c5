/** What a script's process says, in the platform's log: a bounded number of lines, of bounded length. */
import type { Readable } from "node:stream";
import type { Log } from "#kit/log.ts";
import { MAIN_PREFIX } from "./workerd-config.ts";

/** Enough for an object that someone looks at; a log is no place for bodies. */
const LINE_CHARACTERS = 4 * 1024;
/** Lines at once, and how fast further ones are granted. */
const BURST_LINES = 200;
const LINES_A_SECOND = 50;
/** Of a line that is not over yet: what stands around its message has room, too. */
const REST_CHARACTERS = LINE_CHARACTERS * 2;
/** What workerd said of itself and is kept, to tell why it ended. */
const COMPLAINT_CHARACTERS = 16 * 1024;
/** Places in workerd's own sources and in its memory, and what V8 says when it gives up. */
const INTERNAL =
  /\b(?:workerd|kj|capnp|external|v8)\/[\w./+-]+:\d+|@?0x[0-9a-f]{6}|^\*\*\* |^V8 fatal error|^<--- /m;
/** It says so after any other fault, too: that nothing handles events, and that an entrypoint of ours is not there. */
const AFTER_OTHERS = /^(?:No event handlers were registered\.|Socket "http" refers to service )/;

interface Line {
  readonly level: string;
  readonly message: string;
  /** It is workerd that speaks, and not the script. */
  readonly isOfRuntime: boolean;
  /** Only workerd's authors can read it. */
  readonly isInternal: boolean;
}

export class ScriptOutput {
  readonly #log: Log;
  readonly #now: () => number;
  #granted = BURST_LINES;
  #grantedAt: number;
  #leftOut = 0;
  #complaints = "";
  readonly #reasons = new Set<string>();

  constructor(log: Log, now: () => number) {
    this.#log = log;
    this.#now = now;
    this.#grantedAt = now();
  }

  /** What workerd said of itself so far. */
  get complaints(): string {
    return this.#complaints.trimEnd();
  }

  /** As much of it as is for the script's author; the log has the rest. */
  get reason(): string {
    const reasons = [...this.#reasons];
    const others = reasons.filter((one) => !AFTER_OTHERS.test(one));
    return (others.length === 0 ? reasons : others).join("\n");
  }

  /** Reads all of it, however much there is: a full pipe would hold the process up. */
  read(stream: Readable): void {
    let rest = "";
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      const lines = chunk.split("\n");
      if (rest.length < REST_CHARACTERS) rest += lines[0]!;
      lines[0] = rest; // What was cut stays cut.
      rest = lines.pop()!.slice(0, REST_CHARACTERS);
      for (const line of lines) this.#take(line);
    });
    stream.on("end", () => this.#take(rest));
    stream.on("error", () => {}); // Its end is told by the process's.
  }

  #take(text: string): void {
    if (text === "") return;
    const line = parseLine(text);
    if (line.isOfRuntime) this.#complain(line);
    if (!this.#isGranted()) {
      this.#leftOut++;
      return;
    }
    if (this.#leftOut > 0) this.#log.warn("script output left out", { lines: this.#leftOut });
    this.#leftOut = 0;
    this.#write(line);
  }

  #complain({ message, isInternal }: Line): void {
    const room = COMPLAINT_CHARACTERS - this.#complaints.length;
    if (room <= 0) return;
    this.#complaints += `${message.slice(0, room)}\n`;
    if (!isInternal) this.#reasons.add(message.slice(0, room));
  }

  #isGranted(): boolean {
    const now = this.#now();
    const earned = ((now - this.#grantedAt) / 1000) * LINES_A_SECOND;
    this.#granted = Math.min(BURST_LINES, this.#granted + Math.max(0, earned));
    this.#grantedAt = now;
    if (this.#granted < 1) return false;
    this.#granted--;
    return true;
  }

  #write({ level, message, isOfRuntime }: Line): void {
    const fields = { stream: isOfRuntime ? "runtime" : "console", said: shorten(message) };
    if (level === "debug") this.#log.debug("script output", fields);
    // An error of a script is none of the platform.
    else if (level === "warn" || level === "error") this.#log.warn("script output", fields);
    else this.#log.info("script output", fields);
  }
}

/** What is left of a console line that was too long to be kept whole. */
const CONSOLE_START = /^\{"timestamp":\d+,"level":"(\w+)","message":"(.*)$/s;

/** Console lines are JSON with a number as time; workerd's own have the place in its source. Others are plain. */
function parseLine(text: string): Line {
  try {
    const line = JSON.parse(text) as Record<string, unknown> | null;
    if (typeof line?.["message"] === "string") {
      const level = String(line["level"]);
      if ("source" in line) return { level, isOfRuntime: true, ...essence(line["message"]) };
      return { level, message: line["message"], isOfRuntime: false, isInternal: false };
    }
  } catch {
    // A plain line, or one that was cut.
  }
  const [, cutLevel, cut] = CONSOLE_START.exec(text) ?? [];
  if (cut !== undefined) {
    return { level: cutLevel!, message: cut, isOfRuntime: false, isInternal: false };
  }
  return { level: "info", message: text, isOfRuntime: true, isInternal: INTERNAL.test(text) };
}

/** Without addresses in workerd's code, and without names that are ours or C++'s; whole where that is not enough. */
function essence(raw: string): Pick<Line, "message" | "isInternal"> {
  const message = raw
    .replace(/\nstack: \S+@[^\n]*$/, "")
    .replace(/^Uncaught exception: \S+ failed: (?:remote\.)?jsg\./, "Uncaught ")
    .replace(/\bN7workerd\w*\d([A-Za-z]+)E\b/g, "$1")
    .replace(MAIN_PREFIX, "");
  return INTERNAL.test(message)
    ? { message: raw, isInternal: true }
    : { message, isInternal: false };
}

function shorten(message: string): string {
  return message.length <= LINE_CHARACTERS ? message : `${message.slice(0, LINE_CHARACTERS)}…`;
}
