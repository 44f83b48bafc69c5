/** What a script's process says, in the platform's log: a bounded number of lines, of bounded length. */
import type { Readable } from "node:stream";
import type { Log } from "#kit/log.ts";
import { MAIN_PREFIX } from "./workerd-config.ts";

/** Enough for an object that someone looks at; a log is no place for bodies. */
const LINE_CHARACTERS = 4 * 1024;
/** Lines at once, and how fast further ones are granted. */
const BURST_LINES = 200;
const LINES_A_SECOND = 50;
/** What workerd said of itself and is kept, to tell why it ended. */
const COMPLAINT_CHARACTERS = 16 * 1024;

interface Line {
  readonly level: string;
  readonly message: string;
  /** It is workerd that speaks, and not the script. */
  readonly isOfRuntime: boolean;
}

export class ScriptOutput {
  readonly #log: Log;
  readonly #now: () => number;
  #granted = BURST_LINES;
  #grantedAt: number;
  #leftOut = 0;
  #complaints = "";

  constructor(log: Log, now: () => number) {
    this.#log = log;
    this.#now = now;
    this.#grantedAt = now();
  }

  /** What workerd said of itself so far. */
  get complaints(): string {
    return this.#complaints.trimEnd();
  }

  /** Reads all of it, however much there is: a full pipe would hold the process up. */
  read(stream: Readable): void {
    let rest = "";
    stream.setEncoding("utf8");
    stream.on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!.slice(0, LINE_CHARACTERS * 2);
      for (const line of lines) this.#take(line);
    });
    stream.on("end", () => this.#take(rest));
    stream.on("error", () => {}); // Its end is told by the process's.
  }

  #take(text: string): void {
    if (text === "") return;
    const line = parseLine(text);
    if (line.isOfRuntime) this.#complain(line.message);
    if (!this.#isGranted()) {
      this.#leftOut++;
      return;
    }
    if (this.#leftOut > 0) this.#log.warn("script output left out", { lines: this.#leftOut });
    this.#leftOut = 0;
    this.#write(line);
  }

  #complain(message: string): void {
    const room = COMPLAINT_CHARACTERS - this.#complaints.length;
    if (room > 0) this.#complaints += `${message.slice(0, room)}\n`;
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

/** Console lines are JSON with a number as time; workerd's own have the place in its source. Others are plain. */
function parseLine(text: string): Line {
  try {
    const line = JSON.parse(text) as Record<string, unknown> | null;
    if (typeof line?.["message"] === "string") {
      const isOfRuntime = "source" in line;
      const message = isOfRuntime ? essence(line["message"]) : line["message"];
      return { level: String(line["level"]), message, isOfRuntime };
    }
  } catch {
    // A plain line.
  }
  return { level: "info", message: text, isOfRuntime: true };
}

/** Without addresses in workerd's code, and without a name that is ours. */
function essence(message: string): string {
  return message
    .replace(/\nstack: [\s\S]*$/, "")
    .replace(/^Uncaught exception: \S+ failed: (?:remote\.)?jsg\./, "Uncaught ")
    .replace(MAIN_PREFIX, "");
}

function shorten(message: string): string {
  return message.length <= LINE_CHARACTERS ? message : `${message.slice(0, LINE_CHARACTERS)}…`;
}
