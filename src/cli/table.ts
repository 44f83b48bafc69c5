/** Lists as columns of text, cut to the width of the terminal. */
import type { Styles } from "./style.ts";

export interface Column<T> {
  readonly title: string;
  readonly show: (item: T) => string;
  /** Numbers line up on their right. */
  readonly align?: "right";
  /** Gives up width first when a line does not fit. */
  readonly flexible?: boolean;
  /** Left out when the lines do not fit otherwise. */
  readonly droppable?: boolean;
  readonly style?: keyof Styles;
}

const GAP = "  ";
/** Below this a column tells nothing any more, and the line may rather break. */
const LEAST_WIDTH = 8;

export function table<T>(
  items: readonly T[],
  columns: readonly Column<T>[],
  width: number,
  style: Styles,
): string {
  const cells = columns.map((column) => [
    column.title,
    ...items.map((item) => visible(column.show(item))),
  ]);
  const natural = new Map(columns.map((column, i) => [column, widest(cells[i]!)]));
  const isTight = total([...natural.values()]) > width;
  const shown = columns.filter(({ droppable }) => !isTight || droppable !== true);
  const widths = fitted(shown, natural, width);
  const lineOf = (row: number) =>
    shown
      .map((column, i) => {
        const cell = cutTo(cells[columns.indexOf(column)]![row]!, widths[i]!);
        const isLast = i === shown.length - 1;
        return padded(cell, widths[i]!, column, isLast, painter(row, column, style));
      })
      .join(GAP)
      .trimEnd();
  return Array.from({ length: items.length + 1 }, (_, row) => lineOf(row)).join("\n");
}

function painter<T>(row: number, column: Column<T>, style: Styles): (text: string) => string {
  if (row === 0) return style.bold; // The titles.
  return column.style === undefined ? (text) => text : style[column.style];
}

/** Colours go around the text alone: they have no width. */
function padded<T>(
  cell: string,
  width: number,
  { align }: Column<T>,
  isLast: boolean,
  paint: (text: string) => string,
): string {
  const space = " ".repeat(Math.max(0, width - displayWidth(cell)));
  if (align === "right") return space + paint(cell);
  return paint(cell) + (isLast ? "" : space);
}

const widest = (cells: readonly string[]) =>
  cells.reduce((most, cell) => Math.max(most, displayWidth(cell)), 0);
const total = (widths: readonly number[]) =>
  widths.reduce((sum, one) => sum + one, GAP.length * (widths.length - 1));

/** Takes what is too much from the flexible columns, the widest first. */
function fitted<T>(
  columns: readonly Column<T>[],
  natural: ReadonlyMap<Column<T>, number>,
  width: number,
): number[] {
  const widths = columns.map((column) => natural.get(column)!);
  const flexible = columns.flatMap(({ flexible }, i) => (flexible === true ? [i] : []));
  while (total(widths) > width) {
    const first = flexible.toSorted((a, b) => widths[b]! - widths[a]!)[0];
    if (first === undefined || widths[first]! <= LEAST_WIDTH) break;
    widths[first]!--;
  }
  return widths;
}

/** With … for what is left out. */
export function cutTo(text: string, width: number): string {
  if (displayWidth(text) <= width) return text;
  let cut = "";
  for (const { segment } of graphemes.segment(text)) {
    if (displayWidth(cut + segment) > width - 1) break;
    cut += segment;
  }
  return `${cut}…`;
}

const graphemes = new Intl.Segmenter();

/** Characters that take two cells: East Asian wide and fullwidth forms, and emoji. UAX #11. */
const WIDE =
  /[\u1100-\u115F\u2E80-\u303E\u3041-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60\uFFE0-\uFFE6\u{20000}-\u{3FFFD}]|\p{Emoji_Presentation}/u;

/** Cells that the text takes on a terminal. */
export function displayWidth(text: string): number {
  if (/^[ -~]*$/.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}

/** Control characters in what others have named or written would act on the terminal. */
export function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu, (character) =>
    character === "\n" ? "\\n" : `\\u{${character.codePointAt(0)!.toString(16)}}`,
  );
}
