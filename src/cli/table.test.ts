import assert from "node:assert/strict";
import { test } from "node:test";
import { progressLine } from "./progress.ts";
import { styles } from "./style.ts";
import { type Column, displayWidth, table, visible } from "./table.ts";
import { showSize, showTime } from "./units.ts";

const plain = styles({ isTTY: false }, {});
const coloured = styles({ isTTY: true }, {});

interface Row {
  readonly name: string;
  readonly size: number;
  readonly id: string;
}
const columns: Column<Row>[] = [
  { title: "NAME", show: ({ name }) => name, flexible: true, style: "cyan" },
  { title: "SIZE", show: ({ size }) => String(size), align: "right" },
  { title: "ID", show: ({ id }) => id, droppable: true },
];
const rows: Row[] = [
  { name: "short", size: 5, id: "x1" },
  { name: "a much longer name", size: 12_345, id: "x2" },
];

test("columns line up, numbers on their right", () => {
  assert.deepEqual(table(rows, columns, Infinity, plain).split("\n"), [
    "NAME                 SIZE  ID",
    "short                   5  x1",
    "a much longer name  12345  x2",
  ]);
});

test("a narrow terminal first loses what can be spared, then the ends of long cells", () => {
  assert.deepEqual(table(rows, columns, 26, plain).split("\n"), [
    "NAME                 SIZE",
    "short                   5",
    "a much longer name  12345",
  ]);
  assert.deepEqual(table(rows, columns, 20, plain).split("\n"), [
    "NAME            SIZE",
    "short              5",
    "a much longe…  12345",
  ]);
});

test("wide characters count for two cells, combined ones for one", () => {
  assert.equal(displayWidth("日本"), 4);
  assert.equal(displayWidth("e\u0301"), 1);
  assert.equal(displayWidth("👩‍👩‍👧"), 2);
  const lines = table([{ name: "日本", size: 1, id: "" }], columns, Infinity, plain).split("\n");
  assert.deepEqual(lines, ["NAME  SIZE  ID", "日本     1"]);
});

test("colours are only where a terminal is and nobody refuses them", () => {
  assert.equal(coloured.red("x"), "\u001B[31mx\u001B[39m");
  assert.equal(styles({ isTTY: true }, { NO_COLOR: "1" }).red("x"), "x");
  assert.equal(styles({ isTTY: true }, { TERM: "dumb" }).red("x"), "x");
  assert.equal(plain.red("x"), "x");
  const line = table(rows.slice(0, 1), columns, Infinity, coloured).split("\n")[1];
  assert.equal(line, "\u001B[36mshort\u001B[39m     5  x1");
});

test("control characters of others do not reach the terminal", () => {
  assert.equal(visible("a\u001B[31mb\n\u009Bc\u202Ed"), "a\\u{1b}[31mb\\n\\u{9b}c\\u{202e}d");
  const odd = [{ name: "\u001B]0;x\u0007", size: 1, id: "" }];
  assert.match(table(odd, columns, Infinity, plain), /^\\u\{1b\}\]0;x\\u\{7\} +1$/m);
});

test("sizes and times are short", () => {
  const sizes = [0, 1_023, 1_024, 1_536, 104_857_600, 1_048_575, 1.5 * 1024 ** 4];
  assert.deepEqual(sizes.map(showSize), [
    "0 B",
    "1023 B",
    "1 KiB",
    "1.5 KiB",
    "100 MiB",
    "1 MiB",
    "1.5 TiB",
  ]);
  assert.equal(showTime("2026-11-15T08:30:02.5Z"), "2026-11-15 08:30:02");
});

test("progress tells how far, how fast and how long", () => {
  const mib = 1_024 * 1_024;
  assert.equal(
    progressLine({ title: "a", done: 40 * mib, total: 100 * mib, perSecond: 12 * mib }, 80),
    "a  ████████░░░░░░░░░░░░  40%  40 MiB of 100 MiB  12 MiB/s  5 s left",
  );
  assert.equal(
    progressLine({ title: "a", done: mib, total: null, perSecond: mib }, 80),
    "a  1 MiB  1 MiB/s",
  );
  assert.match(
    progressLine({ title: "a", done: 0, total: 0, perSecond: 0 }, 80),
    /100% {2}0 B of 0 B/,
  );
});

test("progress fits any width: the time goes first, then the speed, then the bar", () => {
  const mib = 1_024 * 1_024;
  const facts = { done: 40 * mib, total: 100 * mib, perSecond: 12 * mib };
  const line = (width: number) =>
    progressLine({ title: "photos/2026/写真写真写真/tulip.jpg", ...facts }, width);
  assert.equal(
    line(80),
    "…真/tulip.jpg  ████████░░░░░░░░░░░░  40%  40 MiB of 100 MiB  12 MiB/s  5 s left",
  );
  assert.equal(line(72), "…写真/tulip.jpg  ████████░░░░░░░░░░░░  40%  40 MiB of 100 MiB  12 MiB/s");
  assert.equal(line(62), "…写真/tulip.jpg  ████████░░░░░░░░░░░░  40%  40 MiB of 100 MiB");
  assert.equal(line(40), "…真/tulip.jpg   40%  40 MiB of 100 MiB");
  assert.equal(line(24), "…真写真/tulip.jpg   40%");
  for (let width = 2; width < 120; width++) {
    assert.ok(displayWidth(line(width)) < width, `${width}: ${line(width)}`);
  }
});
