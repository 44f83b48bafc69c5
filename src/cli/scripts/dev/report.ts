/** What `selvedge dev` tells: lines for people, or a line of JSON for each event. */
import type { TailEvent } from "#scripts";
import type { Output } from "../../output.ts";
import type { Bundle } from "../../project/bundle.ts";
import { visible } from "../../table.ts";
import { showSize } from "../../units.ts";
import { codeBytes } from "../deployed.ts";
import type { RunnableProject } from "../project-options.ts";
import { exceptionOf, wordsOf } from "../tail-show.ts";
import type { FrontRequest } from "./front.ts";

export class DevReport {
  readonly #out: Output;
  /** Turns places in the built script into places in the sources. */
  stacks: (stack: string) => string = (stack) => stack;

  constructor(out: Output) {
    this.#out = out;
  }

  ready(url: string, project: RunnableProject, folder: string): void {
    const { bold, dim } = this.#out.style;
    const kept =
      project.buckets.length === 0
        ? ""
        : dim(` (objects in ${folder === "" ? "" : `${folder}/`}.selvedge)`);
    this.#line(
      { event: "ready", url, name: project.name },
      `${project.name} runs at ${bold(url)}${kept}; Ctrl-C ends it.`,
    );
  }

  built(bundle: Bundle, ms: number, isReload: boolean): void {
    for (const warning of bundle.warnings) this.#out.note(warning);
    const size = codeBytes(
      bundle.modules.map(({ type, content }) => ({ type, bytes: content.length })),
    );
    const words = `${isReload ? "Reloaded" : "Built"}: ${showSize(size)}, started in ${Math.round(ms)} ms.`;
    this.#line({ event: "built", bytes: size, ms: Math.round(ms) }, this.#out.style.green(words));
  }

  failed(message: string, goesOn: boolean): void {
    const rest = goesOn ? "\nThe version before goes on." : "";
    this.#line({ event: "failed", message }, `${this.#out.style.red(message)}${rest}`);
  }

  request({ method, path, status, ms }: FrontRequest): void {
    const { red, yellow, green, dim } = this.#out.style;
    const paint = status === null || status >= 500 ? red : status >= 400 ? yellow : green;
    const words = `${visible(`${method} ${path}`)} ${paint(status === null ? "left" : String(status))} ${dim(`${ms} ms`)}`;
    this.#line({ event: "request", method, path, status, ms }, words);
  }

  /** Logs and exceptions; the request itself has its line already. */
  event({ logs, exceptions, outcome }: TailEvent): void {
    const { red, yellow } = this.#out.style;
    for (const { level, message } of logs) {
      const paint = level === "error" ? red : level === "warn" ? yellow : (text: string) => text;
      const words = this.stacks(wordsOf(message));
      this.#line({ event: "log", level, message: words }, paint(words));
    }
    for (const exception of exceptions) {
      const words = this.stacks(exceptionOf(exception));
      this.#line({ event: "exception", message: words }, red(`Uncaught ${words}`));
    }
    const isSaid = outcome === "ok" || outcome === "canceled" || exceptions.length > 0;
    if (!isSaid)
      this.#line({ event: "exception", message: outcome }, red(`The script ended: ${outcome}`));
  }

  #line(value: object, text: string): void {
    this.#out.line(value, text);
  }
}
