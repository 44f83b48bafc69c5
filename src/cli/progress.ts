/** One line on the terminal that says how far a transfer is, redrawn in place. */
import type { Writable } from "node:stream";
import { displayWidth, visible } from "./table.ts";
import { showSize } from "./units.ts";

/** Redrawn no more often: a terminal over a slow line shall not hold up the transfer. */
const REDRAW_MS = 100;
const BAR_CELLS = 20;
/** Of a terminal that does not say. */
const DEFAULT_WIDTH = 80;
const CLEAR_LINE = "\r\u001B[2K";

export class Progress implements Disposable {
  readonly #stream: (Writable & { readonly columns?: number }) | null;
  readonly #title: string;
  #total: number | null;
  #done = 0;
  /** What was there before this run: it tells nothing of the speed. */
  #skipped = 0;
  readonly #began = performance.now();
  #drawnAt = 0;

  /** Without a stream nothing is drawn. `total` is in octets; null when it is not known. */
  constructor(
    stream: (Writable & { readonly columns?: number }) | null,
    title: string,
    total: number | null,
  ) {
    this.#stream = stream;
    this.#title = visible(title);
    this.#total = total;
  }

  add(octets: number): void {
    this.#done += octets;
    this.#draw();
  }

  /** Octets that an earlier run has brought over. */
  skip(octets: number): void {
    this.#skipped += octets;
    this.add(octets);
  }

  set total(octets: number) {
    this.#total = octets;
  }

  #draw(): void {
    const now = performance.now();
    if (this.#stream === null || now - this.#drawnAt < REDRAW_MS) return;
    this.#drawnAt = now;
    const width = this.#stream.columns || DEFAULT_WIDTH;
    const facts = progressFacts({
      done: this.#done,
      total: this.#total,
      perSecond: ((this.#done - this.#skipped) / Math.max(1, now - this.#began)) * 1_000,
    });
    const room = Math.max(8, width - displayWidth(facts) - 3);
    const title =
      displayWidth(this.#title) > room ? `…${this.#title.slice(1 - room)}` : this.#title;
    this.#stream.write(`${CLEAR_LINE}${title}  ${facts}`);
  }

  /** Takes the line away until it is drawn again: something else is to be said. */
  clear(): void {
    if (this.#drawnAt > 0) this.#stream?.write(CLEAR_LINE);
    this.#drawnAt = 0;
  }

  [Symbol.dispose](): void {
    this.clear();
  }
}

interface Facts {
  readonly done: number;
  readonly total: number | null;
  readonly perSecond: number;
}

/** `████████░░░░  40%  40 MiB of 100 MiB  12 MiB/s  5 s left` */
export function progressFacts({ done, total, perSecond }: Facts): string {
  const speed = `${showSize(perSecond)}/s`;
  if (total === null) return `${showSize(done)}  ${speed}`;
  const part = total === 0 ? 1 : Math.min(1, done / total);
  const cells = Math.round(part * BAR_CELLS);
  const bar = "█".repeat(cells) + "░".repeat(BAR_CELLS - cells);
  const left = perSecond > 0 ? `  ${showSeconds((total - done) / perSecond)} left` : "";
  const percent = `${Math.floor(part * 100)}%`.padStart(4);
  return `${bar} ${percent}  ${showSize(done)} of ${showSize(total)}  ${speed}${left}`;
}

function showSeconds(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 60) return `${whole} s`;
  return whole < 3_600 ? `${Math.ceil(whole / 60)} min` : `${(whole / 3_600).toFixed(1)} h`;
}
