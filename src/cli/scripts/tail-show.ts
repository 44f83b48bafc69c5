/** An event of a script, as `selvedge tail` prints it for people. */
import { inspect } from "node:util";
import type { Styles } from "../style.ts";
import { visible } from "../table.ts";
import { showTime } from "../units.ts";

/** As the server sends it: the original's `trace-v1`. */
export interface TraceEvent {
  readonly outcome: string;
  readonly scriptName?: string | null;
  readonly eventTimestamp?: number | null;
  readonly event?: {
    readonly request?: { readonly method: string; readonly url: string };
    readonly response?: { readonly status: number };
    readonly cron?: string;
    readonly queue?: string;
    readonly type?: string;
    readonly message?: string;
  } | null;
  readonly logs: readonly { readonly level: string; readonly message: unknown }[];
  readonly exceptions: readonly {
    readonly name: string;
    readonly message: unknown;
    readonly stack?: string;
  }[];
}

const OUTCOMES: Readonly<Record<string, string>> = {
  ok: "ok",
  exception: "threw an exception",
  exceededCpu: "used too much CPU time",
  exceededMemory: "used too much memory",
  canceled: "its client left",
  unknown: "ended without a word",
};

export function showEvent(event: TraceEvent, style: Styles): string {
  const { red, yellow, green } = style;
  const paint = event.outcome === "ok" ? green : event.outcome === "canceled" ? yellow : red;
  const outcome = paint(OUTCOMES[event.outcome] ?? event.outcome);
  const time =
    typeof event.eventTimestamp === "number" ? `${style.dim(timeOf(event.eventTimestamp))} ` : "";
  return [
    `${time}${subjectOf(event, style)} ${outcome}`,
    ...event.logs.map(({ level, message }) =>
      indented(`${levelOf(level, style)}${wordsOf(message)}`),
    ),
    ...event.exceptions.map((exception) => indented(red(exceptionOf(exception)))),
  ].join("\n");
}

function timeOf(ms: number): string {
  return showTime(new Date(ms)).slice(11);
}

function subjectOf({ event }: TraceEvent, { bold }: Styles): string {
  if (event?.request !== undefined) {
    const { method, url } = event.request;
    const status = event.response === undefined ? "" : ` ${event.response.status}`;
    return `${bold(visible(`${method} ${url}`))}${status}`;
  }
  if (event?.cron !== undefined) return bold(visible(`cron ${event.cron}`));
  if (event?.queue !== undefined) return bold(visible(`queue ${event.queue}`));
  if (event?.message !== undefined) return visible(event.message);
  return bold("event");
}

function levelOf(level: string, { red, yellow, dim }: Styles): string {
  if (level === "log" || level === "info") return "";
  const paint = level === "error" ? red : level === "warn" ? yellow : dim;
  return `${paint(level)} `;
}

/** What `console.log` was given: text as it is, the rest as Node would show it. */
export function wordsOf(message: unknown): string {
  const parts = Array.isArray(message) ? (message as unknown[]) : [message];
  return parts
    .map((part) =>
      typeof part === "string" ? part : inspect(part, { depth: 4, breakLength: 100 }),
    )
    .map((part) => part.split("\n").map(visible).join("\n"))
    .join(" ");
}

/** A stack begins with the error's own words. */
export function exceptionOf({ name, message, stack }: TraceEvent["exceptions"][number]): string {
  const said = `${name}: ${typeof message === "string" ? message : inspect(message)}`;
  if (stack === undefined || stack === "") return wordsOf(said);
  return wordsOf(stack.startsWith(said) ? stack : `${said}\n${stack}`);
}

function indented(text: string): string {
  return text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
}
