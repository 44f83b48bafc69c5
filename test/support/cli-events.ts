/** A command that goes on, such as `selvedge dev --json`: the events that it tells, a line of JSON each. */
import type { ChildProcess } from "node:child_process";
import { ended } from "./cli.ts";
import { PATIENCE_MS, until } from "./patience.ts";

export type CliEvent = Readonly<Record<string, unknown>>;

export class CliEvents implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | null>;
  readonly #told: CliEvent[] = [];
  #read = 0;
  /** What it wrote for people. */
  notes = "";

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#ended = ended(child);
    let rest = "";
    child.stdout!.on("data", (chunk: Buffer) => {
      const lines = (rest + chunk.toString()).split("\n");
      rest = lines.pop()!;
      for (const line of lines) this.#told.push(JSON.parse(line) as CliEvent);
    });
    child.stderr!.on("data", (chunk: Buffer) => (this.notes += chunk.toString()));
  }

  /** The next that is so; those before it are passed over. */
  async next(isIt: (event: CliEvent) => boolean): Promise<CliEvent> {
    let found: CliEvent | undefined;
    await until(() => {
      while (found === undefined && this.#read < this.#told.length) {
        const event = this.#told[this.#read++]!;
        if (isIt(event)) found = event;
      }
      if (found === undefined && this.#child.exitCode !== null) {
        throw new Error(`The command ended with ${this.#child.exitCode}:\n${this.notes}`);
      }
      return found !== undefined;
    });
    return found!;
  }

  nextOf(event: string): Promise<CliEvent> {
    return this.next((one) => one["event"] === event);
  }

  /** Ctrl-C; the exit code. */
  interrupt(): Promise<number | null> {
    this.#child.kill("SIGINT");
    return this.#ended;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null) this.#child.kill("SIGTERM"); // So that it ends what it has started.
    const late = setTimeout(() => this.#child.kill("SIGKILL"), PATIENCE_MS);
    await this.#ended;
    clearTimeout(late);
  }
}
