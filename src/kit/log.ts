/** Structured logs: one JSON object a line for machines, or short coloured lines for people. */
import { writeSync } from "node:fs";

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];
export type LogFormat = "pretty" | "json";
const RANKS = { debug: 0, info: 1, warn: 2, error: 3 } as const satisfies Record<LogLevel, number>;
type Fields = Readonly<Record<string, unknown>>;

export interface LogOptions {
  readonly format: LogFormat;
  readonly level: LogLevel;
  readonly now: () => number;
  /** Takes whole lines. Defaults to standard error, which leaves standard output to answers. */
  readonly write?: (lines: string) => void;
}

/** Lines wait at most this long, so that a busy server writes many with one system call. */
const FLUSH_MS = 20;
/** More waiting text than this is written at once. */
const FLUSH_CHARACTERS = 16 * 1024;

/** A field with one of these words in its name never shows its value. */
const SECRET_NAME = /key$|secret|password|token$|authorization|cookie|credential/i;

export class Log {
  readonly #sink: Sink;
  readonly #fields: Fields;

  constructor(options: LogOptions | { sink: Sink; fields: Fields }) {
    this.#sink = "sink" in options ? options.sink : new Sink(options);
    this.#fields = "sink" in options ? options.fields : {};
  }

  /** The same log with fields that every line carries, such as the name of a door. */
  with(fields: Fields): Log {
    return new Log({ sink: this.#sink, fields: { ...this.#fields, ...fields } });
  }

  debug(event: string, fields: Fields = {}): void {
    this.#sink.add("debug", event, this.#fields, fields);
  }
  info(event: string, fields: Fields = {}): void {
    this.#sink.add("info", event, this.#fields, fields);
  }
  warn(event: string, fields: Fields = {}): void {
    this.#sink.add("warn", event, this.#fields, fields);
  }
  error(event: string, fields: Fields = {}): void {
    this.#sink.add("error", event, this.#fields, fields);
  }

  /** Writes what waits. Called last, and before the process ends of a fault. */
  flush(): void {
    this.#sink.flush();
  }
}

class Sink {
  readonly #options: LogOptions;
  readonly #threshold: number;
  readonly #write: (lines: string) => void;
  #waiting = "";
  #timeOf = Number.NaN;
  #timeText = "";
  #timer: NodeJS.Timeout | null = null;

  constructor(options: LogOptions) {
    this.#options = options;
    this.#threshold = RANKS[options.level];
    this.#write = options.write ?? writeToStandardError;
  }

  add(level: LogLevel, event: string, common: Fields, fields: Fields): void {
    if (RANKS[level] < this.#threshold) return;
    const time = this.#time();
    this.#waiting +=
      this.#options.format === "json"
        ? jsonLine(time, level, event, common, fields)
        : prettyLine(time, level, event, { ...common, ...fields });
    if (this.#waiting.length > FLUSH_CHARACTERS || level === "error") this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), FLUSH_MS).unref();
  }

  /** A busy log writes many lines a millisecond; the text of each is made once. */
  #time(): string {
    const now = this.#options.now();
    if (now !== this.#timeOf) [this.#timeOf, this.#timeText] = [now, new Date(now).toISOString()];
    return this.#timeText;
  }

  flush(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const lines = this.#waiting;
    this.#waiting = "";
    if (lines !== "") this.#write(lines);
  }
}

/** In JSON, put together by hand: a busy server would spend more on it than on many an answer. */
function jsonLine(
  time: string,
  level: LogLevel,
  event: string,
  common: Fields,
  fields: Fields,
): string {
  let line = `{"time":"${time}","level":"${level}","event":${jsonText(event)}`;
  for (const name in common) {
    if (!Object.hasOwn(fields, name)) line += jsonField(name, common[name]);
  }
  for (const name in fields) line += jsonField(name, fields[name]);
  return `${line}}\n`;
}

function jsonField(name: string, value: unknown): string {
  const { json, isSecret } = knownName(name);
  if (typeof value === "string") return json + jsonText(isSecret ? HIDDEN : value);
  if (typeof value === "number") return json + (Number.isFinite(value) ? value : "null");
  const text = JSON.stringify(shown(name, value)) as string | undefined;
  return text === undefined ? "" : json + text;
}

/** What stands in JSON as it is. */
const PLAIN = /^[ !#-[\]-~]*$/;

function jsonText(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}

const HIDDEN = "[hidden]";

/** What a field shows: errors with their causes, and never a secret. */
function shown(name: string, value: unknown): unknown {
  if (value instanceof Error) return describeError(value);
  return typeof value === "string" && knownName(name).isSecret ? HIDDEN : value;
}

interface Name {
  /** As it stands before its value. */
  readonly json: string;
  readonly isSecret: boolean;
}

const names = new Map<string, Name>();

/** Remembered: the names are few and a busy log asks for each of them all the time. */
function knownName(name: string): Name {
  const known = names.get(name);
  if (known !== undefined) return known;
  const made = { json: `,${JSON.stringify(name)}:`, isSecret: SECRET_NAME.test(name) };
  names.set(name, made);
  return made;
}

/** An error and its causes, as plain data. */
function describeError(error: Error, depth = 0): Fields {
  return {
    error: error.name,
    message: error.message,
    ...("code" in error && { code: error.code }),
    stack: error.stack
      ?.split("\n")
      .slice(1, 9)
      .map((line) => line.trim()),
    // A chain of causes can loop; a handful of links tell the story.
    ...(error.cause instanceof Error &&
      depth < 5 && { cause: describeError(error.cause, depth + 1) }),
  };
}

const colours = { debug: 90, info: 36, warn: 33, error: 31 } as const;

function prettyLine(time: string, level: LogLevel, event: string, fields: Fields): string {
  const rest = Object.entries(fields).map(([name, value]) => {
    const text = shown(name, value);
    // Quoted unless plain, so that no value can look like a line or colour of its own.
    const plain = typeof text === "string" && /^[\x20-\x7e]*$/.test(text);
    return `${name}=${plain ? text : JSON.stringify(text)}`;
  });
  const when = `\u001b[${colours[level]}m${time.slice(11, 23)} ${level.padEnd(5)}\u001b[0m`;
  return `${[when, event, ...rest].join(" ")}\n`;
}

/** A reader that is slower than the log is waited for this long, and then loses lines. */
const MAX_WAIT_MS = 200;

/** What is written at once to a pipe, the system keeps together up to this. PIPE_BUF, pipe(7). */
const WHOLE_OCTETS = 4096;
const LINE_FEED = 0x0a;

/** Threads write to the same place: lines go in pieces that are whole, so that those of others come between them. */
function writeToStandardError(lines: string): void {
  const bytes = Buffer.from(lines);
  const deadline = Date.now() + MAX_WAIT_MS;
  for (let at = 0; at < bytes.length && Date.now() < deadline;) {
    try {
      at += writeSync(2, bytes, at, pieceAt(bytes, at));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A full pipe is tried again; a reader that is gone must not take the server down.
      if (code === "EPIPE") return;
      if (code !== "EAGAIN") throw error;
    }
  }
}

/** The length of as many whole lines as stay together; a line that is longer goes by itself. */
function pieceAt(bytes: Buffer, at: number): number {
  const most = at + WHOLE_OCTETS;
  if (bytes.length <= most) return bytes.length - at;
  const end = bytes.lastIndexOf(LINE_FEED, most - 1);
  return (end >= at ? end : bytes.indexOf(LINE_FEED, most)) + 1 - at;
}
