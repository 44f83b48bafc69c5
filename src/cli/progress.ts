/** One line on the terminal that says how far a transfer is, redrawn in place. */
import type { Writable } from "node:stream";
import { cutTo, displayWidth, visible } from "./table.ts";
import { showSize } from "./units.ts";

/** Redrawn no more often: a terminal over a slow line shall not hold up the transfer. */
const REDRAW_MS = 100;
const BAR_CELLS = 20;
const GAP = "  ";
/** Of a terminal that does not say. */
export const DEFAULT_WIDTH = 80;
export const CLEAR_LINE = "\r\u001B[2K";

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
    const perSecond = ((this.#done - this.#skipped) / Math.max(1, now - this.#began)) * 1_000;
    const facts = { title: this.#title, done: this.#done, total: this.#total, perSecond };
    this.#stream.write(`${CLEAR_LINE}${progressLine(facts, width)}`);
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
  readonly title: string;
  readonly done: number;
  readonly total: number | null;
  readonly perSecond: number;
}

/** Below this a title tells nothing any more. */
const LEAST_TITLE = 12;

/**
 * `photos/tulip.jpg  ████████░░░░  40%  40 MiB of 100 MiB  12 MiB/s  5 s left`. A line that does not fit would
 * break, and then could not be redrawn: the time goes first, then the speed, then the bar.
 */
export function progressLine({ title, ...facts }: Facts, width: number): string {
  const room = width - 1; // Some terminals break a line that is full.
  const least = Math.min(displayWidth(title), LEAST_TITLE) + GAP.length;
  const forms = formsOf(facts).map((form) => form.join(GAP));
  const shown = forms.find((form) => least + displayWidth(form) <= room) ?? forms.at(-1)!;
  const left = room - GAP.length - displayWidth(shown);
  return left < 1 ? cutTo(shown, room) : `${cutFront(title, left)}${GAP}${shown}`;
}

/** From the one that tells most. */
function formsOf({ done, total, perSecond }: Omit<Facts, "title">): string[][] {
  const speed = `${showSize(perSecond)}/s`;
  if (total === null) return [[showSize(done), speed], [showSize(done)]];
  const share = total === 0 ? 1 : Math.min(1, done / total);
  const cells = Math.round(share * BAR_CELLS);
  const percent = `${Math.floor(share * 100)}%`.padStart(4);
  const bar = `${"█".repeat(cells)}${"░".repeat(BAR_CELLS - cells)} ${percent}`;
  const sizes = `${showSize(done)} of ${showSize(total)}`;
  const left = perSecond > 0 ? [`${showSeconds((total - done) / perSecond)} left`] : [];
  return [
    [bar, sizes, speed, ...left],
    [bar, sizes, speed],
    [bar, sizes],
    [percent, sizes],
    [percent],
  ];
}

/** The end of a key tells more than its beginning. */
function cutFront(title: string, width: number): string {
  const reversed = [...graphemes.segment(title)].map(({ segment }) => segment).toReversed();
  let kept = "";
  for (const segment of displayWidth(title) <= width ? [] : reversed) {
    if (displayWidth(segment + kept) > width - 1) return `…${kept}`;
    kept = segment + kept;
  }
  return title;
}

const graphemes = new Intl.Segmenter();

function showSeconds(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 60) return `${whole} s`;
  return whole < 3_600 ? `${Math.ceil(whole / 60)} min` : `${(whole / 3_600).toFixed(1)} h`;
}
